"""`load` and `load_inline`: compile, link, import; or import what was built before."""

from __future__ import annotations

import concurrent.futures
import ctypes
import importlib.machinery
import importlib.util
import os
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from wengert import _C

from . import cache, compiler
from .paths import get_default_build_root

Texts = str | Sequence[str]
File = str | os.PathLike[str]

_SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
_loaded: dict[Path, Any] = {}


def load(
    name: str,
    sources: File | Sequence[File],
    extra_cflags: Sequence[str] | None = None,
    *,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[File] | None = None,
    build_directory: File | None = None,
    verbose: bool = False,
    is_python_module: bool = True,
) -> Any:
    """Build an extension from source files and import it.

    What was built is kept, and built again only when its sources, what they include, the flags, the compiler or the
    installed wengert have changed. Several processes may ask for the same at once: one of them builds.

    Parameters
    ----------
    name : str
        The name of the module, which `WENGERT_MODULE` in the sources defines; ``WENGERT_EXTENSION_NAME`` stands for it.
    sources : path or sequence of paths
        Files of C++.
    extra_cflags, extra_ldflags : sequence of str, optional
        More flags for compiling, and for linking.
    extra_include_paths : sequence of paths, optional
        More folders with headers.
    build_directory : path, optional
        Where to build; `get_default_build_root` says where else.
    verbose : bool
        Print the commands and what they write.
    is_python_module : bool
        If False, the library is loaded into the process and its path returned.

    Returns
    -------
    module or str
        The module.

    Raises
    ------
    RuntimeError
        If there is no compiler, or it refuses the sources.
    ImportError
        If the module cannot be imported.

    See Also
    --------
    load_inline : C++ from a string, with an example.
    """
    files = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
    paths = [Path(file).absolute() for file in files]
    texts = [path.read_text() for path in paths]
    if not name.isidentifier():
        raise ValueError(f"the name of an extension is that of a module, got {name!r}")

    command = compiler.find_compiler()
    flags = compiler.compile_flags(extra_cflags or (), extra_include_paths or ())
    flags.append(f"-DWENGERT_EXTENSION_NAME={name}")
    linking = compiler.link_flags(extra_ldflags or ())
    identity = compiler.identity(tuple(command))
    key = cache.digest([_C._abi, _SUFFIX, *command, identity, *flags, "", *linking, "", *map(str, paths), *texts])

    folder = Path(build_directory or get_default_build_root()) / f"{name}_{key}"
    with cache.locked(folder):
        library = cache.built(folder)
        if library is None:
            try:
                library = _build(name, paths, folder, command, flags, linking, verbose)
            except RuntimeError as error:
                raise RuntimeError(f"Error building extension {name!r}: {error}") from None
    if library not in _loaded:
        _loaded[library] = _import(name, library) if is_python_module else ctypes.CDLL(str(library))
    return _loaded[library] if is_python_module else str(library)


def _build(
    name: str,
    sources: Sequence[Path],
    folder: Path,
    command: list[str],
    flags: list[str],
    linking: list[str],
    verbose: bool,
) -> Path:
    with tempfile.TemporaryDirectory(dir=folder) as work:
        objects = [Path(work, f"{i}.o") for i in range(len(sources))]

        def compile_one(source: Path, made: Path) -> None:
            notes = ["-MMD", "-MF", str(made.with_suffix(".d"))]
            compiler.run([*command, *flags, *notes, "-c", str(source), "-o", str(made)], verbose)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_one, sources, objects))
        made = Path(work, "linked")
        compiler.run([*command, *compiler.LINK, *map(str, objects), *linking, "-o", str(made)], verbose)
        read = [file for o in objects for file in compiler.dependencies(o.with_suffix(".d"))]
        dependencies = cache.hashes(read)
        library = folder / cache.digest(dependencies.values()) / f"{name}{_SUFFIX}"
        library.parent.mkdir(exist_ok=True)
        made.replace(library)
    cache.note(folder, str(library.relative_to(folder)), dependencies)
    return library


def _import(name: str, library: Path) -> ModuleType:
    loader = importlib.machinery.ExtensionFileLoader(name, str(library))
    spec = importlib.util.spec_from_file_location(name, library, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def load_inline(
    name: str,
    cpp_sources: Texts,
    functions: str | Sequence[str] | Mapping[str, str] | None = None,
    extra_cflags: Sequence[str] | None = None,
    *,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[File] | None = None,
    build_directory: File | None = None,
    verbose: bool = False,
    is_python_module: bool = True,
    no_implicit_headers: bool = False,
) -> Any:
    """Build an extension from C++ text and import it.

    Parameters
    ----------
    name : str
        The name of the module.
    cpp_sources : str or sequence of str
        C++. ``<wengert/extension.h>`` is included before it.
    functions : str, sequence of str, or mapping of str to str, optional
        Names of functions in the text that the module shall have; a mapping gives each its docstring. Without it the
        text says itself what the module has, with `WENGERT_MODULE`.
    extra_cflags, extra_ldflags, extra_include_paths, build_directory, verbose, is_python_module
        As `load` takes them.
    no_implicit_headers : bool
        Include nothing by itself.

    Returns
    -------
    module or str
        The module.

    Raises
    ------
    RuntimeError
        If there is no compiler, or it refuses the text.

    Examples
    --------
    A function of tensors is differentiable by what it is made of::

        module = load_inline("example", '''
            wengert::Tensor softened(const wengert::Tensor& x, double by) { return (x * x + by).sqrt(); }
        ''', functions=["softened"])
        module.softened(wengert.randn(3, requires_grad=True), 0.1).sum().backward()
    """
    texts = [cpp_sources] if isinstance(cpp_sources, str) else list(cpp_sources)
    parts = [] if no_implicit_headers else ["#include <wengert/extension.h>"]
    parts += texts
    if functions is not None:
        names = [functions] if isinstance(functions, str) else functions
        documented = names if isinstance(names, Mapping) else dict.fromkeys(names, "")
        parts.append(_module_of(documented))
    text = "\n".join(parts) + "\n"

    root = Path(build_directory or get_default_build_root())
    source = root / "sources" / f"{name}_{cache.digest([text])}.cpp"
    if not source.exists():
        source.parent.mkdir(parents=True, exist_ok=True)
        written = source.with_suffix(f".{os.getpid()}")
        written.write_text(text)
        written.replace(source)
    return load(
        name,
        source,
        extra_cflags,
        extra_ldflags=extra_ldflags,
        extra_include_paths=extra_include_paths,
        build_directory=build_directory,
        verbose=verbose,
        is_python_module=is_python_module,
    )


def _module_of(documented: Mapping[str, str]) -> str:
    """Return the C++ of a module with these functions."""
    lines = [f"    m.def({_literal(each)}, &{each}, {_literal(doc)});" for each, doc in documented.items()]
    return "\n".join(["WENGERT_MODULE(WENGERT_EXTENSION_NAME, m) {", *lines, "}"])


def _literal(text: str) -> str:
    """Return a text as C++ writes it; each byte that is not plain as an octal number, which ends after three digits."""
    plain = (chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode())
    return '"' + "".join(plain) + '"'
