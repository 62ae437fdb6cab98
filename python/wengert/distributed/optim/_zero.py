"""Sharded optimizer state: each rank moves its share of the parameters, and sends them to the others.

All ranks hold all parameters and, after `DistributedDataParallel` has averaged them, the same gradients. What a rule
remembers (two numbers a parameter for Adam) exists once: on the rank that owns the parameter. A step is that of an
ordinary optimizer over the own ones, then one broadcast from each rank. S. Rajbhandari et al., ZeRO: Memory
Optimizations Toward Training Trillion Parameter Models (2020), stage 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as wg
from wengert._C import Tensor
from wengert.optim import Optimizer
from wengert.optim._state_dict import pack

from .._collectives import broadcast
from .._groups import rank_in, resolve
from .._objects import gather_object


class ZeroRedundancyOptimizer(Optimizer):
    """An optimizer that keeps on each rank the state of a share of the parameters.

    Parameters
    ----------
    params : iterable
        As for every optimizer, the same on all ranks.
    optimizer_class : type
        The rule, such as `wengert.optim.Adam`.
    process_group : ProcessGroup, optional
        Who shares; all ranks by default.
    parameters_as_bucket_view : bool, default False
        Whether parameters move into one block of memory for each owner, which saves a copy of each in every step.
    overlap_with_ddp : bool, default False
        Not supported.
    **defaults
        Arguments of the rule.

    Raises
    ------
    ValueError
        If this rank is not in the group, or `overlap_with_ddp` is set.

    Examples
    --------
    >>> import wengert as wg
    >>> import wengert.distributed as dist
    >>> from wengert.distributed.optim import ZeroRedundancyOptimizer
    >>> dist.init_process_group("mpi")
    >>> x = wg.ones(2, requires_grad=True)
    >>> optimizer = ZeroRedundancyOptimizer([x], wg.optim.SGD, lr=0.5)
    >>> x.sum().backward()
    >>> optimizer.step()
    >>> x.tolist()
    [0.5, 0.5]
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        params: Any,
        optimizer_class: Any,
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        if overlap_with_ddp:
            raise ValueError(
                "[ZeroRedundancyOptimizer] steps are not taken inside the backward pass; call step() after"
            )
        group = resolve("ZeroRedundancyOptimizer", process_group)
        if group is None:
            raise ValueError("[ZeroRedundancyOptimizer] this rank is not in process_group")
        self.process_group = group
        self.optim: Optimizer | None = None
        self._as_views = parameters_as_bucket_view
        self._owner: dict[Tensor, int] = {}  # rank in the group
        self._loads = [0] * group.size()
        self._buckets: list[tuple[int, Tensor | None, list[Tensor]]] | None = None
        self._consolidated: dict[str, Any] | None = None
        super().__init__(params, defaults)
        self.optim = optimizer_class([self._own_part(g) for g in self.param_groups], **defaults)
        for own, whole in zip(self.optim.param_groups, self.param_groups, strict=True):
            _copy_settings(own, whole)  # what the rule takes by default
        self.state = self.optim.state

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters, which go to the ranks that have least. Arguments are those of every optimizer."""
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        for param in sorted(group["params"], key=lambda p: -p.numel()):
            self._owner[param] = self._loads.index(min(self._loads))
            self._loads[self._owner[param]] += param.numel()
        self._buckets = None
        if self.optim is not None:
            self.optim.add_param_group(self._own_part(group))
            _copy_settings(self.optim.param_groups[-1], group)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move the own parameters, and fetch those of the others.

        Parameters
        ----------
        closure : callable, optional
            Evaluates the model again and returns the loss.

        Returns
        -------
        loss
            What `closure` returned, or None without one.
        """
        rule = self._rule
        for own, whole in zip(rule.param_groups, self.param_groups, strict=True):
            _copy_settings(whole, own)
        loss = rule.step(closure) if closure is not None else rule.step()
        for own, whole in zip(rule.param_groups, self.param_groups, strict=True):
            _copy_settings(own, whole)
        self._exchange()
        return loss

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Bring the state of all ranks to one, where `state_dict` then returns it. All ranks call this.

        Parameters
        ----------
        to : int, default 0
            The rank, in the world.
        """
        target = rank_in("consolidate_state_dict", self.process_group, to, None, 0)
        here = self.process_group.rank() == target
        gathered: list[Any] | None = [None] * self.process_group.size() if here else None
        positions = {param: at for at, param in enumerate(self._all_params())}
        own = {positions[param]: entries for param, entries in self._rule.state.items()}
        gather_object(own, gathered, group=self.process_group, group_dst=target)
        self._consolidated = None
        if gathered is not None:
            self._consolidated = pack(self.param_groups, self.state)
            merged = {at: entries for part in gathered for at, entries in part.items()}
            self._consolidated["state"] = dict(sorted(merged.items()))

    def state_dict(self) -> dict[str, Any]:
        """Return what `consolidate_state_dict` has brought here: that of an optimizer which has all parameters.

        Raises
        ------
        RuntimeError
            If it has not been called since the last step, with this rank as its target.
        """
        if self._consolidated is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call `consolidate_state_dict(to="
                f"{self.process_group.ranks[self.process_group.rank()]})` on all ranks beforehand if you meant to save "
                "the global state."
            )
        return self._consolidated

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take from a state of all parameters what belongs to the own ones. All ranks load the same.

        Parameters
        ----------
        state_dict : dict
            Of this class or of the rule by itself.

        Raises
        ------
        ValueError
            If the numbers of groups, or of parameters in a group, differ.
        """
        sizes = [len(group["params"]) for group in state_dict["param_groups"]]
        if sizes != [len(group["params"]) for group in self.param_groups]:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        for whole, saved in zip(self.param_groups, state_dict["param_groups"], strict=True):
            _copy_settings(saved, whole)
        rule, params = self._rule, self._all_params()
        own = {param: at for at, param in enumerate(p for group in rule.param_groups for p in group["params"])}
        local = pack(rule.param_groups, rule.state)
        local["state"] = {own[params[at]]: e for at, e in state_dict["state"].items() if params[at] in own}
        for part, saved in zip(local["param_groups"], state_dict["param_groups"], strict=True):
            _copy_settings(saved, part)
        rule.load_state_dict(local)
        self.state = rule.state

    @property
    def _rule(self) -> Optimizer:
        assert self.optim is not None
        return self.optim

    def _all_params(self) -> list[Tensor]:
        return [param for group in self.param_groups for param in group["params"]]

    def _own_part(self, group: dict[str, Any]) -> dict[str, Any]:
        own = self.process_group.rank()
        part = {name: value for name, value in group.items() if name not in ("params", "param_names")}
        return {"params": [param for param in group["params"] if self._owner[param] == own], **part}

    def _exchange(self) -> None:
        """Send the own parameters to all others, and take theirs."""
        self._consolidated = None
        if self._buckets is None:
            self._buckets = self._make_buckets()
        with wg.no_grad():
            begun = []
            for owner, block, params in self._buckets:
                flat = block if block is not None else wg.cat([param.detach().reshape(-1) for param in params])
                begun.append((broadcast(flat, group=self.process_group, group_src=owner, async_op=True), owner, flat))
            for (work, owner, flat), (_, block, params) in zip(begun, self._buckets, strict=True):
                if work is not None:
                    work.wait()
                if block is None and owner != self.process_group.rank():
                    for param, part in zip(params, flat.split([p.numel() for p in params]), strict=True):
                        param.copy_(part.view(param.shape))
                elif block is not None:
                    wg.autograd.graph.increment_version(params)

    def _make_buckets(self) -> list[tuple[int, Tensor | None, list[Tensor]]]:
        found: dict[tuple[int, Any, str], list[Tensor]] = {}
        for param in self._all_params():
            found.setdefault((self._owner[param], param.dtype, str(param.device)), []).append(param)
        return [
            (owner, _one_block(params) if self._as_views else None, params) for (owner, _, _), params in found.items()
        ]


def _copy_settings(source: dict[str, Any], target: dict[str, Any]) -> None:
    for name, value in source.items():
        if name not in ("params", "param_names"):
            target[name] = value


def _one_block(params: list[Tensor]) -> Tensor:
    """Move parameters into one block of memory, and return it."""
    block = wg.cat([param.detach().reshape(-1) for param in params])
    for param, part in zip(params, block.split([p.numel() for p in params]), strict=True):
        param.data = part.view(param.shape)
    return block
