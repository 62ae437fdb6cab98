"""One formula, two worlds."""

from pathlib import Path

import pytest

from codegen.formula import ScalarTranslator, Translator
from codegen.schema import Type, parse_schema
from codegen.vocabulary import Function, Kind, Vocabulary, declarations, read_vocabulary

OPERATIONS = [
    "neg(Tensor self) -> Tensor", "log(Tensor self) -> Tensor", "pow(Operand self, Operand exponent) -> Tensor",
    "where(Tensor condition, Operand self, Operand other) -> Tensor", "lt(Operand self, Operand other) -> Tensor",
    "eq(Operand self, Operand other) -> Tensor", "logical_and(Operand self, Operand other) -> Tensor",
    "logical_not(Tensor self) -> Tensor", "matmul(Tensor self, Tensor other) -> Tensor",
    "sum(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
]  # fmt: skip
NAMES = {"x": Type("Tensor"), "a": Type("Operand"), "b": Type("Operand"), "s": Type("Scalar"), "n": Type("int"),
         "flag": Type("bool"), "mode": Type("str"), "grad": Kind.TENSOR, "dim": Type("int", is_list=True)}  # fmt: skip

TENSORS = {
    "x * (x + 1)": "x * (x + 1)",
    "x - (x - 1)": "x - (x - 1)",
    "-x": "-x",
    "-x ** 2": "-ops::pow(x, 2)",
    "x / n": "x / n",
    "1 / n": "double(1) / n",
    "1 / 4": "double(1) / 4",
    "a * x": "a * x",
    "a - 1": "wide(a) - 1",  # a number alone would be computed in the default dtype
    "1 / a": "wide(1, a) / a",
    "a * b": "wide(a, b) * b",
    "x * (s - 1)": "x * (wide(s) - 1)",
    "log(a)": "ops::log(wide(a))",
    "x if x < 0 else a": "ops::where(ops::lt(x, 0), x, a)",
    "1 if x < 0 else 0.1": "ops::where(ops::lt(x, 0), wide(1), 0.1)",
    "x if flag else grad": "flag ? x : grad",
    "x if mode == 'mean' and n > 1 else grad": 'mode == "mean" && n > 1 ? x : grad',
    "not x == 0": "ops::logical_not(ops::eq(x, 0))",
    "x == 0 and x < 1": "ops::logical_and(ops::eq(x, 0), ops::lt(x, 1))",
    "x @ x": "ops::matmul(x, x)",
    "sum(x, keepdim=True)": "ops::sum(x, {}, true)",
    "sum(x, [-1])": "ops::sum(x, Dims{-1}, false)",  # all arguments, so that a prototype needs no defaults
    "helper(x, x.sizes, dim)": "formulas::helper(x, get_sizes(x), dim)",
    "pair(x)[1]": "std::get<1>(formulas::pair(x))",
    "x * dim[0]": "x * dim[0]",
    "1 / x.sizes[0]": "double(1) / get_sizes(x)[0]",
    "x if x is not None else grad": "x.defined() ? x : grad",
    "x * pi": "x * std::numbers::pi",
}
SCALARS = {
    "x * (a + 1)": "x * (a + T(1))",
    "0.5 / x": "T(0.5) / x",
    "-x ** 2": "-pow(x, T(2))",
    "x if x > 0 else n * x": "where(x > T(0), x, n * x)",
    "0 if x == 0 and a < 1 else log(x)": "where((x == T(0)) & (a < T(1)), T(0), log(x))",
    "x if not flag else a": "where(!flag, x, a)",
    "x * pi - inf": "x * pi<T> - inf<T>",
    "x % a": "remainder(x, a)",
}


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    known = read_vocabulary(Path("nowhere"), map(parse_schema, OPERATIONS))
    for text in ("helper(Tensor x, int[] sizes, int[] dims) -> Tensor", "pair(Tensor x) -> (Tensor, Tensor)"):
        schema = parse_schema(text)
        known.helpers[schema.name] = Function(schema, is_operation=False)
    return known


@pytest.mark.parametrize("formula", TENSORS)
def test_translates_to_operations(formula, vocabulary):
    assert Translator("row", NAMES, vocabulary)(formula).text == TENSORS[formula]


@pytest.mark.parametrize("formula", SCALARS)
def test_translates_to_scalars(formula, vocabulary):
    assert ScalarTranslator("row", NAMES, vocabulary)(formula).text == SCALARS[formula]


def test_finds_what_a_formula_mentions(vocabulary):
    words = vocabulary.recording()
    formula = Translator("row", NAMES, words, saved=NAMES)("helper(grad, x.sizes, dim) if flag else log(x)")
    assert formula.names == {"grad", "x", "dim", "flag"}
    assert formula.attributes == {("x", "sizes")}
    assert formula.conditions == {"flag"}
    assert formula.text == "flag ? formulas::helper(grad, x_sizes, dim) : ops::log(x)"
    assert set(words.called) == {"formulas::helper", "ops::log"}


def test_declarations_become_prototypes(tmp_path):
    (tmp_path / "formulas").mkdir()
    (tmp_path / "formulas" / "room.yaml").write_text("""
room/one:
  - first(Tensor a, int[]? dim=None, bool keepdim=False) -> Tensor
  # What is wanted of two.
  - second(Operand a, bool[2] mask) -> (Tensor, Tensor)  # a pair
room/other:
  - check_(Tensor self, str? how) -> ()
""")
    found = declarations(tmp_path)
    assert list(found) == ["room/one", "room/other"]
    assert [schema.prototype(defaults=True) for declared in found.values() for schema in declared] == [
        "Tensor first(const Tensor& a, const std::optional<Dims>& dim = {}, bool keepdim = false)",
        "std::tuple<Tensor, Tensor> second(const Operand& a, const std::array<bool, 2>& mask)",
        "void check_(const Tensor& self, std::optional<std::string_view> how)",
    ]
