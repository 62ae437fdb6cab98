"""Classes of tensors with `__torch_dispatch__` such as people write for PyTorch, each as a function of the package."""

from importlib import import_module


def tools(tc):
    """Return the package's modules of trees and of dispatch."""
    return import_module(f"{tc.__name__}.utils._pytree"), import_module(f"{tc.__name__}.utils._python_dispatch")


def inner_class(tc):
    """A tensor around another one, on which it runs everything."""
    tree, dispatch = tools(tc)

    class Inner(tc.Tensor):
        __torch_function__ = tc._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, elem):
            return tc.Tensor._make_wrapper_subclass(
                cls,
                elem.size(),
                strides=elem.stride(),
                storage_offset=elem.storage_offset(),
                dtype=elem.dtype,
                device=elem.device,
                requires_grad=elem.requires_grad,
            )

        def __init__(self, elem):
            self.elem = elem.detach()

        def __repr__(self):
            return f"Inner({self.elem})"

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            def unwrap(value):
                return value.elem if isinstance(value, cls) else value

            def wrap(value):
                return cls(value) if isinstance(value, tc.Tensor) and not isinstance(value, cls) else value

            out = func(*tree.tree_map(unwrap, args), **tree.tree_map(unwrap, kwargs or {}))
            out = tree.tree_map(wrap, out)
            return dispatch.return_and_correct_aliasing(func, args, kwargs, out)

    return Inner


def logging_class(tc, log):
    """A tensor that writes down the names of the operations that it meets."""
    inner = inner_class(tc)

    class Logging(inner):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log.append(func.name().partition("::")[2].partition(".")[0])
            return super().__torch_dispatch__(func, types, args, kwargs)

    return Logging


def unit_class(tc):
    """A tensor with a power of a unit: products add powers, sums want equal ones."""
    tree, _ = tools(tc)
    aten = tc.ops.aten

    class Quantity(tc.Tensor):
        __torch_function__ = tc._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, value, power):
            return tc.Tensor._make_wrapper_subclass(
                cls, value.size(), dtype=value.dtype, requires_grad=value.requires_grad
            )

        def __init__(self, value, power):
            self.value, self.power = value.detach(), power

        def __repr__(self):
            return f"Quantity({self.value}, m^{self.power})"

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            powers = [a.power if isinstance(a, cls) else 0 for a in args]
            packet = func.overloadpacket
            if packet in (aten.mul, aten.mul_):
                power = sum(powers)
            elif packet is aten.div:
                power = powers[0] - powers[1]
            elif packet in (aten.add, aten.sub):
                if powers[0] != powers[1]:
                    raise ValueError(f"cannot add m^{powers[0]} and m^{powers[1]}")
                power = powers[0]
            else:
                power = powers[0]
            values = tree.tree_map(lambda a: a.value if isinstance(a, cls) else a, (args, kwargs or {}))
            return tree.tree_map(
                lambda r: cls(r, power) if isinstance(r, tc.Tensor) else r, func(*values[0], **values[1])
            )

    return Quantity


def stored_class(tc):
    """A float tensor whose elements are kept as multiples of a step, in integers."""
    tree, _ = tools(tc)

    class Stored(tc.Tensor):
        __torch_function__ = tc._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, codes, step, requires_grad=False):
            return tc.Tensor._make_wrapper_subclass(cls, codes.size(), dtype=tc.float32, requires_grad=requires_grad)

        def __init__(self, codes, step, requires_grad=False):
            self.codes, self.step = codes, step

        @classmethod
        def of(cls, values, step=0.25, requires_grad=False):
            return cls(tc.round(values / step).to(tc.int32), step, requires_grad)

        def values(self):
            return self.codes.to(tc.float32) * self.step

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            if func.overloadpacket in (tc.ops.aten.detach, tc.ops.aten.clone):
                return cls(args[0].codes.clone(), args[0].step)
            args, kwargs = tree.tree_map(lambda a: a.values() if isinstance(a, cls) else a, (args, kwargs or {}))
            return func(*args, **kwargs)

    return Stored


def masked_class(tc):
    """A tensor with a mask: reductions leave out what is masked."""
    aten = tc.ops.aten

    class Masked(tc.Tensor):
        __torch_function__ = tc._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, data, mask, requires_grad=False):
            return tc.Tensor._make_wrapper_subclass(cls, data.size(), dtype=data.dtype, requires_grad=requires_grad)

        def __init__(self, data, mask, requires_grad=False):
            self.data_, self.mask = data, mask

        def filled(self):
            return tc.where(self.mask, self.data_, tc.zeros_like(self.data_))

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            first = next(a for a in args if isinstance(a, cls))
            plain = [a.filled() if isinstance(a, cls) else a for a in args]
            if func.overloadpacket in (aten.mul, aten.add, aten.exp, aten.detach, aten.clone, aten.neg):
                mask = first.mask
                for a in args:
                    if isinstance(a, cls):
                        mask = mask & a.mask
                return cls(func(*plain, **kwargs), mask)
            if func.overloadpacket in (aten.sum, aten.expand, aten.ones_like):
                return func(*plain, **kwargs)
            return NotImplemented

    return Masked


def two_tensor_class(tc):
    """The pair of tensors of PyTorch's tests: everything is computed for both."""
    tree, dispatch = tools(tc)

    class TwoTensor(tc.Tensor):
        @staticmethod
        def __new__(cls, a, b, outer_size=None, outer_stride=None):
            assert (a.device, a.dtype, a.shape, a.stride()) == (b.device, b.dtype, b.shape, b.stride())
            return tc.Tensor._make_wrapper_subclass(
                cls,
                a.size() if outer_size is None else outer_size,
                strides=a.stride() if outer_stride is None else outer_stride,
                storage_offset=a.storage_offset(),
                dtype=a.dtype,
                layout=a.layout,
                device=a.device,
                requires_grad=a.requires_grad,
            )

        def __init__(self, a, b, outer_size=None, outer_stride=None):
            self.a, self.b = a, b

        def __repr__(self):
            return f"TwoTensor({self.a!r}, {self.b!r})"

        def __tensor_flatten__(self):
            return ["a", "b"], None

        @staticmethod
        def __tensor_unflatten__(inner, meta, outer_size, outer_stride):
            return TwoTensor(inner["a"], inner["b"], outer_size, outer_stride)

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            def run(name):
                pick = tree.tree_map(lambda v: getattr(v, name) if isinstance(v, cls) else v, (args, kwargs or {}))
                return func(*pick[0], **pick[1])

            (left, spec), right = tree.tree_flatten(run("a")), tree.tree_flatten(run("b"))[0]
            pairs = [cls(x, y) if isinstance(x, tc.Tensor) else x for x, y in zip(left, right, strict=True)]
            out = tree.tree_unflatten(pairs, spec)
            return dispatch.return_and_correct_aliasing(func, args, kwargs, out)

    return TwoTensor
