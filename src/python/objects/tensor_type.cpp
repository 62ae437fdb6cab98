// Tensor's Python type.
//
// A tensor has two halves: TensorImpl, which C++ counts, and TensorObject, which Python counts. Either may exist alone:
// C++ makes tensors that Python never sees, and a wrapper is made when Python first asks. They point at each other, and
// exactly one owns the other:
//
//     normally       wrapper --owns--> impl       impl->pyobj is a plain pointer back
//     preserved      impl --owns--> wrapper       the wrapper's `tensor` is the plain pointer (impl->owns_pyobj)
//
// When the last Python reference goes while C++ still uses the impl, the wrapper normally just dies; the next `wrap` makes
// another, and nobody can tell. It can be told if the wrapper has a `__dict__`, weak references or a subclass: then
// `tensor_dealloc` turns ownership around instead, and `wrap` turns it back. So `x.tag = 1` survives a stay of `x` in
// the graph, and a saved Parameter comes back as a Parameter.
//
// Objects of exactly this type are recycled through a free list; they are tracked by the garbage collector all the
// same, since a tensor can be part of a cycle at any time (hooks, `.grad`, attributes).
//
// Read `wrap` and `tensor_dealloc` first; tensor_gc.cpp for what the collector sees.
#include "python/objects/tensor_type.h"

#include <structmember.h>

#include <new>

#include "python/arguments/overrides.h"
#include "python/autograd/collection/shared_objects.h"
#include "python/exceptions.h"
#include "python/func/batch_objects.h"
#include "python/interop/interop.h"
#include "python/objects/tensor_factory.h"
#include "python/objects/tensor_gc.h"
#include "python/registry.h"
#include "python/watch/watch_bindings.h"

namespace wengert::python {

PyTypeObject* TensorType = nullptr;

namespace {

// Wrappers waiting for reuse, chained through `dict`. Guarded by the GIL.
constexpr int kFreeLimit = 4096;
TensorObject* free_wrappers = nullptr;
int free_count = 0;

TensorObject* as_tensor(PyObject* o) noexcept { return reinterpret_cast<TensorObject*>(o); }
PyObject* as_object(TensorObject* o) noexcept { return reinterpret_cast<PyObject*>(o); }

// An untracked object whose fields are not constructed yet.
TensorObject* allocate() noexcept {
    if (TensorObject* o = free_wrappers) [[likely]] {
        free_wrappers = reinterpret_cast<TensorObject*>(o->dict);
        --free_count;
        _Py_NewReference(as_object(o));
        return o;
    }
    return PyObject_GC_New(TensorObject, TensorType);
}

void recycle(TensorObject* o) noexcept {
    if (free_count < kFreeLimit) [[likely]] {
        o->dict = reinterpret_cast<PyObject*>(free_wrappers);
        free_wrappers = o;
        ++free_count;
        return;
    }
    PyObject_GC_Del(o);
    Py_DECREF(TensorType);
}

// The wrapper that there is already, owned by Python or by `impl`. In the latter case its field counts from now on.
[[gnu::noinline]] PyObject* existing_wrapper(TensorImpl* impl) noexcept {
    auto* o = static_cast<PyObject*>(impl->pyobj);
    if (impl->owns_pyobj) {
        impl->owns_pyobj = false;
        --OwnsPython::count;
    } else {
        Py_INCREF(o);
        Ref<TensorImpl>::adopt(impl).reset();
    }
    return o;
}

// Turns ownership around; true if the wrapper, which is worth keeping, lives on.
bool preserve(TensorObject* o) noexcept {
    TensorImpl* impl = o->tensor.impl();
    if (impl->use_count() <= 1) return false;
    Py_SET_REFCNT(as_object(o), 1);
    impl->owns_pyobj = true;
    ++OwnsPython::count;
    // Another thread may have dropped its reference meanwhile: then this disposes of the impl and of the wrapper.
    Ref<TensorImpl>::adopt(impl).reset();
    return true;
}

[[gnu::noinline]] void dealloc_extended(TensorObject* o) {
    if (TensorImpl* impl = o->tensor.impl()) {
        if (preserve(o)) return;
        impl->pyobj = nullptr;
    }
    PyObject* self = as_object(o);
    PyObject_GC_UnTrack(self);
    if (o->weakrefs) PyObject_ClearWeakRefs(self);
    Py_CLEAR(o->dict);
    o->tensor.~Tensor();
    if (is_exact_tensor(self)) return recycle(o);
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

void tensor_dealloc(PyObject* self) {
    TensorObject* o = as_tensor(self);
    if (!is_exact_tensor(self) || o->dict || o->weakrefs) [[unlikely]]
        return dealloc_extended(o);
    PyObject_GC_UnTrack(self);
    if (TensorImpl* impl = o->tensor.detach_ref()) [[likely]] {
        impl->pyobj = nullptr;
        Ref<TensorImpl>::adopt(impl).reset();
    }
    recycle(o);
}

int tensor_traverse(PyObject* self, visitproc visit, void* arg) {
    TensorObject* o = as_tensor(self);
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(o->dict);
    TensorImpl* impl = o->tensor.impl();
    if (impl && impl->meta && !impl->owns_pyobj && (impl->gc_visible || impl->use_count() == 1))
        return traverse_graph(impl, visit, arg);
    return 0;
}

int tensor_clear(PyObject* self) {
    TensorObject* o = as_tensor(self);
    Py_CLEAR(o->dict);
    TensorImpl* impl = o->tensor.impl();
    if (impl && impl->meta && !impl->owns_pyobj && (impl->gc_visible || impl->use_count() == 1)) clear_graph(impl);
    return 0;
}

PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
    return guarded([&]() -> PyObject* {
        Tensor t = legacy_constructor(args, kwargs);
        return type == TensorType ? wrap(std::move(t)) : wrap_as(type, std::move(t));
    });
}

Py_hash_t tensor_hash(PyObject* self) { return _Py_HashPointer(self); }

PyMemberDef tensor_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

constexpr char tensor_doc[] =
    "A strided array of numbers that records how it was computed.\n\n"
    "Make one with `wengert.tensor(data)` or a creation function such as `wengert.zeros`.";

PyType_Slot own_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(tensor_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(tensor_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(tensor_clear)},
    {Py_tp_new, reinterpret_cast<void*>(tensor_new)},
    {Py_tp_hash, reinterpret_cast<void*>(tensor_hash)},
    {Py_tp_members, tensor_members},
    {Py_tp_getset, tensor_properties},
    {Py_tp_methods, tensor_methods},
    {Py_tp_doc, const_cast<char*>(tensor_doc)},
    {0, nullptr},
};

}  // namespace

namespace {

PyObject* wrap_batched(Tensor t) noexcept {
    PyObject* o = BatchedTensorType->tp_alloc(BatchedTensorType, 0);
    if (!o) return nullptr;
    t.impl()->pyobj = o;
    new (&as_tensor(o)->tensor) Tensor(std::move(t));
    return o;
}

}  // namespace

PyObject* wrap_reference(TensorImpl* impl) noexcept {
    if (!impl) [[unlikely]]
        Py_RETURN_NONE;
    if (impl->pyobj) return existing_wrapper(impl);
    if (impl->flags & kBatched) [[unlikely]]
        return wrap_batched(Tensor(Ref<TensorImpl>::adopt(impl)));
    Ref<TensorImpl> owned = Ref<TensorImpl>::adopt(impl);
    TensorObject* o = allocate();
    if (!o) [[unlikely]]
        return nullptr;
    new (&o->tensor) Tensor(std::move(owned));
    o->dict = nullptr;
    o->weakrefs = nullptr;
    impl->pyobj = o;
    PyObject_GC_Track(o);
    return as_object(o);
}

PyObject* wrap_as(PyTypeObject* type, Tensor t) {
    check(PyType_IsSubtype(type, TensorType), ErrorKind::Type, type->tp_name, " is not a subclass of Tensor");
    check(!t.impl()->pyobj, ErrorKind::Runtime, "the tensor has a Python object already; make an alias of it first");
    if (type == TensorType) return wrap(std::move(t));
    PyObject* o = checked(type->tp_alloc(type, 0));
    if (type_overrides(type)) t.impl()->flags |= kSubclass;
    if (type_dispatches(type)) set_mode_of(t, mode_of_classes());
    t.impl()->pyobj = o;
    new (&as_tensor(o)->tensor) Tensor(std::move(t));
    return o;
}

int add_tensor_type(PyObject* module) {
    // One array of slots from the pieces.
    static PyType_Slot slots[160];
    size_t n = 0;
    for (PyType_Slot* piece : {own_slots, tensor_number_slots, tensor_sequence_slots, tensor_buffer_slots})
        for (; piece->slot; ++piece) slots[n++] = *piece;
    static PyType_Spec spec = {"wengert.Tensor", sizeof(TensorObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
    return add_type(module, &spec, &TensorType);
}

}  // namespace wengert::python
