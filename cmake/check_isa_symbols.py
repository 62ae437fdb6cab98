"""Fail if an object compiled for one instruction set defines a function that others may share.

The linker keeps one copy of an inline function or template that several objects define, whichever it meets
first. If that copy was compiled with AVX-512, the library crashes on every older processor. All such symbols
must therefore carry the instruction set in their name, by standing in `namespace ...::WENGERT_ISA`.

Usage: check_isa_symbols.py NM ISA OBJECT...
"""

import subprocess
import sys


def main() -> int:
    nm, isa, *objects = sys.argv[1:]
    own = f"{len(isa)}{isa}"  # the namespace, as the Itanium ABI mangles it
    listing = subprocess.run([nm, "-A", "--defined-only", *objects], check=True, capture_output=True, text=True)
    shared = sorted(
        line.rsplit(maxsplit=1)[1]
        for line in listing.stdout.splitlines()
        if line.rsplit(maxsplit=2)[1] in "WVu" and own not in line.rsplit(maxsplit=1)[1]
    )
    if shared:
        print(f"Objects compiled for {isa} define symbols that other objects may share:", *shared, sep="\n  ")
        print("Move them into the WENGERT_ISA namespace, or mark them static or always_inline.")
    return bool(shared)


if __name__ == "__main__":
    sys.exit(main())
