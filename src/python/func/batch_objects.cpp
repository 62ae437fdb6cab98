#include "python/func/batch_objects.h"

#include "ops/batching/batch.h"
#include "python/arguments/convert.h"
#include "python/exceptions.h"
#include "python/objects/tensor_type.h"
#include "python/registry.h"

namespace wengert::python {

PyTypeObject* BatchedTensorType = nullptr;

namespace {

// --- Levels
struct LevelObject {
    PyObject_HEAD Ref<BatchLevel> level;
};
PyTypeObject* LevelType;
bool is_level(PyObject* o) noexcept { return Py_IS_TYPE(o, LevelType); }
const Ref<BatchLevel>& level_of(PyObject* o) {
    check(is_level(o), ErrorKind::Type, "expected the level of a vmap, got ", Py_TYPE(o)->tp_name);
    return reinterpret_cast<LevelObject*>(o)->level;
}

void level_dealloc(PyObject* o) {
    PyTypeObject* type = Py_TYPE(o);
    std::destroy_at(&reinterpret_cast<LevelObject*>(o)->level);
    type->tp_free(o);
    Py_DECREF(type);
}
PyObject* level_compare(PyObject* a, PyObject* b, int op) {
    if (!is_level(a) || !is_level(b)) Py_RETURN_NOTIMPLEMENTED;
    const uint64_t x = level_of(a)->number, y = level_of(b)->number;
    Py_RETURN_RICHCOMPARE(x, y, op);
}
Py_hash_t level_hash(PyObject* o) { return static_cast<Py_hash_t>(level_of(o)->number); }

template <auto Get>
PyObject* level_get(PyObject* o, void*) {
    return guarded([&] { return Get(*level_of(o)); });
}
PyObject* number(const BatchLevel& level) { return PyLong_FromUnsignedLongLong(level.number); }
PyObject* batch_size(const BatchLevel& level) { return wrap(level.size); }
PyObject* randomness(const BatchLevel& level) { return wrap(name_of(level.randomness)); }
PyObject* check_open(PyObject* o, PyObject*) {
    return guarded([&] {
        if (!level_of(o)->is_open()) ops::batching::refuse_escaped();
        return Py_NewRef(Py_None);
    });
}

PyGetSetDef level_getset[] = {
    {"number", level_get<number>, nullptr, "Deeper levels have larger ones.", nullptr},
    {"batch_size", level_get<batch_size>, nullptr, nullptr, nullptr},
    {"randomness", level_get<randomness>, nullptr, "What random functions do: 'error', 'different' or 'same'.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMethodDef level_methods[] = {
    {"check_open", check_open, METH_NOARGS, "Raise RuntimeError unless its function is running, or runs again."},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot level_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(level_dealloc)},
    {Py_tp_richcompare, reinterpret_cast<void*>(level_compare)},
    {Py_tp_hash, reinterpret_cast<void*>(level_hash)},
    {Py_tp_getset, level_getset},
    {Py_tp_methods, level_methods},
    {0, nullptr},
};
PyType_Spec level_spec = {"wengert._C._BatchLevel", sizeof(LevelObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, level_slots};

// --- Batched tensors
const Tensor& batched_argument(PyObject* o) {
    check(is_tensor(o) && is_batched(tensor_of(o)), ErrorKind::Type, "expected a sample of a batch, got ",
          Py_TYPE(o)->tp_name);
    return tensor_of(o);
}

PyObject* make_batched_object(PyObject*, PyObject* args) {
    return guarded([&]() -> PyObject* {
        import_batched_type();
        PyObject *value, *level;
        long long dim;
        if (!PyArg_ParseTuple(args, "OLO", &value, &dim, &level)) return nullptr;
        check(is_tensor(value), ErrorKind::Type, "expected a Tensor, got ", Py_TYPE(value)->tp_name);
        const Tensor& t = tensor_of(value);
        check(0 <= dim && dim < t.dim(), ErrorKind::Index, "a tensor of ", t.dim(), " dimensions has no dimension ",
              dim);
        return wrap(make_batched(t, dim, level_of(level)));
    });
}

template <auto Get>
PyObject* ask(PyObject*, PyObject* o) {
    return guarded([&] { return Get(batched_argument(o)); });
}
PyObject* inside(const Tensor& t) { return wrap(batched_value(t).value); }
PyObject* batch_dim(const Tensor& t) { return wrap(batched_value(t).dim); }
PyObject* level(const Tensor& t) { return wrap_level(batched_value(t).level); }
PyObject* expanded_object(PyObject*, PyObject* args) {
    return guarded([&]() -> PyObject* {
        PyObject *value, *level;
        if (!PyArg_ParseTuple(args, "OO", &value, &level)) return nullptr;
        check(is_tensor(value), ErrorKind::Type, "expected a Tensor, got ", Py_TYPE(value)->tp_name);
        return wrap(ops::batching::Batch(level_of(level).get()).expanded(tensor_of(value)));
    });
}
PyObject* unbatched_object(PyObject*, PyObject* o) {
    return guarded([&]() -> PyObject* { return is_tensor(o) ? wrap(unbatched(tensor_of(o))) : Py_NewRef(o); });
}

PyObject* ensure_batched_object(PyObject*, PyObject* args) {
    return guarded([&]() -> PyObject* {
        PyObject *target, *level;
        if (!PyArg_ParseTuple(args, "OO", &target, &level)) return nullptr;
        check(is_tensor(target), ErrorKind::Type, "expected a Tensor, got ", Py_TYPE(target)->tp_name);
        ops::batching::ensure_batched(ops::batching::Batch(level_of(level).get()), tensor_of(target));
        return Py_NewRef(target);
    });
}

PyObject* refuse_value(PyObject*, PyObject* name) {
    return guarded([&]() -> PyObject* { ops::batching::refuse_value(std::string(to_string_view(name)).c_str()); });
}

PyObject* set_type(PyObject*, PyObject* type) {
    return guarded([&] {
        check(PyType_Check(type) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), TensorType),
              ErrorKind::Type, "the class of batched tensors must be a subclass of Tensor");
        check(!BatchedTensorType, ErrorKind::Runtime, "the class of batched tensors is known already");
        BatchedTensorType = reinterpret_cast<PyTypeObject*>(Py_NewRef(type));
        return Py_NewRef(Py_None);
    });
}

PyMethodDef functions[] = {
    {"_make_batched", make_batched_object, METH_VARARGS,
     "_make_batched(value, dim, level)\n--\n\nThe sample of `value` along `dim`."},
    {"_batched_value", ask<inside>, METH_O, "The tensor that a sample of a batch holds."},
    {"_batched_dim", ask<batch_dim>, METH_O, "The place of the batch in it."},
    {"_batched_level", ask<level>, METH_O, "The level of its vmap."},
    {"_expanded", expanded_object, METH_VARARGS,
     "_expanded(tensor, level)\n--\n\nAll samples of a tensor, with the batch in front; a view."},
    {"_unbatched", unbatched_object, METH_O, "The tensor below all levels."},
    {"_ensure_batched", ensure_batched_object, METH_VARARGS,
     "_ensure_batched(target, level)\n--\n\nA tensor that is about to be written, which is a batch then."},
    {"_refuse_value", refuse_value, METH_O,
     "_refuse_value(name)\n--\n\nRaise: the function of this name returns no tensor, so nothing for all samples."},
    {"_set_batched_type", set_type, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void import_batched_type() {
    if (!BatchedTensorType) PyRef(checked(PyImport_ImportModule("wengert.func._batched_tensor")));
}

Randomness to_randomness(std::string_view name) {
    if (name == "different") return Randomness::Different;
    return name == "same" ? Randomness::Same : Randomness::Error;
}
const char* name_of(Randomness randomness) noexcept {
    constexpr const char* names[] = {"error", "different", "same"};
    return names[static_cast<int>(randomness)];
}

PyObject* wrap_level(Ref<BatchLevel> level) {
    PyObject* o = checked(LevelType->tp_alloc(LevelType, 0));
    new (&reinterpret_cast<LevelObject*>(o)->level) Ref<BatchLevel>(std::move(level));
    return o;
}

int add_batch_objects(PyObject* module) {
    return add_type(module, &level_spec, &LevelType) == 0 && PyModule_AddFunctions(module, functions) == 0 ? 0 : -1;
}

}  // namespace wengert::python
