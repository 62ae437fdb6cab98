// Attributes of Tensor: one line each where nothing needs checking.
#include "generated/ops/complex.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "graph/autograd_meta.h"
#include "graph/batched.h"
#include "graph/grad_mode.h"
#include "kernels/on_host.h"
#include "ops/batching/error.h"
#include "ops/hooks.h"
#include "ops/recording.h"
#include "python/arguments/convert.h"
#include "python/arguments/overrides.h"
#include "python/autograd/hooks.h"
#include "python/autograd/nodes/node_object.h"
#include "python/exceptions.h"
#include "python/objects/device_object.h"
#include "python/objects/dtype_object.h"
#include "python/objects/size_object.h"
#include "python/objects/tensor_type.h"

namespace wengert::python {
namespace {

// A getter from a function of the tensor; subclasses that override are asked first. `batches`: what reads geometry only, or
// runs operations, is as right for a sample of a batch.
template <auto Function, Batches batches = Batches::Override>
PyObject* get(PyObject* self, void* name) noexcept {
    if (overrides(self, batches)) [[unlikely]] {
        PyRef descriptor(
            PyObject_GetAttrString(reinterpret_cast<PyObject*>(TensorType), static_cast<const char*>(name)));
        PyRef getter(descriptor ? PyObject_GetAttrString(descriptor.get(), "__get__") : nullptr);
        PyRef args(PyTuple_Pack(1, self));
        return getter && args ? call_override(getter.get(), args.get(), nullptr, batches) : nullptr;
    }
    return guarded([&]() -> PyObject* { return Function(tensor_of(self)); });
}

PyObject* shape(const Tensor& t) { return size_from(t.sizes()); }
PyObject* dtype(const Tensor& t) { return wrap(t.dtype()); }
PyObject* device(const Tensor& t) { return wrap(t.device()); }
PyObject* ndim(const Tensor& t) { return wrap(t.dim()); }
PyObject* layout(const Tensor& t) { return wrap(layout_of(t)); }
PyObject* is_sparse_coo(const Tensor& t) { return wrap(layout_of(t) == Layout::SparseCoo); }
PyObject* is_sparse_csr(const Tensor& t) { return wrap(layout_of(t) == Layout::SparseCsr); }
PyObject* itemsize(const Tensor& t) { return wrap(item_size(t.dtype())); }
PyObject* nbytes(const Tensor& t) { return wrap(t.numel() * item_size(t.dtype())); }
// NumPy's, in bytes: what packages look at that take an array's layout apart.
PyObject* strides(const Tensor& t) {
    PyRef tuple(checked(PyTuple_New(t.dim())));
    for (size_t d = 0; d < t.strides().size(); ++d)
        PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(d),
                         PyLong_FromLongLong(t.strides()[d] * item_size(t.dtype())));
    return tuple.release();
}
PyObject* is_cpu(const Tensor& t) { return wrap(t.device().type == DeviceType::Cpu); }
PyObject* is_meta(const Tensor& t) { return wrap(t.device().type == DeviceType::Meta); }
PyObject* no(const Tensor&) { return wrap(false); }

// --- Views
PyObject* transposed(const Tensor& t) {
    if (t.dim() == 2) return wrap(ops::transpose(t, 0, 1));
    if (t.dim() != 0 && t.dim() != 1)
        warn(WarningKind::Deprecation,
             "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated. Consider "
             "`x.mT` "
             "to transpose batches of matrices or `x.permute(*range(x.ndim - 1, -1, -1))`.");
    Dims reversed;
    for (int64_t d = t.dim() - 1; d >= 0; --d) reversed.push_back(d);
    return wrap(ops::permute(t, reversed));
}
PyObject* matrix_transposed(const Tensor& t) {
    if (t.dim() == 0) return wrap(t);
    check(t.dim() >= 2, ErrorKind::Runtime, "tensor.mT is only supported on matrices or batches of matrices. Got ",
          t.dim(), "-D tensor.");
    return wrap(ops::transpose(t, -2, -1));
}
PyObject* adjoint(const Tensor& t) {
    Tensor m = ops::transpose(t, -2, -1);
    return wrap(is_complex(t.dtype()) ? ops::conj(m) : m);
}
PyObject* matrix_adjoint(const Tensor& t) {
    if (t.dim() == 0) return wrap(is_complex(t.dtype()) ? ops::conj(t) : t);
    check(t.dim() >= 2, ErrorKind::Runtime, "tensor.mH is only supported on matrices or batches of matrices. Got ",
          t.dim(), "-D tensor.");
    return adjoint(t);
}
PyObject* hermitian(const Tensor& t) {
    check(t.dim() == 0 || t.dim() == 2, ErrorKind::Runtime,
          "tensor.H is only supported on matrices (2-D tensors). Got ", t.dim(),
          "-D tensor. Consider tensor.mH for batches of matrices.");
    return t.dim() == 0 ? wrap(t) : adjoint(t);
}
PyObject* real_part(const Tensor& t) { return wrap(is_complex(t.dtype()) ? ops::real(t) : t); }
void check_has_imaginary_part(const Tensor& t) {
    if (!is_complex(t.dtype())) throw AbsentAttribute("imag is not implemented for tensors with non-complex dtypes.");
}
PyObject* imaginary_part(const Tensor& t) {
    check_has_imaginary_part(t);
    return wrap(ops::imag(t));
}

// --- Autograd
PyObject* get_requires_grad(const Tensor& t) { return wrap(requires_grad(t)); }
PyObject* get_is_leaf(const Tensor& t) { return wrap(is_leaf(t)); }
PyObject* get_output_nr(const Tensor& t) { return wrap(int64_t{output_nr(t)}); }
PyObject* get_grad_fn(const Tensor& t) { return wrap_node(grad_fn(t)); }
PyObject* get_retains_grad(const Tensor& t) { return wrap(meta_of(t) && meta_of(t)->retains_grad && !is_leaf(t)); }
PyObject* get_version(const Tensor& t) {
    check(!(t.flags() & kInference), ErrorKind::Runtime, "Inference tensors do not track version counter.");
    return wrap(int64_t{t.version()});
}
PyObject* get_grad(const Tensor& t) {
    Tensor g = grad(t);
    if (!g.defined() && requires_grad(t) && !is_leaf(t) && !meta_of(t)->retains_grad)
        warn(
            WarningKind::User,
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
            "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
            "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make "
            "sure "
            "you access the leaf Tensor instead.");
    return wrap(g);
}
PyObject* get_grad_quietly(const Tensor& t) { return wrap(grad(t)); }
PyObject* get_data(const Tensor& t) { return wrap(variable_data(t)); }
PyObject* get_base(const Tensor& t) {
    ViewInfo* view = view_info(t);
    return wrap(view ? view->base : undefined_tensor);
}
PyObject* get_grad_dtype(const Tensor& t) {
    check(!grad_fn(t), ErrorKind::Runtime,
          "grad_dtype can only be accessed on leaf tensors; this one is the result of an operation");
    AutogradMeta* meta = meta_of(t);
    if (meta && meta->any_grad_dtype) Py_RETURN_NONE;
    return wrap(meta && meta->grad_dtype ? *meta->grad_dtype : t.dtype());
}
PyObject* get_volatile(const Tensor&) {
    warn(WarningKind::User, "volatile was removed (Variable.volatile is always False)");
    return wrap(false);
}

void forbid_delete(PyObject* value, const char* name) {
    check(value != nullptr, ErrorKind::Runtime, "cannot delete ", name);
}

int assign_requires_grad(PyObject* self, PyObject* value, void*) {
    return guarded_status([&] {
        forbid_delete(value, "requires_grad");
        check(PyBool_Check(value), ErrorKind::Runtime, "requires_grad must be a bool");
        const Tensor& t = tensor_of(self);
        check(is_leaf(t), ErrorKind::Runtime, "you can only change requires_grad flags of leaf variables.",
              value == Py_False ? " If you want to use a computed variable in a subgraph that doesn't require "
                                  "differentiation use var_no_grad = var.detach()."
                                : "");
        set_requires_grad(t, value == Py_True);
    });
}

int assign_grad(PyObject* self, PyObject* value, void*) {
    return guarded_status([&] {
        const Tensor& t = tensor_of(self);
        if (!value || value == Py_None) {
            if (meta_of(t)) set_grad(t, Tensor());
            return;
        }
        check(is_tensor(value), ErrorKind::Type, "assigned grad expected to be a Tensor or None but got grad of type ",
              Py_TYPE(value)->tp_name);
        const Tensor& g = tensor_of(value);
        check(!g.is_same(t), ErrorKind::Runtime, "can't assign Variable as its own grad");
        AutogradMeta* meta = meta_of(t);
        bool any = meta && meta->any_grad_dtype;
        DType expected = meta && meta->grad_dtype ? *meta->grad_dtype : t.dtype();
        check(any || g.dtype() == expected, ErrorKind::Runtime, "attempting to assign a gradient with dtype '",
              g.dtype(), "' to a tensor with grad_dtype '", expected,
              "'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype).");
        check(g.device() == t.device(), ErrorKind::Runtime, "attempting to assign a gradient located on device '",
              g.device(), "' to a tensor located on device '", t.device(), "'; they must have the same device");
        check(same_shape(g, t), ErrorKind::Runtime, "attempting to assign a gradient of size '", ShapeOf{g.sizes()},
              "' to a tensor of size '", ShapeOf{t.sizes()},
              "'. Please ensure that the gradient and the tensor are the "
              "same size");
        set_grad(t, g);
    });
}

int assign_grad_dtype(PyObject* self, PyObject* value, void*) {
    return guarded_status([&] {
        forbid_delete(value, "grad_dtype");
        const Tensor& t = tensor_of(self);
        check(is_leaf(t), ErrorKind::Runtime, "grad_dtype can only be set on leaf tensors.");
        AutogradMeta& meta = materialize_meta(t);
        if (value == Py_None) {
            meta.any_grad_dtype = true;
            return;
        }
        DType d = to_dtype(value);
        check(!meta.grad.defined() || meta.grad.dtype() == d, ErrorKind::Runtime, "Cannot set grad_dtype to '", d,
              "' because there is already a gradient assigned to this tensor with dtype '",
              meta.grad.defined() ? meta.grad.dtype() : d,
              "'. Please clear the existing gradient first (.grad = None).");
        meta.any_grad_dtype = false;
        meta.grad_dtype = d;
    });
}

// Swaps the content and keeps identity, version counter and history.
int assign_data(PyObject* self, PyObject* value, void*) {
    return guarded_status([&] {
        forbid_delete(value, "tensor data");
        check(is_tensor(value), ErrorKind::Type, "Variable data has to be a tensor, but got ", Py_TYPE(value)->tp_name);
        const Tensor& t = tensor_of(self);
        const Tensor& x = tensor_of(value);
        if (is_batched(t) || is_batched(x))
            fail_batch(
                "vmap: x.data = ... has no meaning for samples of a batch, which share memory; use x.copy_(...)");
        check(!requires_grad(t) || is_differentiable(x.dtype()), ErrorKind::Runtime,
              "data set to a tensor that requires gradients must be floating point or complex dtype");
        kernels::check_has_memory(t, "data");
        kernels::check_has_memory(x, "data");
        TensorImpl* impl = t.impl();
        if (!impl->own_version) {
            auto* counter = new VersionCounter;
            counter->value = t.version();
            impl->own_version = Ref<VersionCounter>::adopt(counter);
        }
        impl->shallow_copy_from(*x.impl());
        ++impl->swaps;
    });
}

int forbid_assign_grad_fn(PyObject*, PyObject* value, void*) {
    return guarded_status([&] {
        forbid_delete(value, "_grad_fn");
        check(value == Py_None, ErrorKind::Type, "_grad_fn can be only set to None");
    });
}

PyObject* get_backward_hooks(const Tensor& t) { return backward_hooks(t); }
PyObject* get_post_accumulate_hooks(const Tensor& t) { return post_accumulate_hooks(t); }
template <void (*Set)(const Tensor&, PyObject*)>
int assign_hooks(PyObject* self, PyObject* value, void* name) {
    return guarded_status([&] {
        forbid_delete(value, static_cast<const char*>(name));
        Set(tensor_of(self), value);
    });
}

PyObject* volatile_set_error(const char* message) {
    PyErr_SetString(PyExc_RuntimeError, message);
    return nullptr;
}
int assign_volatile(PyObject*, PyObject*, void*) {
    volatile_set_error("volatile was removed. Use `with wengert.no_grad():` instead.");
    return -1;
}

// A tensor, or a number as in x.real = 0.
void assign_part(const Tensor& part, PyObject* value, const char* name) {
    if (is_number(value)) {
        ops::fill_(part, to_scalar(value));
        return;
    }
    check(is_tensor(value), ErrorKind::Type, name, " has to be a tensor or a number, but got ",
          Py_TYPE(value)->tp_name);
    ops::copy_(part, tensor_of(value));
}
int assign_real(PyObject* self, PyObject* value, void*) {
    return guarded_status([&] {
        forbid_delete(value, "real");
        const Tensor& t = tensor_of(self);
        assign_part(is_complex(t.dtype()) ? ops::real(t) : t, value, "real");
    });
}
int assign_imag(PyObject* self, PyObject* value, void*) {
    return guarded_status([&] {
        forbid_delete(value, "imag");
        const Tensor& t = tensor_of(self);
        check_has_imaginary_part(t);
        assign_part(ops::imag(t), value, "imag");
    });
}

#define READ_ONLY(name, function, doc) {name, get<function>, nullptr, doc, const_cast<char*>(name)}
#define OF_SAMPLE(name, function, doc) {name, get<function, Batches::Run>, nullptr, doc, const_cast<char*>(name)}
#define WRITABLE(name, function, setter, doc) {name, get<function>, setter, doc, const_cast<char*>(name)}

}  // namespace

PyGetSetDef tensor_properties[] = {
    OF_SAMPLE("shape", shape, "The size along each dimension."),
    OF_SAMPLE("dtype", dtype, "The type of the elements."),
    OF_SAMPLE("device", device, "Where the memory lies."),
    OF_SAMPLE("ndim", ndim, "The number of dimensions."),
    OF_SAMPLE("layout", layout, "How the elements are kept: wengert.strided, or sparse."),
    OF_SAMPLE("itemsize", itemsize, "Bytes of one element."),
    OF_SAMPLE("nbytes", nbytes, "Bytes of all elements."),
    OF_SAMPLE("strides", strides, "The strides in bytes, as NumPy has them; `stride()` counts elements."),
    OF_SAMPLE("is_cpu", is_cpu, nullptr),
    OF_SAMPLE("is_meta", is_meta, nullptr),
    OF_SAMPLE("is_cuda", no, nullptr),
    OF_SAMPLE("is_sparse", is_sparse_coo, "Whether its layout is wengert.sparse_coo."),
    OF_SAMPLE("is_sparse_csr", is_sparse_csr, "Whether its layout is wengert.sparse_csr."),
    OF_SAMPLE("is_quantized", no, nullptr),
    OF_SAMPLE("is_nested", no, nullptr),
    OF_SAMPLE("T", transposed, "The matrix transposed; a vector or number itself."),
    OF_SAMPLE("mT", matrix_transposed, "With the last two dimensions exchanged."),
    OF_SAMPLE("H", hermitian, "The matrix transposed and conjugated."),
    OF_SAMPLE("mH", matrix_adjoint, "With the last two dimensions exchanged, conjugated."),
    {"real", get<real_part, Batches::Run>, assign_real, "The real part, a view; a real tensor itself.",
     const_cast<char*>("real")},
    {"imag", get<imaginary_part, Batches::Run>, assign_imag, "The imaginary part, a view.", const_cast<char*>("imag")},
    WRITABLE("requires_grad", get_requires_grad, assign_requires_grad, "Whether operations on it are recorded."),
    WRITABLE("grad", get_grad, assign_grad, "The accumulated gradient, or None."),
    WRITABLE("_grad", get_grad_quietly, assign_grad, nullptr),
    WRITABLE("grad_dtype", get_grad_dtype, assign_grad_dtype, "The dtype to which gradients are cast; None for any."),
    READ_ONLY("grad_fn", get_grad_fn, "The node that made it, or None for a leaf."),
    WRITABLE("_grad_fn", get_grad_fn, forbid_assign_grad_fn, nullptr),
    READ_ONLY("is_leaf", get_is_leaf, "Whether it has no grad_fn."),
    READ_ONLY("output_nr", get_output_nr, "Its place among the outputs of grad_fn."),
    READ_ONLY("retains_grad", get_retains_grad, "Whether it is no leaf and keeps its gradient all the same."),
    READ_ONLY("_version", get_version, "How often its memory was written in place."),
    READ_ONLY("_base", get_base, "The tensor of which it is a differentiable view, or None."),
    WRITABLE("data", get_data, assign_data, "The same memory without history, with a version counter of its own."),
    WRITABLE("_backward_hooks", get_backward_hooks, assign_hooks<set_backward_hooks>, nullptr),
    WRITABLE("_post_accumulate_grad_hooks", get_post_accumulate_hooks, assign_hooks<set_post_accumulate_hooks>,
             nullptr),
    WRITABLE("volatile", get_volatile, assign_volatile, nullptr),
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace wengert::python
