"""The examples in docstrings of `wengert.distributed` and `wengert.nn.parallel` run, on one rank, in one process."""

import importlib.util

spec = importlib.util.spec_from_file_location("launch", __file__.replace("test_examples", "launch"))
launch = importlib.util.module_from_spec(spec)
spec.loader.exec_module(launch)

PROGRAM = """
import doctest, importlib, inspect, pkgutil
import wengert as wg
import wengert.distributed, wengert.nn.parallel
attempted = 0
seen = set()
for package in (wengert.distributed, wengert.nn.parallel):
    names = [info.name for info in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
    modules = [package, *(importlib.import_module(n) for n in names if "._" not in n)]
    for module in modules:
        values = [module, *(getattr(module, name) for name in getattr(module, "__all__", ()))]
        values += [member for v in values if inspect.isclass(v) for name, member in vars(v).items() if name[0] != "_"]
        for value in values:
            text = getattr(value, "__doc__", None)
            if isinstance(text, str) and ">>>" in text and text not in seen:
                seen.add(text)
                test = doctest.DocTestParser().get_doctest(text, {"wg": wg}, str(value), None, None)
                result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(test)
                assert result.failed == 0, value
                attempted += result.attempted
print("attempted", attempted)
"""


def test_examples(tmp_path):
    code, output = launch.run_program(1, PROGRAM, tmp_path)
    assert code == 0, output
    assert int(output.split("attempted")[1]) > 50
