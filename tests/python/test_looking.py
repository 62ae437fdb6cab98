"""Pages, plots and bars: what shows a person what happened."""

import io
import json
import re

import numpy as np
import pytest

import wengert as wg
from wengert.autograd.profiler import profile, record_function


def data_of(page):
    """What a page was made of."""
    return json.loads(re.search(r"const data = (\{.*?\})[,;]", page).group(1))


def test_a_graph_as_a_page(tmp_path):
    x = wg.ones(3, requires_grad=True)
    w = wg.ones(3, 200, requires_grad=True)
    drawing = wg.graph.draw((x @ w).tanh().sum(), names={"<weights>": w}, use_graphviz=False)
    path = tmp_path / "graph.html"
    drawing.save(str(path))
    page = path.read_text()
    assert page == drawing.html
    data = data_of(page)
    assert len(data["words"]) == len(data["saved"]) == page.count("<rect")
    assert sum("tanh" in words for words in data["words"]) == 1
    assert max(data["saved"]) >= 3 * 200 * 4  # the factors
    assert len(data["edges"]) == page.count("marker-end=")
    assert "<weights>" not in re.sub(r"const data.*", "", page)  # names are text, not markup
    assert "http" not in page.replace("http://www.w3.org", "")  # nothing is fetched


def test_a_profile_as_a_page(tmp_path):
    x = wg.ones(3, requires_grad=True)
    with profile(record_shapes=True) as prof, record_function("</script> & co"):
        (x * 2).sum().backward()
    path = tmp_path / "profile.html"
    prof.export_timeline(str(path), "<One> step")
    page = path.read_text()
    assert page.count("</script>") == 1
    assert "&lt;One&gt; step" in page
    data = json.loads(re.search(r"const data = (\{.*\}), ROW", page).group(1))
    events = prof.function_events
    assert len(data["events"]) == len(events)
    named = {data["names"][row[0]]: row for row in data["events"]}
    assert named["</script> & co"][4] == 2
    assert named["aten::mul"][4] == 0
    assert named["MulBackward0"][4] == 1
    assert named["aten::mul"][1] == named["</script> & co"][1] + 1  # one lane below what it runs in
    with wg.profiler.profile() as scheduled:
        (x * 2).sum()
    scheduled.export_timeline(str(path))
    assert "aten::mul" in path.read_text()


def test_versions():
    written = io.StringIO()
    wg.utils.show_versions(written)
    lines = dict(line.split(None, 1) for line in written.getvalue().splitlines())
    assert lines["wengert"] == wg.__version__
    assert lines["numpy"] == np.__version__


def rosenbrock(x):
    return ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()


def test_bars_where_calls_take_long():
    pytest.importorskip("tqdm")
    start = wg.zeros(4, dtype=wg.float64)

    def work():
        x = start.clone().requires_grad_()
        assert wg.autograd.gradcheck(rosenbrock, x)
        plan = wg.func.sparsity(rosenbrock, start, order=2)
        found = wg.optimize.minimize(rosenbrock, start)
        return plan.number_of_colors, found.nit

    written = io.StringIO()
    with wg.utils.progress_bars(file=written):
        shown = work()
    said = written.getvalue()
    for name in ("gradcheck, input 0", "sparsity", "minimize"):
        assert name in said
    before = len(said)
    assert work() == shown  # and without bars nothing is written
    assert len(written.getvalue()) == before


def test_convergence():
    trace = wg.optimize.Convergence()
    found = wg.optimize.minimize(rosenbrock, wg.zeros(4, dtype=wg.float64), callback=trace)
    assert len(trace.values) == found.nit
    assert trace.values[-1] == pytest.approx(float(found.fun))
    assert f"{found.nit} iterations" in repr(trace)
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = trace.plot()
    assert axes.get_yscale() == "log"
    assert len(axes.lines[0].get_ydata()) == found.nit
    assert trace.plot(axes) is axes
