"""What a wrong row says: the row, the problem, the remedy."""

import pytest
import yaml

from codegen.elementwise import kernels
from codegen.operation import Operation
from codegen.schema import RowError, parse_schema
from codegen.table import make_row, name_nodes, read_family
from codegen.vocabulary import Function, Vocabulary, read_vocabulary


def words(tmp_path) -> Vocabulary:
    neg = make_row({"op": "neg(Tensor self) -> Tensor", "compose": "self", "doc": "x"}, "test")
    known = read_vocabulary(tmp_path, [neg.schema])
    known.scalar_functions = {"exp", "where"}
    known.helpers["two"] = Function(parse_schema("two(Tensor a, int n) -> Tensor"), is_operation=False)
    return known


ELEMENTWISE = "op: f(Tensor self) -> Tensor\ndoc: x\n"
EXPLICIT = "op: f(Tensor self, Tensor other, int n) -> Tensor\ndoc: x\nother: none\n"

# (row, fragments of the message)
BAD_ROWS = {
    "no schema": ("op: f\ndoc: x\ncompose: self", ["[f]", "not a schema", "write name.overload("]),
    "no op": ("kernel: self", ["without `op`", "begin it with `op: schema`"]),
    "unknown type": ("op: f(Matrix self) -> Tensor", ["unknown type 'Matrix'", "use one of Tensor"]),
    "unnamed argument": ("op: f(Tensor) -> Tensor", ["cannot read argument 'Tensor'", "write it as `Type name`"]),
    "default then none": (
        "op: f(int a=1, int b) -> Tensor",
        ["'b' follows one with a default", "give it a default too"],
    ),
    "silence": (ELEMENTWISE, ["nothing says how it is differentiated", "give exactly one of"]),
    "two forms": (ELEMENTWISE + "compose: neg(self)\nnon_differentiable: true", ["compose and non_differentiable"]),
    "misspelt key": (
        ELEMENTWISE + "kernal: exp(self)",
        ["unknown key 'kernal'", "use a tensor argument, d_<argument>"],
    ),
    "scalar loop that is none": (
        ELEMENTWISE + "kernel: exp(self)\nd_self: exp(self)\nscalar: {d_other: x}",
        ["scalar: no loop 'd_other'", "use floating, kernel, integral or d_<argument>"],
    ),
    "singular without partial": (
        ELEMENTWISE + "kernel: exp(self)\nd_self: none\nsingular: {self: square_root(result)}",
        ["`singular` of 'self', which has no d_self", "use it beside `d_self: formula`"],
    ),
    "reduces by what is no argument": (
        ELEMENTWISE + "kernel: exp(self)\nd_self: exp(self)\nreduces: how",
        ["`reduces: how` names no `str` argument", "name the argument that is 'mean', 'sum' or 'none'"],
    ),
    "mixes along what is no argument": (
        "op: f(Tensor self) -> Tensor\ndoc: x\nself: grad\nlinear: [self]\nmixes: dim",
        ["`mixes: dim` names 'dim', which is no argument", "name arguments of the row"],
    ),
    "reduces whole numbers": (
        "op: f(Tensor self, str how) -> Tensor\ndoc: x\nkernel: exp(self)\nd_self: exp(self)\nreduces: how",
        ["`reduces` of results that are not floating", "write `dtypes: [floating]`"],
    ),
    "derivative of a number": (EXPLICIT + "self: grad\nlinear: [self]\nn: grad", ["unknown key 'n'"]),
    "partial without kernel": (ELEMENTWISE + "d_self: 1", ["d_<argument> without `kernel`", "add `kernel:`"]),
    "kernel and forward": (ELEMENTWISE + "kernel: exp(self)\nforward: f(self)\nd_self: 1", ["keep one"]),
    "forgotten argument": (
        "op: f(Tensor self, Tensor other) -> Tensor\ndoc: x\nself: grad\nlinear: [self]",
        ["no derivative with respect to 'other'", "add `other: formula` or `other: none`"],
    ),
    "no forward mode": (EXPLICIT + "self: grad", ["forward mode needs `jvp` or `linear`", "add `jvp: formula`"]),
    "both forward modes": (EXPLICIT + "self: grad\njvp: self_t\nlinear: [self]", ["and only one"]),
    "linear in what has no formula": (EXPLICIT + "self: grad\nlinear: [other]", ["linear in 'other'"]),
    "no doc": ("op: f(Tensor self) -> Tensor\ncompose: neg(self)", ["no `doc`", "describe the operation"]),
    "overwritten of another argument": (
        ELEMENTWISE + "kernel: self\nd_self: self\noverwritten: {other: result}",
        ["`overwritten` of another argument"],
    ),
    "overwritten without a gain": (
        ELEMENTWISE + "kernel: self\nd_self: result\noverwritten: {self: result + self}",
        ["needs all that the gradient needs"],
    ),
    "unknown category": (
        ELEMENTWISE + "kernel: self\nd_self: 1\ndtypes: [real]",
        ["category 'real'", "use bool, integral"],
    ),
    "unknown rule": (
        ELEMENTWISE + "kernel: self\nd_self: 1\nresult: float",
        ["result rule 'float'", "use same, floating"],
    ),
    "reserved name": (
        "op: f(Tensor grad) -> Tensor\ndoc: x\nkernel: exp(grad)\nd_grad: 1",
        ["argument name 'grad' is taken", "rename it"],
    ),
    "syntax": (ELEMENTWISE + "kernel: exp(self\nd_self: 1", ["'exp(self' is not a Python expression", "correct it"]),
    "unused argument": (
        "op: f(Tensor self, float x) -> Tensor\ndoc: x\nkernel: exp(self)\nd_self: 1",
        ["`kernel` does not use 'x'", "remove it from the schema"],
    ),
    "unknown scalar function": (
        ELEMENTWISE + "kernel: foo(self)\nd_self: 1",
        ["unknown function 'foo' of numbers", "list it in ops/formulas/scalars.yaml"],
    ),
    "unknown name": (ELEMENTWISE + "kernel: exp(self)\nd_self: x", ["unknown name 'x'", "use an argument or one of"]),
    "unknown function": (
        EXPLICIT + "self: foo(grad)\nlinear: [self]",
        ["unknown function 'foo'", "declare a function in ops/formulas"],
    ),
    "wrong arguments": (
        EXPLICIT + "self: neg(grad, grad)\nlinear: [self]",
        ["the arguments of 'neg'", "call it as neg("],
    ),
    "too few for a helper": (
        EXPLICIT + "self: two(grad)\nlinear: [self]",
        ["[f(", "'two' without its argument 'n'", "call it as two(Tensor a, int n) -> Tensor"],
    ),
    "a tensor for a helper's number": (
        EXPLICIT + "self: two(grad, other)\nlinear: [self]",
        ["a tensor as 'n' of 'two'", "call it as two(Tensor a, int n) -> Tensor"],
    ),
    "unknown keyword": (EXPLICIT + "self: two(x=grad)\nlinear: [self]", ["the arguments of 'two'", "call it as two("]),
    "method call": (EXPLICIT + "self: grad.neg()\nlinear: [self]", ["a call of something that is no name"]),
    "attribute": (
        EXPLICIT + "self: two(self.shape)\nlinear: [self]",
        ["attribute 'shape'", "only <argument>.sizes"],
    ),
    "chained comparison": (ELEMENTWISE + "kernel: self\nd_self: 1 if 0 < self < 1 else 0", ["write `a < b and b < c`"]),
    "bit operator": (ELEMENTWISE + "kernel: self\nd_self: self & self", ["write `and`, `or`"]),
    "lambda": (EXPLICIT + "self: 'lambda x: x'\nlinear: [self]", ["Lambda is not part of the language"]),
    "no tangent": (EXPLICIT + "self: grad\njvp: self_t + self", ["a term of `jvp: self_t + self` mentions no tangent"]),
    "factory without options": (
        "op: f(int[] size) -> Tensor\ndoc: x\nfactory: zeros(size)",
        ["`factory` and an argument `TensorOptions options` go together", "give both or neither"],
    ),
    "options without a factory": (
        "op: f(int[] size, *, TensorOptions options) -> Tensor\ndoc: x\nnon_differentiable: true",
        ["`factory` and an argument `TensorOptions options` go together", "give both or neither"],
    ),
    "draws without a generator": (
        "op: f(int[] size, *, TensorOptions options) -> Tensor\ndoc: x\nfactory: empty(size)\ndraws: normal_(result)",
        ["`draws` of what is no factory with a Generator", "use it beside `factory: formula`"],
    ),
    "string in a loop": (
        "op: f(Tensor self, str mode) -> Tensor\ndoc: x\nkernel: exp(self)\nd_self: 1",
        ["'mode' cannot enter an elementwise kernel", "use `compose:`"],
    ),
}


def generate(text: str, known: Vocabulary) -> object:
    row = make_row(yaml.safe_load(text), "test")
    op = Operation(row, known)
    return kernels(row, known), op.derivatives if row.is_recorded else op.composition


@pytest.mark.parametrize("case", BAD_ROWS)
def test_a_wrong_row_is_refused_with_a_remedy(case, tmp_path):
    text, fragments = BAD_ROWS[case]
    with pytest.raises(RowError) as caught:
        generate(text, words(tmp_path))
    message = str(caught.value)
    assert message.startswith("[")
    for fragment in fragments:
        assert fragment in message


def test_a_file_that_is_no_family_is_refused():
    for text in ("- op: f(Tensor self) -> Tensor", "title: X", "title: X\nrows: []\nheaders: []"):
        with pytest.raises(RowError, match="not a family; write title, summary"):
            read_family(text, "x")


def test_two_rows_of_one_name_are_refused():
    row = {"op": "f(Tensor self) -> Tensor", "compose": "self", "doc": "x"}
    with pytest.raises(RowError, match="two rows have this name; give one of them another overload name"):
        name_nodes([make_row(row, "a"), make_row(row, "b")])
