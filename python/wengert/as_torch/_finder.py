"""The import hook: finds ``torch`` and all modules below it, so that none comes from PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from ._absent import absent
from ._faces import Face, sources_of


class TorchFinder(MetaPathFinder):
    """Finds a face for every module of PyTorch that has a counterpart, and a placeholder for the others."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "torch":
            return None
        return ModuleSpec(fullname, _FaceLoader(), origin="wengert.as_torch", is_package=True)


class _FaceLoader(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        sources = sources_of(spec.name)
        return Face(spec.name, sources) if sources else absent(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: names are looked up when they are asked for."""
