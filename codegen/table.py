"""The table: ops/*.yaml -> checked rows.

A file holds a family of operations: a mapping of its `title` and a `summary`, the headers of src/kernels that its rows
call (`kernels`), and the `rows`.

Every row takes exactly one form, and says so by its keys; anything missing, superfluous or misspelt is an error that
names the row and the remedy.

    elementwise         kernel + d_<argument> for every tensor argument (`none`: no gradient)
    explicit            <argument>: VJP for every tensor argument, and jvp or linear
    compose             an expression of other operations
    query               a call of a kernel that answers a question: nothing is computed that anybody watches
    factory             a call of a kernel that makes a new tensor, as the argument `TensorOptions options` says
    non_differentiable  results never require grad
    not_implemented     the derivative is missing, for the reason given
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from .schema import Argument, Result, RowError, Schema, parse_schema

FORMS = ("compose", "query", "factory", "non_differentiable", "not_implemented")
KEYS = {*FORMS, "op", "kernel", "forward", "jvp", "linear", "fused", "view", "output_differentiability",
        "result", "complex", "dtypes", "domain", "samples", "methods", "namespace", "inplace", "out", "aliases",
        "python", "node", "node_if", "recorded_if", "requires", "singular", "reduces", "length", "scatters",
        "contracts", "mixes", "multilinear", "solves", "matrix_function", "batch", "in_derivatives", "sample",
        "autocast", "unlike_pytorch", "exempt", "ulps", "scalar", "draws", "inplace_argument", "overwritten", "divides",
        "copy", "doc"}  # fmt: skip
# What the copy of a view (`copy: true`) has in common with it.
COPY = "of the row above"
COPIED = ("linear", "jvp", "non_differentiable", "complex", "samples", "batch", "autocast", "exempt")
UNLIKE_PYTORCH = {"value", "gradient", "node", "overwriting", "refused"}  # what may differ, each with its reason
CATEGORIES = ("bool", "integral", "floating", "complex")
AUTOCAST = {"lower": "Lower", "float32": "Float32", "promote": "Promote"}
RULES = {"same": "Same", "floating": "Floating", "bool": "Bool", "real": "Real", "complex": "Complex"}


@dataclass
class Row:
    schema: Schema
    keys: Mapping[str, Any]
    family: str
    form: str
    node: str = ""
    inplace_node: str = ""  # what the node shows where a view changes the shape of its argument
    partials: dict[str, str] = field(default_factory=dict)  # argument -> its local partial derivative
    vjps: dict[tuple[str, ...], str] = field(default_factory=dict)  # arguments -> formula

    @property
    def name(self) -> str:
        return self.schema.cpp_name

    @property
    def text(self) -> str:
        return self.schema.text

    def get(self, key: str, default: Any = None) -> Any:
        return self.keys.get(key, default)

    def error(self, problem: str, remedy: str) -> RowError:
        return RowError(self.text, problem, remedy)

    # --- What Python sees
    @property
    def namespace(self) -> str:
        return str(self.get("namespace", ""))

    @property
    def python_name(self) -> str:
        prefix = self.namespace.rpartition(".")[2] + "_"
        return self.get("python") or self.schema.name.removeprefix(prefix)

    @property
    def methods(self) -> list[str]:
        both = not self.namespace and self.schema.find("self") is not None
        default = ["method"] if self.writes_only else ["function", "method"] if both else ["function"]
        return list(self.get("methods", default))

    @property
    def has_keyword_names(self) -> bool:
        """Whether arguments are named as Python's keywords are, so that they are given by their places."""
        return any(a.python_name != a.name for a in self.schema.arguments)

    # --- Shape of the operation
    @property
    def node_class(self) -> str:
        """The node's class in C++, unlike the name that it shows (`node`) its own."""
        return _camel(self.name) + ("Backward_" if self.writes_only else "Backward")

    @property
    def is_elementwise(self) -> bool:
        return "kernel" in self.keys

    @property
    def is_view(self) -> bool:
        return bool(self.get("view"))

    @property
    def writes_only(self) -> bool:
        """`fill_` and its like: there is no operation that returns a new tensor."""
        return self.schema.name.endswith("_")

    @property
    def is_recorded(self) -> bool:
        return self.form in ("elementwise", "explicit")

    @property
    def differentiable(self) -> list[Argument]:
        """The arguments with a gradient, in the order of the node's edges."""
        named = {a for group in self.vjps for a in group} | set(self.partials)
        return [a for a in self.schema.tensors if a.name in named]

    @property
    def differentiable_results(self) -> list[Result]:
        flags = self.get("output_differentiability", [True] * len(self.schema.results))
        return [r for r, on in zip(self.schema.results, flags, strict=True) if on and r.type.base == "Tensor"]

    @property
    def returns_several(self) -> bool:
        return self.returns_list or len(self.schema.results) > 1

    @property
    def returns_tensors(self) -> bool:
        return all(r.type.base == "Tensor" for r in self.schema.results) and (
            len(self.schema.results) == 1 or not any(r.type.is_list for r in self.schema.results)
        )

    @property
    def returns_list(self) -> bool:
        return self.schema.results[0].type.is_list

    @property
    def has_inplace(self) -> bool:
        first = self.schema.arguments[0] if self.schema.arguments else None
        writable = bool(first and first.name == "self" and first.type.is_tensor_like and not first.type.is_list)
        default = self.is_elementwise and self.rule in ("Same", "Floating") and writable and not self.reduces
        return not self.writes_only and bool(self.get("inplace", default))

    @property
    def has_out(self) -> bool:
        tensors = all(r.type.text == "Tensor" for r in self.schema.results)
        new = bool(self.schema.tensors) or self.schema.has_options
        public = self.namespace != "private" and "function" in self.methods and new
        default = tensors and public and self.form != "compose" and not self.is_view and not self.reduces
        return not self.writes_only and bool(self.get("out", default))

    # --- Elementwise rows
    @property
    def rule(self) -> str:
        return RULES.get(self.get("result", "same"), "")

    @property
    def reduces(self) -> str:
        """The argument that says whether the results are summed, averaged or left as they are."""
        return str(self.get("reduces", ""))

    @property
    def operands(self) -> list[Argument]:
        """The arguments that enter the kernel."""
        return [a for a in self.schema.arguments if a.name != self.reduces]

    @property
    def categories(self) -> list[str]:
        default = ("floating", "complex") if self.rule in ("Floating", "Complex") else CATEGORIES
        return [c for c in self.get("dtypes", default) if c != "complex" or self.get("complex", True)]


@dataclass(frozen=True)
class Family:
    name: str
    title: str  # of its page
    rows: list[Row]
    kernels: list[str] = field(default_factory=list)  # headers of src/kernels: linalg/lu
    summary: str = ""


def load(directory: Path) -> list[Row]:
    return [row for family in load_families(directory) for row in family.rows]


def load_families(directory: Path) -> list[Family]:
    families = [read_family(path.read_text(), path.stem) for path in sorted(directory.glob("*.yaml"))]
    name_nodes(row for family in families for row in family.rows)
    return families


def read_family(text: str, name: str) -> Family:
    keys = yaml.safe_load(text)
    if not isinstance(keys, dict) or not {"title", "rows"} <= set(keys) <= {"title", "summary", "kernels", "rows"}:
        raise RowError(f"{name}.yaml", "not a family", "write title, summary (if any), kernels and rows")
    return Family(name, **{**keys, "rows": make_rows(keys["rows"], name)})


def make_rows(listed: Iterable[Mapping[str, Any]], family: str) -> list[Row]:
    return [make_row(keys, family) for row in listed for keys in (row, *copies(row))]


def copies(view: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """The row of what copies the elements that a view shows, if `copy: true`, or keys of that row, ask for it."""
    if view.get("copy", COPY) == COPY:
        return
    schema = parse_schema(view["op"])
    arguments = ", ".join(a.name for a in schema.arguments)
    forward = view.get("forward", f"{schema.cpp_name}({arguments})")
    yield {
        **{key: value for key, value in view.items() if key in COPIED or key not in KEYS},
        "op": view["op"].replace(schema.name, f"{schema.name}_copy", 1),
        "forward": f"fresh({forward})",
        "methods": ["function"],
        **({} if schema.results[0].type.is_list else {"batch": f"clone({schema.cpp_name}({arguments}))"}),
        "copy": COPY,
        "doc": f"As `{schema.name}`, but a copy that shares no memory with `self`.",
        **({} if view["copy"] is True else view["copy"]),
    }


def make_row(keys: Mapping[str, Any], family: str) -> Row:
    if "op" not in keys:
        raise RowError(f"{family}.yaml", f"a row without `op` ({', '.join(keys)})", "begin it with `op: schema`")
    schema = parse_schema(keys["op"])
    row = Row(schema, keys, family, form="")
    for key, value in keys.items():
        if key in KEYS:
            continue
        names = tuple(n.strip() for n in key.split(","))
        partial = key.startswith("d_") and key not in {a.name for a in schema.arguments}
        for name in (key[2:],) if partial else names:
            argument = schema.find(name)
            if argument is None or not argument.type.is_tensor_like:
                raise row.error(
                    f"unknown key '{key}'", f"use a tensor argument, d_<argument> or {', '.join(sorted(KEYS))}"
                )
        if str(value) == "none":
            continue
        if partial:
            row.partials[key[2:]] = str(value)
        else:
            row.vjps[names] = str(value)
    row.form = find_form(row)
    check(row)
    return row


def find_form(row: Row) -> str:
    keys = row.keys
    forms = [f for f in FORMS if f in keys]
    if row.partials or any(k.startswith("d_") and k not in KEYS for k in keys):
        forms.append("elementwise")
    if row.vjps:
        forms.append("explicit")
    if not forms and "kernel" in keys and row.rule == "Bool":
        return "non_differentiable"
    if len(forms) != 1:
        raise row.error(
            f"{' and '.join(forms) or 'nothing'} says how it is differentiated",
            "give exactly one of: kernel with d_<argument>; <argument>: formulas with jvp or linear; compose; "
            "non_differentiable: true; not_implemented: reason",
        )
    return forms[0]


def check(row: Row) -> None:
    keys, schema = row.keys, row.schema
    if keys.get("result", "same") not in RULES:
        raise row.error(f"unknown result rule '{keys['result']}'", f"use {', '.join(RULES)}")
    if unknown := set(keys.get("unlike_pytorch", {})) - UNLIKE_PYTORCH:
        raise row.error(f"unlike_pytorch: unknown '{unknown.pop()}'", f"use {', '.join(sorted(UNLIKE_PYTORCH))}")
    loops = {"floating", "kernel", "integral", *(f"d_{a}" for a in row.partials)} if row.is_elementwise else set()
    if unknown := set(keys.get("scalar", {})) - loops:
        raise row.error(
            f"scalar: no loop '{unknown.pop()}'", "use floating, kernel, integral or d_<argument> of an elementwise row"
        )
    if row.form == "elementwise" and not row.is_elementwise:
        raise row.error(
            "d_<argument> without `kernel`", "add `kernel:`, or write explicit <argument>: and jvp formulas"
        )
    if row.is_elementwise and "forward" in keys:
        raise row.error("both `kernel` and `forward`", "keep one")
    if row.is_recorded:
        prefix = "d_" if row.form == "elementwise" else ""
        given = {n.strip() for k in keys for n in k.split(",")}
        for argument in schema.tensors:
            key = prefix + argument.name
            if key not in given:
                problem = f"no derivative with respect to '{argument.name}'"
                raise row.error(problem, f"add `{key}: formula` or `{key}: none`")
    if row.form == "explicit" and ("jvp" in keys) == ("linear" in keys):
        raise row.error(
            "forward mode needs `jvp` or `linear`, and only one", "add `jvp: formula` or `linear: [arguments]`"
        )
    for name in keys.get("linear", []):
        if name not in {a.name for a in row.differentiable}:
            raise row.error(
                f"linear in '{name}', which has no formula", f"add `{name}: formula` or leave it out of linear"
            )
    for name in [*keys.get("multilinear", []), *keys.get("solves", [])[1:]]:
        if schema.find(name) is None:
            raise row.error(f"multilinear or solving in '{name}', which is no argument", "name arguments of the row")
    for name in str(keys.get("mixes", "")).removeprefix("trailing ").split():
        if schema.find(name) is None:
            raise row.error(
                f"`mixes: {keys['mixes']}` names '{name}', which is no argument", "name arguments of the row"
            )
    for name in keys.get("singular", {}):
        if name not in row.partials:
            raise row.error(f"`singular` of '{name}', which has no d_{name}", f"use it beside `d_{name}: formula`")
    if "overwritten" in keys and (
        len(row.differentiable) != 1 or row.differentiable[0].name not in keys["overwritten"]
    ):
        raise row.error("`overwritten` of another argument than the only one with a gradient", "leave it out")
    if row.reduces:
        argument = schema.find(row.reduces)
        if argument is None or argument.type.text != "str" or row.form != "elementwise":
            problem = f"`reduces: {row.reduces}` names no `str` argument of a row with kernel and d_<argument>"
            raise row.error(problem, "name the argument that is 'mean', 'sum' or 'none'")
        if row.categories != ["floating"] or row.rule != "Same":
            raise row.error("`reduces` of results that are not floating", "write `dtypes: [floating]`")
    if schema.has_options != (row.form == "factory"):
        raise row.error("`factory` and an argument `TensorOptions options` go together", "give both or neither")
    if "draws" in keys and not (schema.draws and row.form == "factory"):
        raise row.error("`draws` of what is no factory with a Generator", "use it beside `factory: formula`")
    if "sample" in keys and (row.form != "explicit" or len(row.differentiable) != 1):
        raise row.error("`sample` of a row without exactly one argument with a gradient", "leave it out")
    if "scatters" in keys and (row.form != "explicit" or len(row.differentiable) != 1 or len(schema.results) != 1):
        raise row.error("`scatters` of a row without exactly one gradient", "leave it out")
    if "node_if" in keys and ("node" not in keys or not row.is_recorded):
        raise row.error("`node_if` without `node`", "name the node where no condition holds: `node: Name`")
    if keys.get("autocast") not in {None, *AUTOCAST}:
        raise row.error(f"autocast to '{keys['autocast']}'", f"use {', '.join(AUTOCAST)}")
    for category in row.categories:
        if category not in CATEGORIES:
            raise row.error(f"unknown dtype category '{category}'", f"use {', '.join(CATEGORIES)}")
    if len(keys.get("output_differentiability", schema.results)) != len(schema.results):
        raise row.error("output_differentiability has another length than the results", "give one flag per result")
    if not keys.get("doc"):
        raise row.error("no `doc`", "describe the operation in a sentence")
    clash = {a.name for a in schema.arguments} & {r.name for r in schema.results}
    if clash and len(schema.results) > 1:
        raise row.error(f"'{clash.pop()}' is an argument and a result", "rename the result")


def name_nodes(rows: Iterable[Row]) -> list[Row]:
    """MulBackward0: the number counts the recorded operations of one name, in the order of the table; views that change
    the shape of their argument in place are counted after those that return another tensor."""
    rows = list(rows)
    seen: Counter[str] = Counter()
    names: Counter[str] = Counter(r.name for r in rows)
    above = ""
    for row in rows:
        if names[row.name] > 1:
            raise row.error("two rows have this name", "give one of them another overload name: name.overload(...)")
        if row.is_recorded:
            stem = _camel(row.schema.name)
            if row.get("copy") == COPY:
                row.node = f"{above}_copy"
                continue
            above = row.node = row.get("node") or f"{stem}Backward{seen[row.schema.name.strip('_')]}"
            seen[row.schema.name.strip("_")] += 1
    inplace: dict[str, str] = {}
    for row in rows:
        if row.is_view and row.is_recorded and row.has_inplace:
            if row.node not in inplace:
                inplace[row.node] = f"{_camel(row.schema.name)}Backward{seen[row.schema.name]}"
                seen[row.schema.name] += 1
            row.inplace_node = inplace[row.node]
    return rows


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.strip("_").split("_"))
