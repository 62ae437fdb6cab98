#include "python/autograd/modes/grad_modes.h"

#include "base/warns_once.h"
#include "graph/forward_grad.h"
#include "graph/grad_mode.h"
#include "graph/node.h"
#include "graph/strict_singular.h"
#include "python/arguments/arg_parser.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

bool strict_bool(PyObject* value, const char* name) {
    check(PyBool_Check(value), ErrorKind::Type, name, "(): argument 'enabled' must be bool, not ",
          Py_TYPE(value)->tp_name);
    return value == Py_True;
}

// A pair of functions, `get` and `set`, around a flag.
template <auto Get>
PyObject* get(PyObject*, PyObject*) noexcept {
    return PyBool_FromLong(Get());
}
struct FlagName {
    char text[48];
    template <size_t N>
    constexpr FlagName(const char (&s)[N]) : text{} {
        std::copy_n(s, N, text);
    }
};
template <FlagName name, auto Set>
PyObject* set(PyObject*, PyObject* value) noexcept {
    return guarded([&]() -> PyObject* {
        Set(strict_bool(value, name.text));
        Py_RETURN_NONE;
    });
}

bool multithreading() { return state.multithreading; }
void set_multithreading(bool on) { state.multithreading = on; }
bool view_replay() { return state.view_replay; }
void set_view_replay(bool on) { state.view_replay = on; }
bool grad_layout() { return state.grad_layout; }
void set_grad_layout(bool on) { state.grad_layout = on; }

bool warns_always() { return WarnsOnce::always; }
void set_warns_always(bool on) { WarnsOnce::always = on; }

constexpr ArgSpec anomaly_args[] = {{"mode", ArgKind::Bool}, {"check_nan", ArgKind::Bool, kOptional}};
constexpr Signature anomaly_signatures[] = {anomaly_args};
constinit OverloadSet anomaly_overloads{"set_anomaly_enabled", anomaly_signatures};
PyObject* set_anomaly(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return guarded([&]() -> PyObject* {
        ParsedArgs p;
        if (anomaly_overloads.parse(p, nullptr, args, nargs, kwnames) < 0) return p.finish();
        AnomalyMode::set_enabled(p.boolean(0), p.boolean(1, true));
        Py_RETURN_NONE;
    });
}

PyMethodDef functions[] = {
    {"is_grad_enabled", get<GradMode::flag>, METH_NOARGS,
     "is_grad_enabled()\n--\n\nWhether operations of this thread are recorded."},
    {"_set_grad_enabled", set<"_set_grad_enabled", GradMode::set_enabled>, METH_O, nullptr},
    {"_is_fwd_grad_enabled", get<GradMode::is_forward_enabled>, METH_NOARGS, nullptr},
    {"_set_fwd_grad_enabled", set<"_set_fwd_grad_enabled", GradMode::set_forward_enabled>, METH_O, nullptr},
    {"is_inference_mode_enabled", get<InferenceMode::is_enabled>, METH_NOARGS,
     "is_inference_mode_enabled()\n--\n\nWhether inference mode is on."},
    {"_is_multithreading_enabled", get<multithreading>, METH_NOARGS,
     "_is_multithreading_enabled()\n--\n\nWhether backward passes may use several threads."},
    {"_set_multithreading_enabled", set<"_set_multithreading_enabled", set_multithreading>, METH_O, nullptr},
    {"_is_view_replay_enabled", get<view_replay>, METH_NOARGS,
     "_is_view_replay_enabled()\n--\n\nWhether views are repeated by their operations, not by strides."},
    {"_set_view_replay_enabled", set<"_set_view_replay_enabled", set_view_replay>, METH_O, nullptr},
    {"_is_grad_layout_enforcement_enabled", get<grad_layout>, METH_NOARGS, nullptr},
    {"_set_grad_layout_enforcement_enabled", set<"_set_grad_layout_enforcement_enabled", set_grad_layout>, METH_O,
     nullptr},
    {"_is_strict_singular", get<strict_singular>, METH_NOARGS, nullptr},
    {"_set_strict_singular", set<"_set_strict_singular", set_strict_singular>, METH_O, nullptr},
    {"is_warn_always_enabled", get<warns_always>, METH_NOARGS,
     "is_warn_always_enabled()\n--\n\nWhether warnings that are given once in a process are given every time."},
    {"set_warn_always", set<"set_warn_always", set_warns_always>, METH_O,
     "set_warn_always(enabled, /)\n--\n\nGives warnings that come once in a process every time."},
    {"is_anomaly_enabled", get<AnomalyMode::is_enabled>, METH_NOARGS,
     "is_anomaly_enabled()\n--\n\nWhether anomaly mode is on."},
    {"is_anomaly_check_nan_enabled", get<AnomalyMode::should_check_nan>, METH_NOARGS,
     "is_anomaly_check_nan_enabled()\n--\n\nWhether anomaly mode looks for NaN in gradients."},
    fast_method("set_anomaly_enabled", set_anomaly,
                "set_anomaly_enabled(mode, check_nan=True)\n--\n\nSwitches anomaly mode."),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int add_grad_modes(PyObject* module) {
    return add_mode_contexts(module) < 0 ? -1 : add_functions(module, "", functions);
}

}  // namespace wengert::python
