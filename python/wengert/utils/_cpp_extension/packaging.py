"""Extensions in packages that setuptools builds."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import setuptools  # type: ignore[import-untyped, unused-ignore]
from setuptools.command.build_ext import build_ext  # type: ignore[import-untyped, unused-ignore]

from . import compiler
from .paths import include_paths, library_paths


def CppExtension(name: str, sources: Sequence[str], **kwargs: Any) -> setuptools.Extension:  # noqa: N802
    """Return an extension in C++ for ``setup(ext_modules=[...])``.

    It is built by `BuildExtension`, whatever flags it gets. The extension finds the library of the wengert that is
    installed beside it, in the same ``site-packages``, or where it was when the extension was built.

    Parameters
    ----------
    name : str
        The full name of the module, which `WENGERT_MODULE` in the sources defines by its last part; there
        ``WENGERT_EXTENSION_NAME`` stands for it.
    sources : sequence of str
        Files of C++.
    **kwargs
        More arguments of `setuptools.Extension`.

    Examples
    --------
    In ``setup.py``::

        from setuptools import setup
        from wengert.utils.cpp_extension import BuildExtension, CppExtension

        setup(name="shop", ext_modules=[CppExtension("shop._ops", ["ops.cpp"])], cmdclass={"build_ext": BuildExtension})
    """
    kwargs["include_dirs"] = [*include_paths(), *kwargs.get("include_dirs", [])]
    kwargs["library_dirs"] = [*library_paths(), *kwargs.get("library_dirs", [])]
    kwargs["libraries"] = [*kwargs.get("libraries", []), "wengert"]
    if sys.platform == "linux":
        up = "/.." * name.count(".")
        beside = f"-Wl,-rpath,$ORIGIN{up}/wengert/lib"
        found = [f"-Wl,-rpath,{folder}" for folder in library_paths()]
        kwargs["extra_link_args"] = [beside, *found, *kwargs.get("extra_link_args", [])]
    kwargs["language"] = "c++"
    return setuptools.Extension(name, list(sources), **kwargs)


class BuildExtension(build_ext):  # type: ignore[misc, unused-ignore]
    """The ``build_ext`` of setuptools, with the flags that wengert's headers need.

    Examples
    --------
    ``cmdclass={"build_ext": BuildExtension}``, or with options ``BuildExtension.with_options(parallel=4)``.
    """

    @classmethod
    def with_options(cls, **options: Any) -> type[BuildExtension]:
        """Return a class whose objects have these attributes."""

        class WithOptions(cls):  # type: ignore[misc, valid-type]
            def finalize_options(self) -> None:
                super().finalize_options()
                for option, value in options.items():
                    setattr(self, option, value)

        return WithOptions

    def build_extension(self, ext: setuptools.Extension) -> None:
        """Build one extension."""
        given = ext.extra_compile_args
        last = ext.name.rpartition(".")[2]
        ext.extra_compile_args = [*compiler.COMPILE, f"-DWENGERT_EXTENSION_NAME={last}", *given]
        try:
            super().build_extension(ext)
        finally:
            ext.extra_compile_args = given

    def build_extensions(self) -> None:
        """Build all extensions with the compiler that `load` takes."""
        if os.name == "posix":
            command = compiler.find_compiler()
            linker = [*command, *compiler.LINK]
            wanted = dict.fromkeys(("compiler_so", "compiler_so_cxx", "compiler_cxx"), command)
            wanted |= dict.fromkeys(("linker_so", "linker_so_cxx"), linker)
            known = self.compiler.executables  # those for C++ came with setuptools 72
            self.compiler.set_executables(**{key: value for key, value in wanted.items() if key in known})
        super().build_extensions()
