"""python -m codegen --table ops --out build/generated [--list-outputs | --device]"""

from __future__ import annotations

import argparse
import gzip
import sys
from pathlib import Path

from .generate import device_texts, generate, output_paths
from .schema import RowError


def main() -> int:
    parser = argparse.ArgumentParser(prog="codegen", description=__doc__)
    parser.add_argument("--table", type=Path, required=True, help="the directory of the *.yaml files")
    parser.add_argument("--out", type=Path, required=True, help="where to write")
    parser.add_argument("--list-outputs", action="store_true", help="print the outputs, write nothing")
    parser.add_argument("--device", action="store_true", help="write the elementwise kernels as CUDA, nothing else")
    options = parser.parse_args()
    try:
        if options.list_outputs:
            print(*output_paths(options.table), sep="\n")
            return 0
        texts = device_texts(options.table) if options.device else generate(options.table)
    except RowError as error:
        print(f"codegen: {error}", file=sys.stderr)
        return 1
    for name, text in texts.items():
        path = options.out / name
        content = gzip.compress(text.encode(), mtime=0) if path.suffix == ".gz" else text.encode()
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
