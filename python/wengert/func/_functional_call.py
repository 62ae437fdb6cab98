"""Modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import wengert
from wengert.autograd._modes.context import Block


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in place of its parameters and buffers.

    Parameters
    ----------
    module : Module
        What to call.
    parameter_and_buffer_dicts : dict or sequence of dict
        Tensors by the names of ``named_parameters()`` and ``named_buffers()``; what is not named keeps its value.
    args : any or tuple, optional
        The argument, or all positional arguments, of the call.
    kwargs : dict, optional
        Its keyword arguments.
    tie_weights : bool, default True
        Whether a tensor given for one name of a shared parameter stands for all of its names.
    strict : bool, default False
        Whether names must be exactly those of the module.

    Returns
    -------
    any
        What the module returns.

    Raises
    ------
    ValueError
        If the dicts are no dicts, a name comes in two of them, or names that are tied get different tensors.
    RuntimeError
        If `strict` finds missing or unknown names.
    """
    given = _merged(parameter_and_buffer_dicts)
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    places = _places(module)
    if strict:
        _check_names(module, places, given)
    values = {name: tensor for name, tensor in given.items() if name in places}
    if tie_weights:
        values = _with_tied_names(places, values)
    with Block(_replace, places, values, given):
        return module(*arguments, **(kwargs or {}))


def _merged(dicts: Any) -> dict[str, Any]:
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}"
        )
    if not all(isinstance(d, dict) for d in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    names = [name for d in dicts for name in d]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {name: tensor for d in dicts for name, tensor in d.items()}


def _places(module: Any) -> dict[str, tuple[dict[str, Any], str]]:
    """Return where each parameter and buffer is kept: all names, also of shared ones."""
    return {
        prefix + name: (kept, name)
        for prefix, owner in _modules(module)
        for kept in (owner._parameters, owner._buffers)
        for name, tensor in kept.items()
        if tensor is not None
    }


def _modules(root: Any) -> Iterator[tuple[str, Any]]:
    """Yield a module and those inside of it, each with what stands before the names of its parameters."""
    waiting = [("", root)]
    while waiting:
        prefix, module = waiting.pop()
        if hasattr(module, "_own_registries"):  # of `wengert.nn.Module`: what is written there is seen as an attribute
            module._own_registries()
        yield prefix, module
        waiting += [(f"{prefix}{name}.", child) for name, child in module._modules.items() if child is not None]


def _replace(block: Block, places: Any, values: dict[str, Any], given: dict[str, Any]) -> None:
    for name in values:
        kept, key = places[name]
        block.undo(kept.__setitem__, key, kept[key])
    block.undo(_tell_of_new_buffers, places, values, given)
    for name, tensor in values.items():
        kept, key = places[name]
        kept[key] = tensor


def _tell_of_new_buffers(places: Any, values: dict[str, Any], given: dict[str, Any]) -> None:
    """Let the caller's dict have what the module has assigned."""
    for name, value in values.items():
        kept, key = places[name]
        if name in given and kept[key] is not value:
            given[name] = kept[key]


def _check_names(module: Any, places: Any, given: Any) -> None:
    problems = []
    for what, names in (("Unexpected", given.keys() - places.keys()), ("Missing", places.keys() - given.keys())):
        if names:
            problems.append(f"{what} key(s): {', '.join(repr(name) for name in sorted(names))}.")
    if problems:
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(problems))


def _with_tied_names(places: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Return `values` with the other names of each shared tensor."""
    names_of: dict[int, list[str]] = {}
    for name, (kept, key) in places.items():
        names_of.setdefault(id(kept[key]), []).append(name)
    tied = dict(values)
    for names in names_of.values():
        named = [name for name in names if name in values]
        if not named or len(names) == 1:
            continue
        if any(values[name] is not values[named[0]] for name in named):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(named)}, which are tied. Consider using "
                "tie_weights=False"
            )
        tied.update(dict.fromkeys(names, values[named[0]]))
    return tied


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters and the buffers of several models of one class, stacked along a new first dimension.

    With `functional_call` and `vmap` they make an ensemble that runs as one.

    Returns
    -------
    parameters, buffers
        Dicts of tensors; stacked parameters are leaves that require grad as those of the models do.

    Raises
    ------
    RuntimeError
        If there is no model, or their classes or training modes differ.
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(model.training != models[0].training for model in models):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    return (
        {name: _stacked([each[name] for each in parameters]) for name in parameters[0]},
        {name: _stacked([each[name] for each in buffers]) for name in buffers[0]},
    )


def _stacked(tensors: list[Any]) -> Any:
    requires_grad = {tensor.requires_grad for tensor in tensors}
    if len(requires_grad) > 1:
        raise RuntimeError("Expected tensors from each model to have the same .requires_grad")
    if requires_grad.pop():
        return wengert.stack([tensor.detach() for tensor in tensors]).requires_grad_()
    return wengert.stack(tensors)


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Make the batch normalisations of a module use the statistics of each batch only, in place; returns the module.

    Running statistics, which every sample would update, have no meaning under vmap.
    """
    for _, module in _modules(root):
        if "BatchNorm" in type(module).__name__ and hasattr(module, "track_running_stats"):
            module.track_running_stats = False
            module.running_mean = module.running_var = module.num_batches_tracked = None
    return root
