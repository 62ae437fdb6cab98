"""A formula of the table as LaTeX: what stands in a row, term by term, neither simplified nor reordered.

`latex("-1 / (sqrt(1 - self) * sqrt(1 + self))")` is ``-\\frac{1}{\\sqrt{1 - x} \\, \\sqrt{1 + x}}``. `self` is x and
`other` y, as in books; `result` is f. Read `Printer` from its end: each kind of expression has a method, which returns
text and how tightly it binds; `wrapped` adds parentheses where an operand binds less tightly than it must.
"""

import ast
import re

SUM, PRODUCT, SIGN, POWER, ATOM = range(1, 6)

NAMES = {"self": "x", "other": "y", "result": "f", "inf": r"\infty", "pi": r"\pi", "nan": r"\mathrm{NaN}",
         "alpha": r"\alpha", "beta": r"\beta", "lambd": r"\lambda", "delta": r"\delta", "eps": r"\epsilon",
         "weight": "w", "input": "x", "target": "y", "exponent": "p", "value": "v"}  # fmt: skip
FUNCTIONS = {name: rf"\{name}" for name in ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "min", "max")}
FUNCTIONS |= {"asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan", "maximum": r"\max", "minimum": r"\min",
              "lgamma": r"\log\Gamma", "digamma": r"\psi", "sigmoid": r"\sigma"}  # fmt: skip
AROUND = {"abs": (r"\left|", r"\right|"), "floor": (r"\lfloor", r"\rfloor"), "ceil": (r"\lceil", r"\rceil"),
          "sqrt": (r"\sqrt{", "}"), "conj": (r"\overline{", "}")}  # fmt: skip
COMPARISONS = {ast.Eq: "=", ast.NotEq: r"\neq", ast.Lt: "<", ast.LtE: r"\leq", ast.Gt: ">", ast.GtE: r"\geq"}
UNREADABLE = (ast.Attribute, ast.Subscript, ast.List, ast.Tuple)


def latex(formula):
    """Return the LaTeX of a formula, or None if it is one of programs rather than of mathematics."""
    tree = ast.parse(" ".join(formula.split()), mode="eval").body
    if any(isinstance(node, UNREADABLE) for node in ast.walk(tree)):
        return None
    return Printer().visit(tree)[0]


def name_of(name):
    """How a name is written: a letter as it is, a word upright."""
    if name in NAMES:
        return NAMES[name]
    letter = re.fullmatch(r"([a-zA-Z])(\d*)", name)
    return (letter[1] + (f"_{{{letter[2]}}}" if letter[2] else "")) if letter else rf"\mathrm{{{escaped(name)}}}"


def escaped(name):
    return name.replace("_", r"\_")


class Printer(ast.NodeVisitor):
    """Returns (LaTeX, binding) of each kind of expression."""

    def wrapped(self, node, least):
        text, binding = self.visit(node)
        return text if binding >= least else rf"\left({text}\right)"

    def visit_Constant(self, node):
        if isinstance(node.value, float):
            return f"{node.value:.6g}", ATOM
        return (str(node.value) if isinstance(node.value, int) else rf"\mathrm{{{node.value}}}"), ATOM

    def visit_Name(self, node):
        return name_of(node.id), ATOM

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            return rf"\neg {self.wrapped(node.operand, ATOM)}", SIGN
        sign = "-" if isinstance(node.op, ast.USub) else "+"
        return sign + self.wrapped(node.operand, PRODUCT), SUM

    def visit_BinOp(self, node):
        left, right = node.left, node.right
        if isinstance(node.op, ast.Add):
            return f"{self.wrapped(left, SUM)} + {self.wrapped(right, PRODUCT)}", SUM
        if isinstance(node.op, ast.Sub):
            return f"{self.wrapped(left, SUM)} - {self.wrapped(right, PRODUCT)}", SUM
        if isinstance(node.op, ast.Div):
            if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Div):  # x / y / z
                return self.visit_BinOp(ast.BinOp(left.left, ast.Div(), ast.BinOp(left.right, ast.Mult(), right)))
            if isinstance(left, ast.UnaryOp) and isinstance(left.op, ast.USub):
                return rf"-\frac{{{self.visit(left.operand)[0]}}}{{{self.visit(right)[0]}}}", SUM
            return rf"\frac{{{self.visit(left)[0]}}}{{{self.visit(right)[0]}}}", POWER
        if isinstance(node.op, ast.Pow):
            return f"{self.wrapped(left, ATOM)}^{{{self.visit(right)[0]}}}", POWER
        sign = {ast.Mult: r"\,", ast.Mod: r"\bmod", ast.FloorDiv: r"\mathbin{//}"}.get(type(node.op), r"\circ")
        if isinstance(node.op, ast.Mult) and isinstance(right, ast.Constant):
            sign = r"\cdot"
        return f"{self.wrapped(left, PRODUCT)} {sign} {self.wrapped(right, SIGN)}", PRODUCT

    def visit_Call(self, node):
        name = node.func.id
        if name == "chain":  # the product of the chain rule, with its care for 0 times infinity
            return self.visit_BinOp(ast.BinOp(node.args[0], ast.Mult(), node.args[1]))
        arguments = [self.visit(argument)[0] for argument in node.args]
        if name == "square":
            return f"{self.wrapped(node.args[0], ATOM)}^2", POWER
        if name in AROUND:
            before, after = AROUND[name]
            return f"{before}{' ' * before[-1].isalpha()}{arguments[0]} {after}", ATOM
        function = FUNCTIONS.get(name) or rf"\operatorname{{{escaped(name)}}}"
        return rf"{function}\left({', '.join(arguments)}\right)", ATOM

    def visit_Compare(self, node):
        text = self.wrapped(node.left, SUM)
        for operator, right in zip(node.ops, node.comparators, strict=True):
            text += f" {COMPARISONS.get(type(operator), '=')} {self.wrapped(right, SUM)}"
        return text, 0

    def visit_BoolOp(self, node):
        word = r" \text{ and } " if isinstance(node.op, ast.And) else r" \text{ or } "
        return word.join(self.wrapped(value, 0) for value in node.values), 0

    def visit_IfExp(self, node):
        cases, rest = [], node
        while isinstance(rest, ast.IfExp):
            cases.append(rf"{self.visit(rest.body)[0]} & \text{{if }} {self.visit(rest.test)[0]}")
            rest = rest.orelse
        cases.append(rf"{self.visit(rest)[0]} & \text{{otherwise}}")
        return r"\begin{cases} " + r" \\ ".join(cases) + r" \end{cases}", ATOM

    def generic_visit(self, node):
        raise ValueError(f"no LaTeX for {ast.dump(node)}: add a method to docs/_ext/latex.py")
