"""How sparse tensors are printed: indices and values, then what there is to say about the tensor, as PyTorch does."""

from __future__ import annotations

import re
from typing import Any

from wengert import _C
from wengert._overrides import DisableTorchFunctionSubclass

from ._pattern import COO, CSR


def text(tensor: Any) -> str:
    """Return what ``repr(tensor)`` is."""
    with DisableTorchFunctionSubclass():
        return _text(tensor)


def _text(tensor: Any) -> str:
    pattern, prefix = tensor._pattern, "tensor("
    values = tensor._stored
    if pattern.layout == COO:
        named = [("indices", tensor._indices())]
    elif pattern.layout == CSR:
        named = [("crow_indices", tensor.crow_indices()), ("col_indices", tensor.col_indices())]
    else:
        named = [("ccol_indices", tensor.ccol_indices()), ("row_indices", tensor.row_indices())]
    named.append(("values", values if _C._is_sample(values) else values.detach()))
    parts = [_indented(f"{name}=", part, len(prefix)) for name, part in named]
    facts = [f"size={tuple(tensor.shape)}", f"nnz={pattern.nnz}"]
    if tensor.device.type != "cpu":
        facts.insert(0, f"device='{tensor.device}'")
    default = _C.get_default_dtype()
    if tensor.dtype not in (default, _C.int64, _C.bool, default.to_complex()):
        facts.append(f"dtype={tensor.dtype}")
    facts.append(f"layout={tensor.layout}")
    if tensor.grad_fn is not None:
        facts.append(f"grad_fn=<{type(tensor.grad_fn).__name__}>")
    elif tensor.requires_grad:
        facts.append("requires_grad=True")
    body = (",\n" + " " * len(prefix)).join(parts)
    return prefix + _appended(body, facts, len(prefix), pattern.layout == COO) + ")"


def _indented(name: str, part: Any, indent: int) -> str:
    shown = re.sub(r",\s+(dtype|device)=[^,)]+", "", repr(part))  # said of the whole
    if part.numel() == 0 and part.ndim == 1 and "size=" not in shown:
        shown = shown.replace("[]", "[], size=(0,)", 1)
    return name + shown.replace("\n", "\n" + " " * (indent + len(name)))


def _appended(body: str, facts: list[str], indent: int, on_new_line: bool) -> str:
    width = 80
    length = len(body) - body.rfind("\n") - 1 + (indent if "\n" not in body else 0)
    for i, fact in enumerate(facts):
        if (i == 0 and on_new_line) or length + len(fact) + 3 > width:
            body += ",\n" + " " * indent + fact
            length = indent + len(fact)
        else:
            body += ", " + fact
            length += len(fact) + 2
    return body
