// What functions of an extension take, give and throw; tests/python/test_cpp_extension.py calls them.
#include <wengert/extension.h>

#include <new>
#include <stdexcept>

using namespace wengert;

namespace {

Tensor same(const Tensor& x) { return x; }
TensorList sums(const TensorList& xs, std::optional<double> by) {
    TensorList out;
    for (const Tensor& x : xs) out.push_back(x * by.value_or(1));
    return out;
}
std::tuple<int64_t, double, bool, std::string> numbers(int64_t i, double d, bool b, const std::string& s) {
    return {i + 1, d / 2, !b, s + "!"};
}
std::vector<std::optional<int64_t>> incremented(const std::vector<std::optional<int64_t>>& values) {
    auto out = values;
    for (auto& value : out)
        if (value) ++*value;
    return out;
}
Tensor made(const Dims& sizes, std::optional<DType> dtype, std::optional<Device> device) {
    return zeros(sizes, {.dtype = dtype, .device = device});
}
std::pair<Dims, DType> facts(const Tensor& x) { return {x.sizes(), x.dtype()}; }
Scalar doubled(const Scalar& x) {
    return x.is_complex() ? Scalar(x.to<complex128>() * 2.0) : Scalar(x.to<double>() * 2);
}
int8_t narrow(int8_t x) { return x; }

void raise(const std::string& kind) {
    if (kind == "Value") fail(ErrorKind::Value, "[raise] ", 1, " of ", 2);
    if (kind == "Index") fail(ErrorKind::Index, "[raise] index");
    if (kind == "LinAlg") ops::linalg_inv(zeros({2, 2}));
    if (kind == "bad_alloc") throw std::bad_alloc();
    if (kind == "runtime_error") throw std::runtime_error("of the standard library");
    throw 3;
}

// Python called from C++: what it raises passes through.
PyObject* call(PyObject* f) {
    int depth = 0;
    try {
        return python::checked(PyObject_CallNoArgs(f));
    } catch (const std::exception& e) {
        depth = static_cast<int>(std::string(e.what()).size());
        if (depth == 0) return nullptr;
        throw;
    }
}

// Kept in C++ while Python has no reference.
Tensor kept;
void keep(const Tensor& x) { kept = x; }
Tensor take() { return std::exchange(kept, Tensor()); }

// A node by hand: y = sum of x, whose gradient is shown to a function of Python.
struct ShownGradient : Node {
    PyObject* f = nullptr;
    Dims sizes;
    ~ShownGradient() override {
        const python::GilGuard gil;
        Py_XDECREF(f);
    }
    TensorList apply(TensorList&& grads) override {
        const python::GilGuard gil;
        const python::Owned shown(python::checked(python::Converter<Tensor>::to(grads[0])));
        (void)python::Owned(python::checked(PyObject_CallOneArg(f, shown.get())));
        return {grads[0].expand(sizes)};
    }
    std::string name() const override { return "ShownGradient"; }
};
Tensor sum_shown(const Tensor& x, PyObject* f) {
    Ref<ShownGradient> node = make_node<ShownGradient>();
    node->f = Py_NewRef(f);
    node->sizes = x.sizes();
    connect(*node, x);
    Tensor y;
    {
        NoGradGuard guard;
        y = x.sum();
    }
    set_history(y, node);
    return y;
}

size_t hook(const Tensor& x, PyObject* f) {
    std::shared_ptr<PyObject> held(Py_NewRef(f), [](PyObject* o) {
        const python::GilGuard gil;
        Py_DECREF(o);
    });
    return x.register_hook([held](const Tensor& grad) {
        const python::GilGuard gil;
        const python::Owned shown(python::checked(python::Converter<Tensor>::to(grad)));
        const python::Owned returned(python::checked(PyObject_CallOneArg(held.get(), shown.get())));
        return returned.get() == Py_None ? Tensor() : Tensor(python::Converter<Tensor>::from(returned.get()));
    });
}

double backward_without_gil(const Tensor& x) {
    return python::without_gil([&] {
        (x * x).sum().backward();
        return x.grad().sum().item();
    });
}

std::string text(const Tensor& x) {
    std::ostringstream out;
    out << x;
    return out.str();
}

bool is_needed(const Tensor& x) {  // in a hook or a node's body
    GraphTask* task = get_current_graph_task();
    return task && task->exec_info(x.grad_fn().get()).should_execute();
}

}  // namespace

WENGERT_MODULE(WENGERT_EXTENSION_NAME, m) {
    m.def("same", same).def("sums", sums).def("numbers", numbers).def("incremented", incremented).def("made", made);
    m.def("facts", facts).def("doubled", doubled).def("narrow", narrow).def("throws", raise).def("call", call);
    m.def("keep", keep).def("take", take).def("sum_shown", sum_shown).def("hook", hook).def("text", text);
    m.def("backward_without_gil", backward_without_gil).def("is_needed", is_needed);
    m.def("counter", [n = 0]() mutable { return ++n; }, "How often it was called.");

    auto library = m.library("conversions");
    library.def("scaled(Tensor x, float by) -> Tensor", [](const Tensor& x, double by) { return x * by; });
    library.def("opaque(Tensor x) -> Tensor");
    library.impl("opaque", [](const Tensor& x) { return x.exp(); });
}
