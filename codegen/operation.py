"""What templates/operation.cpp.j2 needs of a row: its C++ signature and the texts of its parts."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from .batching import Batching
from .formula import Formula, Translator, parse
from .node import Derivatives, argument_types, derivatives, result_types
from .saved import Field
from .schema import Argument, Schema, Type
from .table import AUTOCAST, Row
from .vocabulary import Kind, Vocabulary


@dataclass(frozen=True)
class Info:
    variable: str
    name: str  # as Python calls it
    overload: str


@dataclass
class Operation:
    row: Row
    vocabulary: Vocabulary

    @property
    def schema(self) -> Schema:
        return self.row.schema

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def stem(self) -> str:
        """What the names of its private functions begin with."""
        return self.name.rstrip("_")

    @cached_property
    def derivatives(self) -> Derivatives:
        return derivatives(self.row, self.vocabulary)

    # --- The signature
    @property
    def parameters(self) -> Callable[..., str]:
        return self.schema.parameters

    @property
    def arguments(self) -> str:
        return ", ".join(a.name for a in self.schema.arguments)

    @property
    def inexact_arguments(self) -> str:
        """The arguments of a tangent; whole numbers among those of an elementwise row in the dtype of the result."""
        named = self.inexact_names
        names = [a.name for a in self.schema.arguments]
        return ", ".join(f"inexact({n}, results.dtype())" if n in named else n for n in names)

    @cached_property
    def inexact_names(self) -> list[str]:
        """The arguments of an elementwise row that may be whole numbers beside another one that has a gradient, where a
        partial derivative is more than the name of one."""
        partials = self.row.partials.values()
        computed = any(not isinstance(parse(p, self.row.text), (ast.Name, ast.Constant)) for p in partials)
        tensors = self.schema.tensors
        return [a.name for a in tensors] if self.row.form == "elementwise" and computed and len(tensors) > 1 else []

    @property
    def tensors(self) -> str:
        return ", ".join(a.name for a in self.schema.tensors)

    @property
    def differentiable(self) -> str:
        return ", ".join(a.name for a in self.row.differentiable)

    @property
    def connected(self) -> str:
        """What the node's edges lead to."""
        names = [a.name for a in self.row.differentiable]
        if self.overwrites:
            names[0] = f"overwritten({names[0]})"
        return ", ".join(names)

    @property
    def returns(self) -> str:
        return self.schema.return_type

    @property
    def results(self) -> list[str]:
        return [r.name for r in self.schema.results]

    @property
    def recorded_results(self) -> list[str]:
        return self.results if self.row.returns_list else [r.name for r in self.row.differentiable_results]

    # --- How visitors see it (src/ops/watch.h)
    @property
    def infos(self) -> list[Info]:
        """One for each of its variants."""
        schema, row = self.schema, self.row
        found = []
        if not row.writes_only:
            found.append(Info(f"{self.stem}_info", schema.name, schema.overload))
        if row.has_inplace or row.writes_only:
            found.append(Info(f"{self.stem}_inplace_info", self.inplace_name, schema.overload))
        if row.has_out:
            found.append(Info(f"{self.stem}_out_info", schema.name, f"{schema.overload}_out".lstrip("_")))
        return found

    @property
    def inplace_name(self) -> str:
        return self.schema.name if self.row.writes_only else f"{self.schema.name}_"

    def watched(self, variant: str = "") -> str:
        """The arguments of WatchedCall and its like."""
        info = f"{self.stem}_{variant}_info" if variant else f"{self.stem}_info"
        arguments = [self.arguments, "out"] if variant == "out" else [self.arguments]
        return ", ".join([info, *(a for a in arguments if a)])

    @property
    def forward_or_mode(self) -> str:
        info, *arguments = self.watched().split(", ", 1)
        return ", ".join([f"computed({info}, [&] {{ return {self.forward}; }}", *arguments]) + ")"

    # --- The computation
    @property
    def operands(self) -> str:
        return ", ".join([f"kernels::K_{self.name}", *(a.name for a in self.row.operands)])

    @property
    def operand_list(self) -> str:
        return f"kernels::K_{self.name}, {{{', '.join(a.name for a in self.row.operands)}}}"

    @property
    def forward(self) -> str:
        row = self.row
        if row.reduces:
            return f"run_reduced({self.operand_list}, {row.reduces})"
        if row.is_elementwise:
            return f"run({self.operands})"
        if row.form == "factory":
            made = self._translate(str(row.get("factory")), "kernels::")
            return f"batching::drawn({made}, [&](const Tensor& result) {{ {self._draws}; }})" if self._draws else made
        if row.form == "query":
            return self._translate(str(row.get("query")), "kernels::")
        if "forward" in row.keys:
            return self._translate(str(row.get("forward")).removeprefix("kernels::"), "kernels::")
        return f"kernels::{self.name}({self.arguments})"

    @cached_property
    def _draws(self) -> str:
        """The statement that fills a new tensor with random numbers."""
        names = {**argument_types(self.row), "result": Kind.TENSOR}
        source = str(self.row.get("draws", ""))
        return Translator(self.row.text, names, self.vocabulary, "kernels::")(source).text if source else ""

    @property
    def write(self) -> str:
        """The computation into `self`."""
        if self.row.writes_only:
            return self.forward
        if isinstance(self.row.get("inplace"), str):
            return self._translate(str(self.row.get("inplace")).removeprefix("kernels::"), "kernels::")
        if not self.row.is_elementwise:
            return f"kernels::copy_into(self, {self.forward})"
        into = f"run_into({{}}, {self.operands})"
        if not self.row.get("divides"):
            return into.format("self")
        apart = f"const Tensor apart = empty(self.sizes(), self.dtype()); {into.format('apart')};"
        return (
            f"if (is_integral(self.dtype())) {{ {apart} kernels::copy_into(self, apart); }} else {into.format('self')}"
        )

    @property
    def write_out(self) -> str:
        if self.row.is_elementwise and not self.row.get("divides"):
            return f"run_out(out, {self.operand_list})"
        computed = self.composition if self.row.form == "compose" else self.forward
        if self.batching.rule.kind == "draw":  # which asks the batches that are open
            computed = f"ops::{self.name}({self.arguments})"
        return f'write_out(out, {computed}, "{self.name}")'

    @property
    def out_parameter(self) -> str:
        return f"{'TensorSpan' if self.row.returns_several else 'const Tensor&'} out"

    @property
    def out_returns(self) -> str:
        return self.returns if self.row.returns_several else "const Tensor&"

    @property
    def composition(self) -> str:
        return self._translate(self.row.get("compose"))

    @property
    def inplace_composition(self) -> str:
        """Where a composition has another one of in-place operations."""
        source = self.row.get("inplace")
        return self._translate(source) if self.row.form == "compose" and isinstance(source, str) else ""

    def _translate(self, source: str, namespace: str = "") -> str:
        return Translator(self.row.text, argument_types(self.row), self.vocabulary, namespace)(source).text

    @cached_property
    def node_names(self) -> list[tuple[str, str]]:
        """(name, condition): what the node is called for some arguments."""
        translate = Translator(self.row.text, argument_types(self.row), self.vocabulary)
        return [(name, translate(str(condition)).text) for name, condition in self.row.get("node_if", {}).items()]

    @property
    def renames_node(self) -> bool:
        """Whether the node shows another name than that of its class for some calls."""
        return bool(self.node_names or self.row.inplace_node)

    def condition(self, key: str) -> str:
        """The formula under `length` (of the arguments) or `recorded_if` (of the results too), in C++."""
        names = argument_types(self.row) | (result_types(self.row) if key == "recorded_if" else {})
        return Translator(self.row.text, names, self.vocabulary)(str(self.row.get(key))).text

    @cached_property
    def requires(self) -> str:
        """What is checked before anything is computed or written: a call that raises."""
        check = self.row.get("requires")
        return Translator(self.row.text, argument_types(self.row), self.vocabulary)(str(check)).text if check else ""

    # --- Autocast
    @property
    def autocast(self) -> str:
        """The policy by which arguments are cast, as C++ names it; "" if none is."""
        return AUTOCAST.get(str(self.row.get("autocast")), "")

    @property
    def cast_arguments(self) -> str:
        tensors = self.schema.tensors
        return ", ".join(f"cast({a.name})" if a in tensors else a.name for a in self.schema.arguments)

    @cached_property
    def batching(self) -> Batching:
        return Batching(self.row, self.vocabulary)

    # --- Views
    @property
    def view_extras(self) -> str:
        """Further arguments of as_views: whether the view must be repeated by its operation, and a maker of that."""
        rest = self.schema.arguments[1:]
        captures = [f"{a.name} = {owning(a)}" for a in rest]
        call = f"ops::{self.name}({', '.join(['base', *(a.name for a in rest)])})"
        always = "true" if self.row.get("view") == "replay" else "false"
        if self.row.returns_list:
            captures, call = ["i", *captures], f"{call}[i]"
        replay = f"[{', '.join(captures)}](const Tensor& base) {{ return {call}; }}"
        of_result = "(size_t i)" if self.row.returns_list else "()"
        return f", {always}, [&]{of_result} {{ return ViewFunction({replay}); }}"

    @property
    def other_tensors(self) -> list[Argument]:
        """What an in-place variant reads besides `self`."""
        return [a for a in self.schema.tensors if a.name != self.schema.arguments[0].name]

    @property
    def arguments_apart(self) -> str:
        """The arguments of an in-place variant, with copies of what shares memory with `self`."""
        first, *rest = self.schema.arguments
        texts = [f"apart_from(self, {a.name})" if a in self.other_tensors else a.name for a in rest]
        return ", ".join([first.name, *texts])

    # --- Gradients that are a small region of the argument
    @cached_property
    def scatter(self) -> tuple[Formula, list[Field]] | None:
        """The `scatters` kernel, and the fields of the node that it mentions."""
        if "scatters" not in self.row.keys:
            return None
        names = {**argument_types(self.row), "buffer": Kind.TENSOR, "grad": Kind.TENSOR}
        translate = Translator(self.row.text, names, self.vocabulary, "kernels::", saved=argument_types(self.row))
        formula = translate(str(self.row.get("scatters")).removeprefix("kernels::"))
        fields = [f for f in self.derivatives.fields if f.name in formula.names]
        missing = formula.names - {"buffer", "grad", *(f.name for f in fields)}
        if missing or formula.attributes:
            raise self.row.error(
                f"`scatters` mentions {', '.join(missing) or 'attributes'}, which the node does not keep",
                "mention only arguments that the gradient's formula does",
            )
        return formula, fields

    # --- Recording
    @property
    def has_recorded_path(self) -> bool:
        """Whether a call of which nothing but a record is asked takes a way of its own, which costs no more."""
        row = self.row
        every_tensor = row.differentiable == list(self.schema.tensors)  # so that one that requires grad is one of them
        return row.is_elementwise and not row.reduces and every_tensor and self.recorded_results == self.results

    @property
    def uses_node_afterwards(self) -> bool:
        return bool(self.saves(of_results=True) or "recorded_if" in self.row.keys)

    @property
    def overwrites(self) -> bool:
        """Whether nothing of what `self` was flows into what an in-place variant makes of it."""
        return self.row.writes_only and self.row.get("self") == "zeros_like(grad)"

    # --- Fields of the node
    @property
    def self_in_place(self) -> str:
        """What becomes of the `self` that an in-place variant overwrites and its gradient needs: "copied" or "left"."""
        if not self.row.has_inplace or not any(f.name == "self" and f.is_tensor for f in self.derivatives.fields):
            return ""
        rescue = self.derivatives.rescue
        return "left" if rescue and any(f.name == "self" for f in rescue.lost) else "copied"

    def saves(self, *, of_results: bool, in_place: bool = False) -> list[str]:
        """Statements that fill the fields of the node before or after the computation, or after that in place."""
        lines = []
        for field in self.derivatives.fields:
            if field.is_result != of_results:
                continue
            condition = self._wanted_by(field.needed_by) if field.is_tensor else ""
            value = field.name
            if field.name == "self" and field.is_tensor and not of_results:
                if self.self_in_place == "left":
                    condition = f"if (!in_place) {condition}"
                elif self.self_in_place == "copied":
                    whole = "self.tensor()" if self.schema.argument("self").type.base == "Operand" else "self"
                    value = f"in_place ? {self.vocabulary.operation('clone')}({whole}) : self"
            stored = field.save.format(value=value, of_view=", is_view(self)" if in_place else "")
            lines.append(f"{condition}node->{field.member}{stored};")
        return lines

    def _wanted_by(self, users: tuple[str, ...]) -> str:
        differentiable = self.row.differentiable
        if {a.name for a in differentiable} <= set(users) or any(a.type.is_list for a in differentiable):
            return ""
        wanted = [f"node->should_compute_output({i})" for i, a in enumerate(differentiable) if a.name in users]
        return f"if ({' || '.join(wanted)}) "

    @property
    def lists(self) -> list[Argument]:
        return [a for a in self.row.differentiable if a.type.is_list]


def owning(argument: Argument) -> str:
    type_: Type = argument.type
    return f"{type_.value}({argument.name})" if type_.is_list or type_.base == "str" else argument.name
