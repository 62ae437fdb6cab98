"""Runs the cases of one module and seed, one after another, in this process."""

import argparse
import contextlib
import faulthandler
import gc
import importlib
import os
import resource
import sys
import warnings

LONGEST_CASE = float(os.environ.get("WENGERT_HOSTILE_SECONDS", "60"))
MEMORY = 4 << 30  # a size that happens to be possible must not be tried in earnest


def limit_memory():
    if "san.so" not in os.environ.get("LD_PRELOAD", ""):  # a sanitizer's shadow memory is larger than any limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(module, seed, count, only=None, first=0, note=lambda name: None):
    cases = importlib.import_module(f"tests.hostile.{module}").cases(seed, count)
    for number, (name, case) in enumerate(cases):
        if number < first or (only is not None and number != only):
            continue
        note(f"{number}: {name}")
        faulthandler.dump_traceback_later(LONGEST_CASE, exit=True)
        with contextlib.suppress(Exception, RecursionError):
            case()
        faulthandler.cancel_dump_traceback_later()
    note("the end")
    gc.collect()


def check_that_all_is_well():
    import wengert as wg

    x = wg.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--only", type=int, help="one case")
    parser.add_argument("--first", type=int, default=0, help="skip those before")
    parser.add_argument("--notes", help="file for the name of the case that runs")
    options = parser.parse_args()
    limit_memory()
    faulthandler.enable()
    warnings.simplefilter("ignore")
    notes = open(options.notes, "w") if options.notes else sys.stdout  # noqa: SIM115  (until the process ends)

    def note(name):
        if options.notes:
            notes.seek(0)
            notes.truncate()
        print(name.encode("ascii", "backslashreplace").decode(), file=notes, flush=True)

    run(options.module, options.seed, options.count, options.only, options.first, note)
    check_that_all_is_well()


if __name__ == "__main__":
    main()
