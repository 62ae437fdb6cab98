"""Pictures of the graph, and the rows G14 and G15 on edges they start from."""

import time
import xml.etree.ElementTree as ElementTree

import pytest

import wengert as wg
from wengert.autograd._draw.layout import layers_of, place
from wengert.autograd.graph import GradientEdge, get_gradient_edge

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def graph():
    x = wg.ones(2, 3, requires_grad=True)
    w = wg.ones(3, 4, requires_grad=True)
    return x, w, (x @ w).tanh().sum()


def drawn(*targets, **options):
    return wg.graph.draw(*targets, use_graphviz=False, **options)


def texts(drawing):
    return ["".join(text.itertext()) for text in ElementTree.fromstring(drawing.svg).iter(f"{SVG}text")]


def test_svg_has_a_box_for_each_node_and_an_arrow_for_each_edge(graph):
    _x, _w, y = graph
    root = ElementTree.fromstring(drawn(y).svg)
    assert len(list(root.iter(f"{SVG}rect"))) == 5
    assert len([path for path in root.iter(f"{SVG}path") if path.get("marker-end")]) == 4


def test_boxes_show_shapes_saved_bytes_and_names(graph):
    x, w, y = graph
    words = texts(drawn(y, names={"x": x, "weights": w}))
    assert {"SumBackward0", "TanhBackward0", "MmBackward0", "leaf", "x", "weights"} <= set(words)
    assert "float32 [2, 4]" in words
    assert "float32 [3, 4]" in words
    assert "saves 64 B" in words  # the argument and the result of tanh
    assert f"saves {24 + 48} B" in words  # both factors


def test_debug_mode_shows_lines():
    x = wg.ones(2, requires_grad=True)
    with wg.autograd.set_debug_mode(True):
        y = x.exp()
    line = test_debug_mode_shows_lines.__code__.co_firstlineno + 3
    drawing = drawn(y)
    assert f"test_draw.py:{line} in test_debug_mode_shows_lines" in texts(drawing)
    assert f"{__file__}:{line}" in drawing.svg
    assert f"test_draw.py:{line}" in drawing.dot


def test_dot(graph):
    *_, y = graph
    lines = drawn(y).dot.splitlines()
    assert lines[0] == "digraph {"
    assert lines[-1] == "}"
    assert sum("->" in line for line in lines) == 4
    assert any('label="TanhBackward0\\nfloat32 [2, 4]\\nsaves 64 B"' in line for line in lines)


def test_notebooks_and_files(graph, tmp_path):
    *_, y = graph
    drawing = drawn(y)
    assert drawing._repr_svg_() == drawing.svg
    drawing.save(str(tmp_path / "graph.svg"))
    drawing.save(str(tmp_path / "graph.dot"))
    assert (tmp_path / "graph.svg").read_text() == drawing.svg
    assert (tmp_path / "graph.dot").read_text() == drawing.dot
    assert repr(drawing) == "Graph of 5 nodes: 2 AccumulateGrad, MmBackward0, SumBackward0, TanhBackward0"


def test_ten_thousand_nodes_are_cut_with_a_note():
    x = wg.ones(1, requires_grad=True)
    for _ in range(10_000):
        x = x * 1.0
    start = time.perf_counter()
    drawing = drawn(x, max_nodes=100)
    note = "9901 of 10001 nodes are not shown; pass max_nodes=10001 to draw() to see them"
    assert note in drawing.svg
    assert note in drawing.dot
    assert note in repr(drawing)
    assert time.perf_counter() - start < 20


def test_many_long_edges():
    x = wg.ones(1, requires_grad=True)
    total = x
    for i in range(300):
        total = total + x * float(i)
    assert len(drawn(total, max_nodes=1000).svg) > 10_000


def test_targets_of_every_kind(graph):
    x, w, y = graph
    counts = [repr(drawn(target)) for target in (y, get_gradient_edge(y), y.grad_fn)]
    assert len(set(counts)) == 1
    assert "2 SumBackward0" in repr(drawn(y, (x @ w).sum()))
    assert repr(drawn(x)) == "Graph of 1 nodes: AccumulateGrad"
    with pytest.raises(ValueError, match="none of the tensors has a graph"):
        drawn(wg.ones(2))


def test_drawing_disturbs_nothing(graph):
    x, _w, y = graph
    calls = []
    with wg.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: calls.append(1) or t):
        z = y.exp()
    z.register_hook(calls.append)
    drawn(z).svg  # noqa: B018
    assert not calls
    freed = x.exp().sum()
    freed.backward()
    assert "ExpBackward0" in drawn(freed).svg


def test_graphviz_is_used_where_it_is_installed(graph, tmp_path, monkeypatch):
    *_, y = graph
    fake = tmp_path / "dot"
    fake.write_text("#!/bin/sh\necho '<?xml?><svg>fake</svg>'\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert wg.graph.draw(y).svg.startswith("<svg>fake</svg>")
    fake.write_text("#!/bin/sh\nexit 1\n")
    assert "TanhBackward0" in wg.graph.draw(y).svg


def test_layout_puts_next_nodes_below_and_apart():
    edges = [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)]
    assert layers_of(4, edges) == [0, 1, 1, 2]
    layout = place([(50.0, 20.0)] * 4, edges)
    y = [centre[1] for centre in layout.centres]
    assert y[0] < y[1] == y[2] < y[3]
    assert abs(layout.centres[1][0] - layout.centres[2][0]) >= 50
    assert [len(bends) for bends in layout.bends] == [0, 0, 0, 0, 1]
    assert all(25 <= x <= layout.width - 25 for x, _ in layout.centres)


def test_g14_edges_survive_writes(graph):
    x, _w, _y = graph
    z = x * 2
    edge = get_gradient_edge(z)
    assert isinstance(edge, GradientEdge)
    assert edge.output_nr == 0
    z.mul_(3)
    assert wg.autograd.grad(edge, x, wg.ones(2, 3))[0].tolist() == [[2.0] * 3] * 2
    assert "MulBackward0" in repr(drawn(edge))


def test_g15_leaf_edge(graph):
    x, *_ = graph
    assert get_gradient_edge(x).node.name() == "torch::autograd::AccumulateGrad"
    with pytest.raises(RuntimeError, match=r"does not require gradients|do not require|gradient edge"):
        get_gradient_edge(wg.ones(1))
