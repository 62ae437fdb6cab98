"""The derivatives of a recorded row as C++ text: gradients for Node::apply, tangents for forward mode."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from .elementwise import CONSTANT_PARTIALS, is_complex, vjp_inputs
from .formula import DerivativeTranslator, Formula, Translator, parse
from .saved import Field, saved_fields
from .schema import Argument, Type
from .table import Row
from .vocabulary import Kind, Vocabulary

Formulas = dict[tuple[str, ...], Formula]  # by the arguments whose gradients they compute


@dataclass(frozen=True)
class Gradient:
    """One assignment in apply. `edges` are the C++ indices of the outputs that it fills."""

    arguments: tuple[Argument, ...]
    edges: tuple[str, ...]
    recorded: str
    fused: str | None  # what is computed instead where nothing is being differentiated
    added: str | None  # likewise, where it may be added to a sum
    mentions: tuple[str, ...]  # what decides that: the tensors in the formula


@dataclass(frozen=True)
class Rescue:
    """How the one gradient is computed where something that its formula needs was written after it was saved."""

    lost: list[Field]  # what the formula needs and this one does not
    fields: list[Field]  # what this one computes with
    text: str


@dataclass(frozen=True)
class Term:
    """A summand of a tangent; `tangent` is the one that it mentions, empty if it is to be added in any case."""

    tangent: str
    text: str


@dataclass(frozen=True)
class Derivatives:
    fields: list[Field]
    unpacked: list[Field]  # those that the gradients are computed with, unless something was overwritten
    gradients: list[Gradient]
    tangents: dict[str, list[Term]]  # of each result
    materialized: set[str]  # arguments whose missing tangents are made zeros
    linear_call: str  # where all results come from one call on tangents
    rescue: Rescue | None


def derivatives(row: Row, vocabulary: Vocabulary) -> Derivatives:
    for argument in row.schema.arguments:
        if argument.name in ("grad", "grads", "result", "level", "node", "tangents", "grad_inputs", "grad_mask"):
            raise row.error(f"argument name '{argument.name}' is taken by generated code", "rename it")
    if row.form == "elementwise":
        formulas, gradients = _elementwise_gradients(row, vocabulary)
    else:
        formulas, gradients = _explicit_gradients(row, vocabulary)
    tangents, materialized, linear_call = _tangents(row, vocabulary)
    unpacked, rescue = saved_fields(row, formulas), None
    fields = unpacked
    if "overwritten" in row.keys:
        fields, rescue = _rescue(row, formulas, unpacked, vocabulary)
    return Derivatives(fields, unpacked, gradients, tangents, materialized, linear_call, rescue)


def argument_types(row: Row) -> dict[str, Type | Kind]:
    return {a.name: a.type for a in row.schema.arguments}


def result_types(row: Row) -> dict[str, Type | Kind]:
    return {r.name: r.type for r in row.schema.results}


def edge_index(row: Row, argument: Argument) -> str:
    """Where the argument's gradient goes; lists take as many edges as they have elements."""
    before = row.differentiable[: row.differentiable.index(argument)]
    lists = [f"{a.name}_count_" for a in before if a.type.is_list]
    return " + ".join([*lists, str(len(before) - len(lists))] if not lists or len(before) > len(lists) else lists)


def _rescue(row: Row, formulas: Formulas, unpacked: list[Field],
            vocabulary: Vocabulary) -> tuple[list[Field], Rescue]:  # fmt: skip
    """All fields of the node, and what it does instead where one of them was overwritten."""
    ((group, formula),) = formulas.items()
    source = str(row.get("overwritten")[group[0]])
    if row.form == "elementwise":
        instead = chain_rule(row, source, "grad", vocabulary, "conjugate" if is_complex(row) else "")
    else:
        names = argument_types(row) | result_types(row) | gradient_names(row)
        instead = DerivativeTranslator(row.text, names, vocabulary, gradient_names(row),
                                       saved=argument_types(row) | result_types(row))(source)  # fmt: skip
        instead.names -= set(gradient_names(row))
    needed = {f.name for f in saved_fields(row, {group: instead})}
    lost = [f for f in unpacked if f.is_tensor and f.name not in needed]
    if not lost:
        raise row.error(f"`overwritten: {source}` needs all that the gradient needs", "leave it out")
    both = Formula("", Kind.OTHER, formula.names | instead.names, formula.attributes | instead.attributes)
    fields = saved_fields(row, {group: both})
    return fields, Rescue(lost, [f for f in fields if f.name in needed], instead.text)


def _elementwise_gradients(row: Row, vocabulary: Vocabulary) -> tuple[Formulas, list[Gradient]]:
    on_complex = is_complex(row)
    formulas: Formulas = {}
    gradients = []
    uses = [f"use_{edge_index(row, argument)}" for argument in row.differentiable]  # see the template
    for i, argument in enumerate(row.differentiable):
        source = row.partials[argument.name]
        formula = chain_rule(row, source, "grad", vocabulary, "conjugate" if on_complex else "")
        inputs = vjp_inputs(row, formula)
        tensors = [n for n in inputs if n == "result" or row.schema.argument(n).type.is_tensor_like]
        # The cotangent's dtype is the one to compute in, but that of a real result of a complex operand is too small.
        dtype = "grad.dtype()" if row.rule != "Real" else f"widest(grad.dtype(){''.join(', ' + n for n in tensors)})"
        later = " || ".join(uses[i + 1 :])  # gradients that need the cotangent after this one
        reusable = f"{later} ? nullptr : &grad" if later else "&grad"
        call = ", ".join([dtype, f"kernels::K_{row.name}_d_{argument.name}", reusable, "grad", *inputs])
        edge = edge_index(row, argument)
        fused, added = f"run_as(*this, {call})", f"run_onto(*this, {edge}, {call})"
        if source in CONSTANT_PARTIALS:
            fused = added = None
        recorded = beyond(row, argument, formula, "gradient", ("grad",), vocabulary)
        if row.reduces:  # what `unreduced` needs
            recorded.names |= {row.reduces}
            recorded.attributes |= {(a.name, "sizes") for a in row.schema.tensors}
        formulas[argument.name,] = recorded
        gradients.append(Gradient((argument,), (edge,), recorded.text, fused, added, ("grad", *tensors)))
    return formulas, gradients


def chain_rule(row: Row, partial: str, cotangent: str, vocabulary: Vocabulary, conjugate: str = "") -> Formula:
    if partial == "0":
        return Formula(f"{vocabulary.helper('zeros_like')}({cotangent})", Kind.TENSOR)
    return Translator(row.text, argument_types(row) | result_types(row), vocabulary).chain_rule(
        partial, cotangent, conjugate
    )


def beyond(row: Row, argument: Argument, product: Formula, mode: str, own: tuple[str, ...],
           vocabulary: Vocabulary) -> Formula:  # fmt: skip
    """The chain-rule `product`, or what the row's `singular: {argument: f(...)}` makes of it: f_gradient, f_tangent."""
    source = row.get("singular", {}).get(argument.name)
    if source is None:
        return product
    name, _, given = str(source).rstrip(")").partition("(")
    values = ["product", *own, *(g for g in given.split(", ") if g not in own)]
    names = {**argument_types(row), **result_types(row), own[0]: Kind.TENSOR, "product": Kind.TENSOR}
    formula = Translator(row.text, names, vocabulary)(f"{name}_{mode}({', '.join(values)})")
    formula.text = re.sub(r"\bproduct\b", lambda _: product.text, formula.text)
    formula.names = (formula.names - {"product", own[0]}) | product.names
    return formula


def gradient_names(row: Row) -> dict[str, Kind]:
    """How formulas speak of the incoming gradients."""
    results = row.differentiable_results
    if row.returns_list:
        return {"grads": Kind.OTHER}
    if len(results) == 1:
        return {"grad": Kind.TENSOR}
    return {"grads": Kind.OTHER, **{f"grad_{r.name}": Kind.TENSOR for r in results}}


def _explicit_gradients(row: Row, vocabulary: Vocabulary) -> tuple[Formulas, list[Gradient]]:
    values = argument_types(row) | result_types(row)
    names = values | gradient_names(row) | {"grad_mask": Kind.OTHER}
    fused_sources = row.get("fused", {})
    formulas: Formulas = {}
    gradients = []
    for group, source in row.vjps.items():
        source = by_samples(row, source, ", ".join(n for n in gradient_names(row) if n != "grads"))
        formula = DerivativeTranslator(row.text, names, vocabulary, gradient_names(row), saved=values)(source)
        mentions = {n for n in formula.names if n in gradient_names(row) or _is_tensor(values.get(n))}
        fused = None
        if ", ".join(group) in fused_sources:
            call = str(fused_sources[", ".join(group)]).removeprefix("kernels::")
            fused_formula = Translator(row.text, names, vocabulary, "kernels::", saved=values)(call)
            fused = fused_formula.text
            mentions |= {n for n in fused_formula.names if n in gradient_names(row) or _is_tensor(values.get(n))}
            formula.names |= fused_formula.names
            formula.attributes |= fused_formula.attributes
        saved = Formula("", Kind.OTHER, {n for n in formula.names if n in values},
                        {a for a in formula.attributes if a[0] in values})  # fmt: skip
        formulas[group] = saved
        arguments = tuple(row.schema.argument(n) for n in group)
        gradients.append(Gradient(arguments, tuple(edge_index(row, a) for a in arguments), formula.text, fused, None,
                                  tuple(sorted(mentions))))  # fmt: skip
    return formulas, gradients


def by_samples(row: Row, source: str, cotangents: str) -> str:
    """A formula that gives zero to the samples that these leave out, where the row says what a sample is."""
    if "sample" not in row.keys:
        return source
    return f"zero_where_unread({source}, [{cotangents}], {row.differentiable[0].name}.dim - {row.get('sample')})"


def _is_tensor(type_: Type | Kind | None) -> bool:
    return isinstance(type_, Type) and type_.is_tensor_like


# --- Forward mode


def _tangents(row: Row, vocabulary: Vocabulary) -> tuple[dict[str, list[Term]], set[str], str]:
    if row.form == "elementwise" and "jvp" not in row.keys:
        return {"result": [_partial_term(row, a, vocabulary) for a in row.differentiable]}, set(), ""
    if "linear" in row.keys:
        linear = row.get("linear")
        call = ", ".join(f"{a.name}_t" if a.name in linear else a.name for a in row.schema.arguments)
        whole = row.returns_list or len(row.schema.results) > 1 or row.schema.argument(linear[0]).type.is_list
        if len(linear) == 1 and not whole:
            return {"result": [Term(f"{linear[0]}_t", f"ops::{row.name}({call})")]}, set(), ""
        return {}, set(linear), f"ops::{row.name}({call})"
    sources = row.get("jvp")
    if not isinstance(sources, dict):
        sources = {row.schema.results[0].name: sources}
    tangents, materialized = {}, set()
    for result, source in sources.items():
        if str(source) != "none":
            source = by_samples(row, str(source), ", ".join(f"{a.name}_t" for a in row.differentiable))
            tangents[result], needed = _terms(row, source, vocabulary)
            materialized |= needed
    return tangents, materialized, ""


def _partial_term(row: Row, argument: Argument, vocabulary: Vocabulary) -> Term:
    tangent = f"{argument.name}_t"
    if row.partials[argument.name] == "1":  # the sum must not be the operand's own tangent
        return Term(tangent, f"{vocabulary.operation('clone')}({tangent})")
    product = chain_rule(row, row.partials[argument.name], tangent, vocabulary)
    text = beyond(row, argument, product, "tangent", (tangent, argument.name, "result"), vocabulary).text
    if row.reduces:
        sizes = ", ".join(f"get_sizes({a.name})" for a in row.schema.tensors)
        text = f"formulas::reduced({text}, {row.reduces}, {{{sizes}}})"
    return Term(tangent, text)


def _terms(row: Row, source: str, vocabulary: Vocabulary) -> tuple[list[Term], set[str]]:
    """A sum whose terms mention one tangent each is computed without the terms of missing tangents; any other formula
    needs all its tangents, zeros where they are missing."""
    tangent_names = {f"{a.name}_t": Kind.OTHER if a.type.is_list else Kind.TENSOR for a in row.differentiable}
    results = {} if row.writes_only else result_types(row)
    names = argument_types(row) | results | tangent_names
    terms = _summands(parse(source, row.text))
    formulas = [DerivativeTranslator(row.text, names, vocabulary, tangent_names)(term) for term in terms]
    mentioned = [sorted(f.names & set(tangent_names)) for f in formulas]
    if not all(mentioned):
        raise row.error(f"a term of `jvp: {source}` mentions no tangent", "a tangent is linear in <argument>_t")
    if all(len(m) == 1 and tangent_names[m[0]] is not Kind.OTHER for m in mentioned):
        return [Term(m[0], f.text) for m, f in zip(mentioned, formulas, strict=True)], set()
    needed = {n.removesuffix("_t") for m in mentioned for n in m}
    return [Term("", f.text) for f in formulas], needed


def _summands(tree: ast.expr, negative: bool = False) -> list[ast.expr]:
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, (ast.Add, ast.Sub)):
        return [*_summands(tree.left, negative), *_summands(tree.right, negative ^ isinstance(tree.op, ast.Sub))]
    return [ast.UnaryOp(ast.USub(), tree) if negative else tree]
