"""How a row runs on batches: its key `batch`, as src/ops/batching/batch.h explains it.

A rule is one of

    arranged    a class of src/ops/batching/rules.h arranges the arguments of the operation itself
    function    a function there, of the batch, the row's arguments and the numbers that the key gives
    expression  of other operations, which find their own rules
    draw        a function there that draws random numbers: of the row's arguments alone, inside any vmap
    draw_into   random numbers in place: the operation itself, on the numbers of all samples at once
    loop        each sample on its own
    dynamic     an error: samples would have results of different shapes
    none        needs no rule: a composition, or an operation that reads no element
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from .formula import Translator
from .node import argument_types
from .schema import Argument
from .table import Row
from .vocabulary import Vocabulary

ARRANGED = {"elementwise": "Elementwise", "leading": "Leading", "ending_in": "EndingIn", "along": "Along",
            "aligned_along": "AlignedAlong", "samples": "Samples", "sized": "Sized"}  # fmt: skip
ALONG = {"along", "aligned_along"}  # what names the dimensions in which elements meet
# Those of so many numbers throw NoRule, as functions do.
UNCOVERED = {"ending_in": 0, "samples": 0, "leading": 1, "along": 2}


@dataclass(frozen=True)
class Rule:
    kind: str
    name: str = ""  # as the row says it
    numbers: tuple[int, ...] = ()
    named: tuple[str, ...] = ()  # arguments
    text: str = ""  # of an expression
    inplace: str = ""  # a function for the in-place variant, where that need not compute a copy first


def rule_of(row: Row) -> Rule:
    key = row.get("batch", "")
    if isinstance(key, dict):
        if set(key) != {"rule", "inplace"}:
            raise row.error(f"`batch: {key}`", "write `batch: {rule: ..., inplace: function}`, or the rule alone")
        return replace(_rule(row, str(key["rule"])), inplace=str(key["inplace"]))
    return _rule(row, str(key))


def _rule(row: Row, text: str) -> Rule:
    if "draws" in row.keys:
        return Rule("none")
    if row.schema.draws and not row.writes_only and row.form != "compose":
        return Rule("draw", text)
    if row.schema.draws and row.writes_only and not text:
        return Rule("draw_into")
    if not text:
        if not row.schema.tensors or row.form == "compose":
            return Rule("none")
        return Rule("arranged", "elementwise") if row.is_elementwise else Rule("loop")
    if "(" in text:
        return Rule("expression", text=text)
    name, *words = text.split()
    numbers = tuple(int(word) for word in words if word.isdecimal())
    named = tuple(word for word in words if not word.isdecimal())
    for word in named:
        if row.schema.find(word) is None:
            raise row.error(f"`batch: {text}` names '{word}', which is no argument", "name arguments of the row")
    if name in ("loop", "dynamic"):
        return Rule(name)
    if name == "geometry":
        return Rule("none")
    return Rule("arranged" if name in ARRANGED else "function", name, numbers, named)


def mixes(row: Row) -> str:
    """The arguments that name the dimensions along which elements meet, where no others do; empty if none say."""
    rule = rule_of(row)
    named = [name for name in rule.named if row.schema.argument(name).type.base != "bool"] if rule.name in ALONG else []
    return str(row.get("mixes", " ".join(named)))


@dataclass
class Batching:
    """What templates/batched.cpp.j2 needs of a row."""

    row: Row
    vocabulary: Vocabulary

    def __post_init__(self) -> None:
        self.rule = rule_of(self.row)

    @property
    def needed(self) -> bool:
        return self.rule.kind not in ("none", "draw")

    @property
    def class_(self) -> str:
        return ARRANGED[self.rule.name]

    @property
    def may_not_cover(self) -> bool:
        return self.rule.kind == "function" or len(self.rule.numbers) >= UNCOVERED.get(self.rule.name, math.inf)

    @property
    def numbers(self) -> str:
        return ", ".join(map(str, self.rule.numbers))

    @property
    def operands(self) -> str:
        return ", ".join(f"batching::as_operand({a.name})" for a in self.row.schema.tensors)

    def _place(self, argument: Argument) -> str:
        index = [a.name for a in self.row.schema.tensors].index(argument.name)
        return f"rule.tensor({index})" if argument.type.base == "Tensor" else f"rule.operand({index}, {argument.name})"

    @property
    def shifts(self) -> list[str]:
        """Statements that move the dimensions which arguments name."""
        named = [self.row.schema.argument(name) for name in self.rule.named]
        return [
            f"rule.keep({a.name});" if a.type.base == "bool" else f"const auto {a.name}_behind = rule.shift({a.name});"
            for a in named
        ]

    def arguments(self, reduction: str = "", inplace: bool = False) -> str:
        """The arguments of the operation one level down."""
        texts = []
        for i, a in enumerate(self.row.schema.arguments):
            if inplace and i == 0:
                texts.append("rule.tensor(0)")
            elif a.type.is_tensor_like:
                texts.append(self._place(a))
            elif a.name in self.rule.named and a.type.base != "bool":
                texts.append(f"{a.name}_behind")
            else:
                texts.append(reduction if reduction and a.name == self.row.reduces else a.name)
        return ", ".join(texts)

    @property
    def of_one_sample(self) -> str:
        texts = []
        for a in self.row.schema.arguments:
            if a.type.is_tensor_like:
                kept = "" if a.type.base == "Tensor" else ", kept"
                texts.append(f"batch.sample({a.name}, i{kept})")
            else:
                texts.append(a.name)
        return ", ".join(texts)

    @property
    def expression(self) -> str:
        return Translator(self.row.text, argument_types(self.row), self.vocabulary)(self.rule.text).text
