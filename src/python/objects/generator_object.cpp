#include "python/objects/generator_object.h"

#include <cstring>

#include "kernels/on_host.h"
#include "kernels/random/generator.h"
#include "python/arguments/convert.h"
#include "python/exceptions.h"
#include "python/objects/device_object.h"
#include "python/objects/tensor_object.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

struct GeneratorObject {
    PyObject_HEAD Generator* generator;
    bool owned;
};
PyTypeObject* GeneratorType = nullptr;
PyObject* default_object = nullptr;

GeneratorObject* as_generator(PyObject* o) noexcept { return reinterpret_cast<GeneratorObject*>(o); }
Generator& of(PyObject* o) noexcept { return *as_generator(o)->generator; }

PyObject* generator_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
    static const char* names[] = {"device", nullptr};
    PyObject* device = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Generator", const_cast<char**>(names), &device)) return nullptr;
    return guarded([&] {
        check(!device || to_device(device).type == DeviceType::Cpu, ErrorKind::Runtime,
              "Generator: only the device cpu has "
              "random numbers");
        PyObject* o = checked(type->tp_alloc(type, 0));
        as_generator(o)->generator = new Generator(67280421310721);  // PyTorch's default seed
        as_generator(o)->owned = true;
        of(o).object = o;
        return o;
    });
}
void generator_dealloc(PyObject* o) {
    PyTypeObject* type = Py_TYPE(o);
    if (as_generator(o)->owned) delete as_generator(o)->generator;
    type->tp_free(o);
    Py_DECREF(type);
}

// Any int of 64 bits, negative ones as their two's complement.
uint64_t to_seed(PyObject* o) {
    PyRef index(checked(PyNumber_Index(o)));
    const uint64_t seed = PyLong_AsUnsignedLongLong(index.get());
    if (!PyErr_Occurred()) return seed;
    PyErr_Clear();
    return static_cast<uint64_t>(to_int64(index.get()));
}

constexpr int64_t kStateBytes = sizeof(Generator::State) + sizeof(uint64_t);

PyObject* seed_with(PyObject* o, PyObject* seed) {
    return guarded([&] {
        of(o).manual_seed(to_seed(seed));
        return Py_NewRef(o);
    });
}
PyObject* seed(PyObject* o, PyObject*) {
    return guarded([&] { return PyLong_FromUnsignedLongLong(of(o).seed()); });
}
PyObject* initial_seed(PyObject* o, PyObject*) { return PyLong_FromUnsignedLongLong(of(o).initial_seed()); }

PyObject* get_state(PyObject* o, PyObject*) {
    return guarded([&] {
        Tensor t = empty(Dims{kStateBytes}, DType::UInt8);
        const uint64_t first = of(o).initial_seed();
        std::memcpy(t.data(), &of(o).state(), sizeof(Generator::State));
        std::memcpy(t.data() + sizeof(Generator::State), &first, sizeof first);
        return wrap(std::move(t));
    });
}
PyObject* set_state(PyObject* o, PyObject* state) {
    return guarded([&] {
        check(is_tensor(state) && tensor_of(state).dtype() == DType::UInt8 && tensor_of(state).is_contiguous(),
              ErrorKind::Type, "expected a wengert.ByteTensor, but got ", Py_TYPE(state)->tp_name);
        const Tensor t = kernels::on_host(tensor_of(state), "set_state");
        check(t.numel() == kStateBytes, ErrorKind::Runtime, "RNG state is wrong size: ", t.numel(), " bytes, not ",
              kStateBytes);
        Generator::State words;
        uint64_t first;
        std::memcpy(&words, t.data(), sizeof words);
        std::memcpy(&first, t.data() + sizeof words, sizeof first);
        of(o).set_state(words, first);
        return Py_NewRef(o);
    });
}
PyObject* device(PyObject*, void*) { return wrap(Device{}); }

PyMethodDef generator_methods[] = {
    {"manual_seed", seed_with, METH_O, "manual_seed(seed)\n--\n\nStarts the stream that belongs to a seed."},
    {"seed", seed, METH_NOARGS, "Starts a new stream from the system's entropy and returns its seed."},
    {"initial_seed", initial_seed, METH_NOARGS, "The seed of the current stream."},
    {"get_state", get_state, METH_NOARGS, "The state as a tensor of bytes."},
    {"set_state", set_state, METH_O, "Goes back to a state."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef generator_getset[] = {
    {"device", device, nullptr, "Where its numbers are made.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyType_Slot generator_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(generator_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(generator_dealloc)},
    {Py_tp_methods, generator_methods},
    {Py_tp_getset, generator_getset},
    {Py_tp_doc, const_cast<char*>("A stream of random numbers.")},
    {0, nullptr},
};
PyType_Spec generator_spec = {"wengert.Generator", sizeof(GeneratorObject), 0, Py_TPFLAGS_DEFAULT, generator_slots};

// --- The same on the default generator
template <auto Method>
PyObject* of_default(PyObject*, PyObject* argument) {
    return Method(default_object, argument);
}
PyObject* set_rng_state(PyObject*, PyObject* state) {
    PyRef done(set_state(default_object, state));
    return done ? Py_NewRef(Py_None) : nullptr;
}
PyMethodDef functions[] = {
    {"manual_seed", of_default<seed_with>, METH_O,
     "manual_seed(seed)\n--\n\nSeeds the default generator and returns it."},
    {"seed", of_default<seed>, METH_NOARGS, "seed()\n--\n\nSeeds the default generator from the system's entropy."},
    {"initial_seed", of_default<initial_seed>, METH_NOARGS, "initial_seed()\n--\n\nThe seed of the default generator."},
    {"get_rng_state", of_default<get_state>, METH_NOARGS, "get_rng_state()\n--\n\nThe state of the default generator."},
    {"set_rng_state", set_rng_state, METH_O,
     "set_rng_state(new_state)\n--\n\nSets the state of the default generator."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool is_generator(PyObject* o) noexcept { return Py_IS_TYPE(o, GeneratorType); }
Generator* generator_of(PyObject* o) noexcept { return as_generator(o)->generator; }
PyObject* object_of(const Generator& generator) noexcept {
    return Py_NewRef(generator.object ? static_cast<PyObject*>(generator.object) : Py_None);
}

int add_generators(PyObject* module) {
    if (add_type(module, &generator_spec, &GeneratorType) < 0) return -1;
    default_object = GeneratorType->tp_alloc(GeneratorType, 0);
    if (!default_object) return -1;
    as_generator(default_object)->generator = &default_generator();
    default_generator().object = default_object;
    if (PyModule_AddObjectRef(module, "default_generator", default_object) < 0) return -1;
    return add_functions(module, "", functions);
}

}  // namespace wengert::python
