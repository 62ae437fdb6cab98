"""Operations as methods of C++'s Tensor, for users of the library: `x.sum(dims)` is `ops::sum(x, dims)`.

The class is complete before the types of arguments are, so a declaration has no defaults: there is one for each number
of arguments that may be left out. Lists of ints are `Dims`, so that braces make one; who has no dimensions to name
leaves them out. Queries are no methods here: what they ask, the class knows itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .table import Row

BRACED = {"IntSpan": "const Dims&", "const std::optional<Dims>&": "const Dims&"}


@dataclass(frozen=True)
class Method:
    returns: str
    name: str
    parameters: str
    arguments: str  # of the operation


def methods(row: Row) -> Iterator[Method]:
    """The methods of a row, of both variants."""
    schema = row.schema
    first = schema.arguments[0] if schema.arguments else None
    if "method" not in row.methods or row.form == "query" or first is None or first.name != "self":
        return
    variants = [] if row.writes_only else [(row.name, schema.return_type)]
    if row.has_inplace or row.writes_only:
        variants.append((row.name if row.writes_only else f"{row.name}_", "const Tensor&"))
    arguments = schema.arguments[1:]
    for name, returns in variants:
        for count in range(schema.defaults_from - 1, len(arguments) + 1):
            given = arguments[:count]
            parameters = ", ".join(f"{BRACED.get(a.type.parameter, a.type.parameter)} {a.name}" for a in given)
            yield Method(returns, name, parameters, ", ".join(["*this", *(a.name for a in given)]))
