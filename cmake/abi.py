"""Write what says for which headers a binary was built: generated/base/abi.h and the linker's version script.

The number is a hash of all headers that are installed, so that an extension built with other ones is refused
(src/base/abi.h). Files are rewritten only when they change.

Usage: abi.py VERSION SETTINGS ABI_H VERSION_SCRIPT HEADER...; SETTINGS are literals of C++ (src/base/abi_settings.h).
"""

import hashlib
import sys
from pathlib import Path

ABI_H = """// Written by cmake/abi.py.
#pragma once

#define WENGERT_VERSION "{version}"
#define WENGERT_ABI_HEADERS "{number}"
#define WENGERT_BUILT_SETTINGS {settings}
"""

# Nothing of the standard library, and no copy of `operator new`. Itanium's names: members of namespace wengert, const
# or not, the types in it, and its thread-local variables.
VERSION_SCRIPT = """wengert_{version}_{number} {{
  global:
    _ZN7wengert*; _ZNK7wengert*; _ZTIN7wengert*; _ZTSN7wengert*; _ZTVN7wengert*; _ZTHN7wengert*; _ZTWN7wengert*;
  local: *;
}};
"""


def main() -> None:
    version, settings, abi_h, version_script, *headers = sys.argv[1:]
    digest = hashlib.sha256()
    for header in sorted(headers, key=lambda path: (Path(path).name, Path(path).read_bytes())):
        digest.update(Path(header).name.encode() + b"\0" + Path(header).read_bytes() + b"\0")
    number = digest.hexdigest()[:12]
    for path, text in ((abi_h, ABI_H), (version_script, VERSION_SCRIPT)):
        text = text.format(version=version, number=number, settings=settings)
        out = Path(path)
        if not out.exists() or out.read_text() != text:
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(text)


if __name__ == "__main__":
    main()
