"""Formulas: Python expressions -> C++ text.

The same formula is translated for two worlds. In the *scalar* world every name is an element of the compute type T and
the text goes into an inner loop. In the *tensor* world names are tensors, operands (a tensor or a number) and plain
values, and operators become differentiable operations.

One rule of the tensor world needs care. A number has no dtype, so an operation on numbers alone would be computed in
the default dtype: `exponent - 1` in float32, next to a float64 tensor. Such operations are therefore computed in the
widest dtype: their first operand is wrapped in `wide(...)` (src/ops/generated_support.h).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from .schema import DTYPES, REDUCED_DTYPES, RowError, Schema, Type
from .vocabulary import Function, Kind, Vocabulary, kind_of_type

INFIX = {ast.Add: ("+", 5), ast.Sub: ("-", 5), ast.Mult: ("*", 6), ast.Div: ("/", 6), ast.Mod: ("%", 6)}
FUNCTIONS = {ast.Pow: "pow", ast.FloorDiv: "floor_divide", ast.Mod: "remainder", ast.MatMult: "matmul"}
COMPARE = {ast.Lt: ("<", "lt"), ast.LtE: ("<=", "le"), ast.Gt: (">", "gt"), ast.GtE: (">=", "ge"),
           ast.Eq: ("==", "eq"), ast.NotEq: ("!=", "ne")}  # fmt: skip
CONSTANTS = {"pi": "std::numbers::pi", "inf": "std::numeric_limits<double>::infinity()",
             "nan": "std::numeric_limits<double>::quiet_NaN()"}  # fmt: skip
DTYPE_NAMES = {name.lower(): f"DType::{name}" for names in (*DTYPES.values(), REDUCED_DTYPES) for name in names}
ATTRIBUTES = {"sizes": Kind.OTHER, "dtype": Kind.OTHER, "dim": Kind.NUMBER, "numel": Kind.NUMBER, "strides": Kind.OTHER,
              "offset": Kind.NUMBER, "device": Kind.OTHER}  # fmt: skip
ATOM, UNARY, COMPARISON, TERNARY = 9, 8, 4, 1


@dataclass(frozen=True)
class Text:
    cpp: str
    kind: Kind
    precedence: int = ATOM

    def within(self, precedence: int) -> str:
        return self.cpp if self.precedence >= precedence else f"({self.cpp})"


@dataclass
class Formula:
    """A translated formula and what it mentions: names, (name, attribute) pairs, conditions."""

    text: str
    kind: Kind
    names: set[str] = field(default_factory=set)
    attributes: set[tuple[str, str]] = field(default_factory=set)
    conditions: set[str] = field(default_factory=set)


def parse(text: str, row: str) -> ast.expr:
    try:
        return ast.parse(str(text).strip(), mode="eval").body
    except SyntaxError as error:
        raise RowError(row, f"formula '{text}' is not a Python expression ({error.msg})", "correct it") from None


class Translator:
    """Translates formulas of one row. `names` maps each name that they may use to its type or kind."""

    def __init__(self, row: str, names: Mapping[str, Type | Kind], vocabulary: Vocabulary, namespace: str = "",
                 saved: Collection[str] = ()) -> None:  # fmt: skip
        self.row = row
        self.names = names
        self.vocabulary = vocabulary
        self.namespace = namespace  # where all functions are looked up, unchecked: for calls of kernels
        self.saved = saved  # names whose attributes are kept as values of their own: self_sizes

    def __call__(self, source: str | ast.expr) -> Formula:
        tree = source if isinstance(source, ast.expr) else parse(source, self.row)
        self.source = ast.unparse(tree)
        self.found = Formula("", Kind.OTHER)
        text = self.visit(tree)
        self.found.text, self.found.kind = text.cpp, text.kind
        return self.found

    def chain_rule(self, source: str | ast.expr, cotangent: str, conjugate: str = "") -> Formula:
        """The chain-rule product of `cotangent` and a partial derivative.

        A partial that is chosen by a condition chooses the cotangent: a branch that is 0 drops it, even an infinite
        one, where multiplying by 0 would give NaN."""
        tree = source if isinstance(source, ast.expr) else parse(source, self.row)
        self.source = ast.unparse(tree)
        self.found = Formula("", Kind.OTHER)
        text = self._chain(tree, cotangent, conjugate)
        self.found.text, self.found.kind = text.cpp, text.kind
        return self.found

    def _chain(self, tree: ast.expr, cotangent: str, conjugate: str) -> Text:
        if isinstance(tree, ast.IfExp):
            test = self.truth(tree.test, self.visit(tree.test))
            if self.chooses(test):
                branches = [self._chain(branch, cotangent, conjugate) for branch in (tree.body, tree.orelse)]
                return self.conditional(test, *branches)
        if isinstance(tree, ast.Constant) and tree.value in (0, 1):
            return Text(cotangent, Kind.TENSOR) if tree.value else self.visit(tree)
        partial = self.visit(tree)
        text = f"{conjugate}({partial.cpp})" if conjugate and self.may_be_complex(partial) else partial.cpp
        return Text(f"{self.chain_name()}({cotangent}, {text})", Kind.TENSOR)

    def chain_name(self) -> str:
        return self.vocabulary.helper("chain_rule")

    def chooses(self, test: Text) -> bool:
        """Whether a condition is evaluated for each element."""
        return not self.is_native([test])

    def may_be_complex(self, value: Text) -> bool:
        return value.kind is not Kind.NUMBER

    def fail(self, problem: str, remedy: str) -> RowError:
        return RowError(self.row, f"formula '{self.source}': {problem}", remedy)

    def visit(self, node: ast.expr) -> Text:
        method = getattr(self, f"visit_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.fail(f"{type(node).__name__} is not part of the language", "move it into a formula helper")
        text: Text = method(node)
        return text

    def name_kind(self, name: str) -> Kind:
        if name not in self.names:
            known = ", ".join(sorted(self.names))
            raise self.fail(f"unknown name '{name}'", f"use an argument or one of {known}")
        known_as = self.names[name]
        return known_as if isinstance(known_as, Kind) else kind_of_type(known_as)

    # --- Leaves
    def visit_constant(self, node: ast.Constant) -> Text:
        value = node.value
        if isinstance(value, bool):
            return Text(str(value).lower(), Kind.NUMBER)
        if isinstance(value, complex):
            return Text(f"std::complex<double>({value.real!r}, {value.imag!r})", Kind.OPERAND)
        if isinstance(value, str):
            return Text(f'"{value}"', Kind.OTHER)
        return Text("{}", Kind.OTHER) if value is None else Text(repr(value), Kind.NUMBER)

    def visit_name(self, node: ast.Name) -> Text:
        if node.id in CONSTANTS and node.id not in self.names:
            return Text(CONSTANTS[node.id], Kind.NUMBER)
        if node.id in DTYPE_NAMES and node.id not in self.names:
            return Text(DTYPE_NAMES[node.id], Kind.OTHER)
        kind = self.name_kind(node.id)
        self.found.names.add(node.id)
        return Text(node.id, kind)

    def visit_attribute(self, node: ast.Attribute) -> Text:
        if not isinstance(node.value, ast.Name) or node.attr not in ATTRIBUTES:
            raise self.fail(f"attribute '{node.attr}'", f"only <argument>.{'/'.join(ATTRIBUTES)} are known")
        self.name_kind(node.value.id)
        self.found.attributes.add((node.value.id, node.attr))
        name = node.value.id
        return Text(f"{name}_{node.attr}" if name in self.saved else f"get_{node.attr}({name})", ATTRIBUTES[node.attr])

    def visit_list(self, node: ast.List) -> Text:
        items = [self.visit(e) for e in node.elts]
        owner = "Dims" if all(i.kind is Kind.NUMBER for i in items) else "TensorList"
        return Text(f"{owner}{{{', '.join(i.cpp for i in items)}}}", Kind.OTHER)

    visit_tuple = visit_list

    def visit_subscript(self, node: ast.Subscript) -> Text:
        index = node.slice
        if not isinstance(index, ast.Constant) or not isinstance(index.value, int) or index.value < 0:
            raise self.fail("only constant indices are known", "index a result, `grads` or a list with 0, 1, ...")
        value = self.visit(node.value)
        if isinstance(node.value, ast.Call):
            return Text(f"std::get<{index.value}>({value.cpp})", Kind.TENSOR)
        return Text(f"{value.cpp}[{index.value}]", Kind.NUMBER if self.is_list_of_numbers(node.value) else Kind.TENSOR)

    def is_list_of_numbers(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            known_as = self.names.get(node.id)
            return isinstance(known_as, Type) and known_as.is_list and known_as.base != "Tensor"
        return isinstance(node, ast.Attribute)

    # --- Operators
    def visit_unaryop(self, node: ast.UnaryOp) -> Text:
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return self.logical("logical_not", "!", [self.truth(node.operand, operand)])
        if isinstance(node.op, ast.UAdd):
            return operand
        if isinstance(node.op, ast.Invert):
            raise self.fail("`~`", "write `not`")
        return Text(f"-{self.widened([operand])[0].within(UNARY)}", self.joined([operand]), UNARY)

    def visit_binop(self, node: ast.BinOp) -> Text:
        left, right = self.visit(node.left), self.visit(node.right)
        kind = self.joined([left, right])
        op = type(node.op)
        if kind is Kind.NUMBER and op is ast.Div:  # as Python divides integers
            left = Text(f"double({left.cpp})", Kind.NUMBER)
        if op in (ast.BitAnd, ast.BitOr):
            raise self.fail("`&` and `|`", "write `and`, `or`")
        infix = INFIX.get(op)
        if infix and (op is not ast.Mod or kind is Kind.NUMBER):
            symbol, precedence = infix
            left, right = self.widened([left, right])
            return Text(f"{left.within(precedence)} {symbol} {right.within(precedence + 1)}", kind, precedence)
        return self.operator_call(FUNCTIONS.get(op), [left, right])

    def visit_compare(self, node: ast.Compare) -> Text:
        if len(node.ops) != 1:
            raise self.fail("chained comparison", "write `a < b and b < c`")
        left, op = self.visit(node.left), type(node.ops[0])
        if op in (ast.Is, ast.IsNot):
            present = f"{left.cpp}.{'defined' if left.kind is Kind.TENSOR else 'has_value'}()"
            return Text(("" if op is ast.IsNot else "!") + present, Kind.NUMBER, UNARY)
        right = self.visit(node.comparators[0])
        if op not in COMPARE:
            raise self.fail("`in`", "write comparisons")
        symbol, function = COMPARE[op]
        if self.is_native([left, right]):
            return Text(
                f"{left.within(COMPARISON + 1)} {symbol} {right.within(COMPARISON + 1)}", Kind.NUMBER, COMPARISON
            )
        return self.operator_call(function, [left, right])

    def visit_boolop(self, node: ast.BoolOp) -> Text:
        is_and = isinstance(node.op, ast.And)
        values = [self.truth(v, self.visit(v)) for v in node.values]
        result = values[0]
        for value in values[1:]:
            function, symbol = ("logical_and", "&&") if is_and else ("logical_or", "||")
            result = self.logical(function, symbol, [result, value])
        return result

    def visit_ifexp(self, node: ast.IfExp) -> Text:
        test, then, otherwise = (self.visit(n) for n in (node.test, node.body, node.orelse))
        return self.conditional(self.truth(node.test, test), then, otherwise)

    def truth(self, node: ast.expr, value: Text) -> Text:
        """Notes that a name stands where a truth value is expected."""
        if isinstance(node, ast.Name):
            self.found.conditions.add(node.id)
        return value

    def visit_call(self, node: ast.Call) -> Text:
        if not isinstance(node.func, ast.Name):
            raise self.fail("a call of something that is no name", "call operations and formula helpers by name")
        name = node.func.id
        positional = [self.visit(a) for a in node.args]
        keywords = {k.arg or "": self.visit(k.value) for k in node.keywords}
        return self.call(name, positional, keywords, self.instead_of(node))

    def instead_of(self, node: ast.Call) -> Function | None:
        """What is called in place of the function that the formula names."""
        return None

    # --- The tensor world
    def is_native(self, values: list[Text]) -> bool:
        """Whether C++ itself can compute with these values."""
        return all(v.kind in (Kind.NUMBER, Kind.OTHER) for v in values)

    def joined(self, values: list[Text]) -> Kind:
        return Kind.NUMBER if self.is_native(values) else Kind.TENSOR

    def widened(self, values: list[Text]) -> list[Text]:
        if self.is_native(values) or any(v.kind is Kind.TENSOR for v in values):
            return values
        return [self.wide(values), *values[1:]]

    def wide(self, values: list[Text]) -> Text:
        """The first value, made wide unless another one turns out to be a tensor."""
        deciding = [values[0], *(v for v in values[1:] if v.kind is Kind.OPERAND)]
        return Text(f"wide({', '.join(v.cpp for v in deciding)})", Kind.TENSOR)

    def logical(self, function: str, symbol: str, values: list[Text]) -> Text:
        if not self.is_native(values):
            return self.operator_call(function, values)
        if len(values) == 1:
            return Text(f"{symbol}{values[0].within(UNARY)}", Kind.NUMBER, UNARY)
        return Text(f"{values[0].within(3)} {symbol} {values[1].within(3)}", Kind.NUMBER, 2)

    def conditional(self, test: Text, then: Text, otherwise: Text) -> Text:
        if self.is_native([test]):
            kinds = {then.kind, otherwise.kind}
            kind = kinds.pop() if len(kinds) == 1 else Kind.TENSOR
            return Text(f"{test.within(2)} ? {then.within(2)} : {otherwise.within(2)}", kind, TERNARY)
        return self.operator_call("where", [test, then, otherwise])

    def operator_call(self, name: str | None, values: list[Text]) -> Text:
        if self.is_native(values):  # plain numbers: std::pow, floor_divide and remainder of the support header
            return Text(f"{name}({', '.join(v.cpp for v in values)})", Kind.NUMBER)
        return self.call(name or "", values, {})

    def call(
        self, name: str, positional: list[Text], keywords: dict[str, Text], instead: Function | None = None
    ) -> Text:
        if self.namespace:
            if keywords:
                raise self.fail("keyword arguments of a kernel", "pass all arguments by position")
            return Text(f"{self.namespace}{name}({', '.join(v.cpp for v in positional)})", Kind.TENSOR)
        function = self.vocabulary.function(name)
        if function is None:
            raise self.fail(f"unknown function '{name}'",
                            "use an operation of the table or declare a function in ops/formulas/*.yaml")  # fmt: skip
        called = instead or function
        values = self.bind(name, called.schema, positional, keywords)
        if function.is_operation:
            operands = [i for i, a in enumerate(called.schema.arguments) if a.type == Type("Operand")]
            if operands and not any(values[i].kind is Kind.TENSOR for i in operands):
                values[operands[0]] = self.wide([values[i] for i in operands])
        return Text(f"{self.vocabulary.call(called)}({', '.join(v.cpp for v in values)})", called.result)

    def bind(self, name: str, schema: Schema, positional: list[Text], keywords: dict[str, Text]) -> list[Text]:
        """All arguments: those that are not given have their defaults, so that a prototype needs none."""
        arguments = schema.arguments
        if len(positional) > len(arguments) or not keywords.keys() <= {a.name for a in arguments}:
            raise self.fail(f"the arguments of '{name}'", f"call it as {schema.text}")
        values = list(positional)
        for argument in arguments[len(positional) :]:
            if argument.name in keywords:
                values.append(keywords[argument.name])
            elif argument.default is None:
                raise self.fail(f"'{name}' without its argument '{argument.name}'", f"call it as {schema.text}")
            else:
                values.append(Text(argument.cpp_default or "{}", Kind.OTHER))
        for i, (argument, value) in enumerate(zip(arguments, values, strict=True)):
            if kind_of_type(argument.type) is Kind.NUMBER and value.kind is Kind.TENSOR:
                raise self.fail(f"a tensor as '{argument.name}' of '{name}'", f"call it as {schema.text}")
            if argument.type == Type("Tensor") and value.kind in (Kind.NUMBER, Kind.OPERAND):
                values[i] = Text(f"wide({value.cpp})", Kind.TENSOR)
        return values


class DerivativeTranslator(Translator):
    """Formulas of explicit rows, where a (co)tangent that is exactly zero adds nothing, whatever it meets.

    So `*` of what is linear in one and another tensor is the chain-rule product, and operations that are products give
    way to those that obey the rule (`in_derivatives`)."""

    def __init__(self, row: str, names: Mapping[str, Type | Kind], vocabulary: Vocabulary, cotangents: Collection[str],
                 saved: Collection[str] = ()) -> None:  # fmt: skip
        super().__init__(row, names, vocabulary, saved=saved)
        self.cotangents = cotangents

    def varies(self, tree: ast.AST) -> bool:
        return any(isinstance(node, ast.Name) and node.id in self.cotangents for node in ast.walk(tree))

    def visit_binop(self, node: ast.BinOp) -> Text:
        varying = [self.varies(node.left), self.varies(node.right)]
        if isinstance(node.op, ast.Mult) and varying in ([True, False], [False, True]):
            left, right = self.visit(node.left), self.visit(node.right)
            if left.kind is Kind.TENSOR and right.kind is Kind.TENSOR:
                cotangent, partial = (left, right) if varying[0] else (right, left)
                return Text(f"{self.chain_name()}({cotangent.cpp}, {partial.cpp})", Kind.TENSOR)
        return super().visit_binop(node)

    def instead_of(self, node: ast.Call) -> Function | None:
        function = self.vocabulary.function(node.func.id) if isinstance(node.func, ast.Name) else None
        if function is None or not function.in_derivatives or not self.varies(node):
            return None
        instead = self.vocabulary.helpers.get(function.in_derivatives)
        if instead is None:
            raise self.fail(f"unknown function '{function.in_derivatives}'", "declare it in ops/formulas/*.yaml")
        return instead


class ScalarTranslator(Translator):
    """The scalar world: every name is an element of type T, or bool where it is a condition."""

    def chain_name(self) -> str:
        return "chain"

    def chooses(self, test: Text) -> bool:
        return True

    def may_be_complex(self, value: Text) -> bool:
        return True

    def visit_constant(self, node: ast.Constant) -> Text:
        if isinstance(node.value, bool):
            return Text(str(node.value).lower(), Kind.NUMBER)
        if not isinstance(node.value, (int, float)):
            raise self.fail(f"constant {node.value!r} in an elementwise formula", "use real numbers")
        return Text(f"T({node.value!r})", Kind.NUMBER)

    def visit_name(self, node: ast.Name) -> Text:
        if node.id in CONSTANTS and node.id not in self.names:
            return Text(f"{node.id}<T>", Kind.NUMBER)
        self.name_kind(node.id)
        self.found.names.add(node.id)
        return Text(node.id, Kind.NUMBER)

    def visit_attribute(self, node: ast.Attribute) -> Text:
        raise self.fail(f"attribute '{node.attr}' in an elementwise formula", "use explicit `x:` and `jvp:` formulas")

    def visit_binop(self, node: ast.BinOp) -> Text:
        op = type(node.op)
        left, right = self.visit(node.left), self.visit(node.right)
        if op in (ast.BitAnd, ast.BitOr, ast.MatMult):
            raise self.fail(f"operator {op.__name__}", "write `and`, `or`, or a function of scalar_math.h")
        if op in FUNCTIONS:
            return self.call(FUNCTIONS[op], [left, right], {})
        symbol, precedence = INFIX[op]
        return Text(f"{left.within(precedence)} {symbol} {right.within(precedence + 1)}", Kind.NUMBER, precedence)

    def logical(self, function: str, symbol: str, values: list[Text]) -> Text:
        if len(values) == 1:
            return Text(f"!{values[0].within(UNARY)}", Kind.NUMBER, UNARY)
        return Text(
            f"{values[0].within(COMPARISON + 1)} {symbol[0]} {values[1].within(COMPARISON + 1)}", Kind.NUMBER, 2
        )

    def conditional(self, test: Text, then: Text, otherwise: Text) -> Text:
        return self.call("where", [test, then, otherwise], {})

    def call(
        self, name: str, positional: list[Text], keywords: dict[str, Text], instead: Function | None = None
    ) -> Text:
        known = self.vocabulary.scalar_functions
        if known and name not in known:
            raise self.fail(
                f"unknown function '{name}' of numbers",
                "define it in src/backends/cpu/scalar and list it in ops/formulas/scalars.yaml",
            )
        if keywords:
            raise self.fail(f"keyword arguments of '{name}'", "pass all arguments by position")
        return Text(f"{name}({', '.join(v.cpp for v in positional)})", Kind.NUMBER)
