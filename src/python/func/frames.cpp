#include "python/func/frames.h"

#include <optional>
#include <vector>

#include "base/place.h"
#include "generated/ops/views.h"
#include "graph/batched.h"
#include "graph/forward_grad.h"
#include "graph/grad_mode.h"
#include "graph/level_floor.h"
#include "ops/batching/batch.h"
#include "python/arguments/convert.h"
#include "python/autograd/modes/scope_type.h"
#include "python/exceptions.h"
#include "python/func/batch_objects.h"
#include "python/func/frame_object.h"
#include "python/objects/tensor_object.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

thread_local PyObject* top = nullptr;  // owned
PyTypeObject* FrameType;
PyTypeObject* ReverseType;
PyTypeObject* ForwardType;
PyTypeObject* VmapType;

bool is_frame(PyObject* o) noexcept { return PyType_IsSubtype(Py_TYPE(o), FrameType); }

PyObject* new_frame(PyTypeObject* type, Kind kind) noexcept {
    PyObject* o = type->tp_alloc(type, 0);
    if (!o) return nullptr;
    FrameObject* f = as_frame(o);
    new (&f->batch) Ref<BatchLevel>();
    new (&f->opening) OpenBatch();
    new (&f->before) std::optional<Before>();
    f->dual_level = -1;
    f->kind = kind;
    return o;
}
template <Kind kind>
PyObject* frame_new(PyTypeObject* type, PyObject*, PyObject*) {
    return new_frame(type, kind);
}
// VmapFrame(batch_size, randomness)
PyObject* vmap_new(PyTypeObject* type, PyObject* args, PyObject*) {
    return guarded([&]() -> PyObject* {
        long long size;
        const char* randomness;
        if (!PyArg_ParseTuple(args, "Ls", &size, &randomness)) return nullptr;
        PyRef o(checked(new_frame(type, Kind::Vmap)));
        as_frame(o.get())->batch = Ref<BatchLevel>::adopt(new BatchLevel(size, to_randomness(randomness)));
        return o.release();
    });
}

int frame_traverse(PyObject* o, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(o));
    Py_VISIT(as_frame(o)->around);
    Py_VISIT(as_frame(o)->batches);
    Py_VISIT(as_frame(o)->aliases);
    Py_VISIT(as_frame(o)->own);
    Py_VISIT(as_frame(o)->known_for);
    return 0;
}
int frame_clear(PyObject* o) {
    Py_CLEAR(as_frame(o)->around);
    Py_CLEAR(as_frame(o)->batches);
    Py_CLEAR(as_frame(o)->aliases);
    Py_CLEAR(as_frame(o)->own);
    Py_CLEAR(as_frame(o)->known_for);
    return 0;
}
void frame_dealloc(PyObject* o) {
    PyTypeObject* type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    frame_clear(o);
    std::destroy_at(&as_frame(o)->batch);
    std::destroy_at(&as_frame(o)->opening);
    std::destroy_at(&as_frame(o)->before);
    type->tp_free(o);
    Py_DECREF(type);
}

// --- The stack
// `batches` of a frame inside of `around`.
PyObject* batches_inside(PyObject* around) {
    if (!around) return checked(PyTuple_New(0));
    PyObject* outer = as_frame(around)->batches;
    if (as_frame(around)->kind != Kind::Vmap) return Py_NewRef(outer);
    const Py_ssize_t n = PyTuple_GET_SIZE(outer);
    PyObject* all = checked(PyTuple_New(n + 1));
    for (Py_ssize_t i = 0; i < n; ++i) PyTuple_SET_ITEM(all, i, Py_NewRef(PyTuple_GET_ITEM(outer, i)));
    PyTuple_SET_ITEM(all, n, Py_NewRef(around));
    return all;
}

// Puts a frame on the stack of this thread. Nothing fails once the stack has changed.
void push(FrameObject* f) {
    PyObject* batches = batches_inside(top);
    Py_XSETREF(f->batches, batches);
    f->within_reverse = is_reverse_around();
    f->around = top;
    top = Py_NewRef(reinterpret_cast<PyObject*>(f));
}
void pop(FrameObject* f) noexcept {
    PyObject* self = std::exchange(top, std::exchange(f->around, nullptr));
    Py_DECREF(self);
}

PyObject* frame_enter(PyObject* o, PyObject*) {
    return guarded([&] {
        FrameObject* f = as_frame(o);
        check(!f->before, ErrorKind::Runtime, "a transform's frame is entered once");
        if (f->kind == Kind::Forward) f->dual_level = enter_dual_level();  // which may find no memory
        try {
            push(f);
        } catch (...) {
            if (f->kind == Kind::Forward) exit_dual_level(f->dual_level);
            throw;
        }
        Before& before = f->before.emplace();
        before.grad = GradMode::flag();
        before.forward = GradMode::is_forward_enabled();
        f->was_recording = GradMode::is_enabled();
        if (f->kind == Kind::Vmap) {
            f->opening.open(f->batch);
            return Py_NewRef(o);
        }
        if (InferenceMode::is_enabled()) before.no_inference.emplace(false);
        if (f->kind == Kind::Reverse) {
            GradMode::set_enabled(true);
        } else if (!GradMode::is_forward_enabled()) {
            before.floor = exchange_level_floor(f->dual_level);
            GradMode::set_forward_enabled(true);
        }
        return Py_NewRef(o);
    });
}

PyObject* frame_exit(PyObject* o, PyObject*) {
    return guarded([&] {
        FrameObject* f = as_frame(o);
        check(f->before && top == o, ErrorKind::Runtime, "leaving a transform's frame that is not the innermost");
        Before& before = *f->before;
        if (f->kind == Kind::Vmap) f->opening.close();
        before.no_inference.reset();
        if (f->kind == Kind::Reverse) GradMode::set_enabled(before.grad);
        if (f->kind == Kind::Forward && before.floor) {
            exchange_level_floor(*before.floor);
            GradMode::set_forward_enabled(before.forward);
        }
        f->before.reset();
        pop(f);
        if (f->kind == Kind::Forward) exit_dual_level(f->dual_level);
        return Py_NewRef(Py_None);
    });
}

// --- What frames tell
PyObject* get_kind(PyObject* o, void*) {
    constexpr const char* names[] = {"reverse", "forward", "vmap"};
    return PyUnicode_InternFromString(names[static_cast<int>(as_frame(o)->kind)]);
}
PyObject* get_batches(PyObject* o, void*) {
    PyObject* batches = as_frame(o)->batches;
    return batches ? Py_NewRef(batches) : PyTuple_New(0);
}
PyObject* get_within_reverse(PyObject* o, void*) { return wrap(as_frame(o)->within_reverse); }
PyObject* get_was_recording(PyObject* o, void*) { return wrap(as_frame(o)->was_recording); }
PyObject* get_level(PyObject* o, void*) {
    return guarded([&] { return wrap_level(as_frame(o)->batch); });
}
PyObject* get_batch_size(PyObject* o, void*) { return wrap(as_frame(o)->batch->size); }
PyObject* get_randomness(PyObject* o, void*) {
    return PyUnicode_InternFromString(name_of(as_frame(o)->batch->randomness));
}

// --- Again
// A frame that stands for another one, without what that knows of a graph.
PyObject* copy_of(PyObject* frame) {
    const FrameObject* f = as_frame(frame);
    PyObject* o = checked(new_frame(f->kind == Kind::Reverse   ? ReverseType
                                    : f->kind == Kind::Forward ? ForwardType
                                                               : VmapType,
                                    f->kind));
    as_frame(o)->batch = f->batch;
    as_frame(o)->dual_level = f->dual_level;
    return o;
}

// A block in which these frames are the stack, with the batches among them open.
struct FramesAgain {
    static constexpr const char* name = "wengert._C._FramesAgain";
    std::vector<PyRef> frames;
    PyObject* top_before = nullptr;
    OpenBatch* batches_before = nullptr;
    uint64_t batch_level_before = 0;

    explicit FramesAgain(PyObject* arguments) {
        PyObject* given = PyTuple_GET_ITEM(arguments, 0);
        check(PyTuple_Check(given), ErrorKind::Type, "expected a tuple of frames");
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given); ++i) {
            check(is_frame(PyTuple_GET_ITEM(given, i)), ErrorKind::Type, "expected frames, got ",
                  Py_TYPE(PyTuple_GET_ITEM(given, i))->tp_name);
            frames.emplace_back(copy_of(PyTuple_GET_ITEM(given, i)));
        }
        top_before = std::exchange(top, nullptr);
        batch_level_before = state.batch_level;
        size_t pushed = 0;
        try {
            for (; pushed < frames.size(); ++pushed) push(as_frame(frames[pushed].get()));
        } catch (...) {
            while (pushed > 0) pop(as_frame(frames[--pushed].get()));
            top = top_before;
            throw;
        }
        batches_before = std::exchange(state.open_batches, nullptr);
        state.batch_level = 0;
        for (const PyRef& frame : frames)
            if (FrameObject* f = as_frame(frame.get()); f->kind == Kind::Vmap) f->opening.open(f->batch);
    }
    FramesAgain(const FramesAgain&) = delete;
    ~FramesAgain() {
        for (size_t i = frames.size(); i > 0; --i) {
            FrameObject* f = as_frame(frames[i - 1].get());
            if (f->kind == Kind::Vmap) f->opening.close();
            pop(f);
        }
        top = top_before;
        state.open_batches = batches_before;
        state.batch_level = batch_level_before;
    }
    PyObject* value() const { return Py_NewRef(Py_None); }
};

// The running frames, outermost first: themselves, or copies that may be kept.
template <bool copies>
PyObject* running_frames(PyObject*, PyObject*) {
    return guarded([&] {
        Py_ssize_t n = 0;
        for (PyObject* f = top; f; f = as_frame(f)->around) ++n;
        PyRef all(checked(PyTuple_New(n)));
        for (PyObject* f = top; f; f = as_frame(f)->around)
            PyTuple_SET_ITEM(all.get(), --n, copies ? copy_of(f) : Py_NewRef(f));
        return all.release();
    });
}
PyObject* is_transforming(PyObject*, PyObject*) { return wrap(top != nullptr); }
PyObject* open_batches(PyObject*, PyObject*) {
    return guarded([] { return batches_inside(top); });
}

PyMethodDef functions[] = {
    {"_running_frames", running_frames<false>, METH_NOARGS, "The transforms of this thread, outermost first."},
    {"_remembered_frames", running_frames<true>, METH_NOARGS, "Copies of them that may be kept: see _FramesAgain."},
    {"_is_transforming", is_transforming, METH_NOARGS, "Whether any transform is running on this thread."},
    {"_open_batches", open_batches, METH_NOARGS, "The frames of the vmaps that are running, outermost first."},
    {nullptr, nullptr, 0, nullptr},
};

// --- Tensors of a batch
// frame.sample(value, dim), frame.of_all(tensor, place)
struct TensorAndDim {
    const Tensor& tensor;
    int64_t dim;
};
TensorAndDim tensor_and_dim(PyObject* const* args, Py_ssize_t nargs) {
    check(nargs == 2 && is_tensor(args[0]) && PyLong_Check(args[1]), ErrorKind::Type,
          "expected a Tensor and a dimension");
    return {tensor_of(args[0]), to_int64(args[1])};
}
PyObject* vmap_sample(PyObject* o, PyObject* const* args, Py_ssize_t nargs, PyObject*) {
    return guarded([&] {
        const auto [value, dim] = tensor_and_dim(args, nargs);
        import_batched_type();
        return wrap(make_batched(value, wrap_dim(dim, value.dim(), "vmap"), as_frame(o)->batch));
    });
}
PyObject* vmap_of_all(PyObject* o, PyObject* const* args, Py_ssize_t nargs, PyObject*) {
    return guarded([&] {
        const auto [t, dim] = tensor_and_dim(args, nargs);
        const ops::batching::Batch batch(as_frame(o)->batch.get());
        const int64_t rank = t.dim() + 1;
        check(-rank <= dim && dim < rank, ErrorKind::Index, "Dimension out of range (expected to be in range of [",
              -rank, ", ", rank - 1, "], but got ", dim, "); it is an out_dim of vmap");
        const int64_t place = dim < 0 ? dim + rank : dim, now = batch.has(t) ? batched_value(t).dim : 0;
        const Tensor all = batch.has(t) ? batched_value(t).value : batch.expanded(t);
        return wrap(now == place ? all : ops::movedim(all, Dims{now}, Dims{place}));
    });
}

PyMethodDef block_methods[] = {
    {"__enter__", frame_enter, METH_NOARGS, nullptr},
    exit_method<frame_exit>(),
    {nullptr, nullptr, 0, nullptr},
};
PyMethodDef vmap_methods[] = {
    fast_method("sample", vmap_sample, "sample(value, dim)\n--\n\nThe sample of a tensor along a dimension."),
    fast_method("of_all", vmap_of_all, "of_all(tensor, place)\n--\n\nAll samples, with the batch at `place`."),
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef block_attributes[] = {
    {"kind", get_kind, nullptr, "'reverse', 'forward' or 'vmap'", nullptr},
    {"batches", get_batches, nullptr, "The vmaps that were open around it, outermost first.", nullptr},
    {"within_reverse", get_within_reverse, nullptr, "Whether one around it is in reverse mode.", nullptr},
    {"was_recording", get_was_recording, nullptr, "Whether grad mode was on outside.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyGetSetDef vmap_attributes[] = {
    {"level", get_level, nullptr, "What marks its tensors.", nullptr},
    {"batch_size", get_batch_size, nullptr, nullptr, nullptr},
    {"randomness", get_randomness, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

int add_block_type(PyObject* module) {
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, reinterpret_cast<void*>(frame_dealloc)},
        {Py_tp_traverse, reinterpret_cast<void*>(frame_traverse)},
        {Py_tp_clear, reinterpret_cast<void*>(frame_clear)},
        {Py_tp_methods, block_methods},
        {Py_tp_getset, block_attributes},
        {0, nullptr},
    };
    static PyType_Spec spec = {
        "wengert._C._Frame", sizeof(FrameObject), 0,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    return add_type(module, &spec, &FrameType);
}

int add_kind(PyObject* module, const char* name, newfunc make, initproc init, PyMethodDef* methods,
             PyGetSetDef* attributes, PyTypeObject** type) {
    PyType_Slot slots[] = {
        {Py_tp_new, reinterpret_cast<void*>(make)},
        {Py_tp_init, reinterpret_cast<void*>(init)},
        {Py_tp_methods, methods},
        {Py_tp_getset, attributes},
        {0, nullptr},
    };
    PyType_Spec spec = {name, sizeof(FrameObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    PyRef bases(PyTuple_Pack(1, FrameType));
    return bases ? add_type(module, &spec, type, bases.get()) : -1;
}
int no_init(PyObject*, PyObject*, PyObject*) { return 0; }

}  // namespace

bool is_reverse_around() noexcept {
    return top && (as_frame(top)->within_reverse || as_frame(top)->kind == Kind::Reverse);
}

int add_frame_objects(PyObject* module) {
    bool ok =
        add_block_type(module) == 0 &&
        add_kind(module, "wengert._C._ReverseFrame", frame_new<Kind::Reverse>, reverse_init, reverse_methods,
                 reverse_attributes, &ReverseType) == 0 &&
        add_kind(module, "wengert._C._ForwardFrame", frame_new<Kind::Forward>, no_init, forward_methods,
                 forward_attributes, &ForwardType) == 0 &&
        add_kind(module, "wengert._C._VmapFrame", vmap_new, no_init, vmap_methods, vmap_attributes, &VmapType) == 0 &&
        ScopeType<FramesAgain>::add(module) == 0 && PyModule_AddFunctions(module, functions) == 0;
    return ok ? 0 : -1;
}

}  // namespace wengert::python
