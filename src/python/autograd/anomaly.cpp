#include "python/autograd/anomaly.h"

#include "python/autograd/node_object.h"
#include "python/exceptions.h"

namespace wengert::python {
namespace {

class PyAnomalyMetadata final : public AnomalyMetadata {
public:
    PyAnomalyMetadata() {
        GilGuard gil;
        dict_ = checked(PyDict_New());
    }
    ~PyAnomalyMetadata() override {
        if (!Py_IsInitialized()) return;
        GilGuard gil;
        Py_DECREF(dict_);
    }

    void store_stack() override {
        GilGuard gil;
        PyRef traceback(checked(PyImport_ImportModule("traceback")));
        PyRef stack(checked(PyObject_CallMethod(traceback.get(), "format_stack", nullptr)));
        checked(PyDict_SetItemString(dict_, "traceback_", stack.get()));
    }

    void assign_parent(const Ref<Node>& parent) override {
        GilGuard gil;
        PyRef object(wrap_node(parent));
        checked(PyDict_SetItemString(dict_, "parent_", object.get()));
    }

    // Called while an exception is on its way, which the warnings must not disturb.
    void print_stack(const std::string& node_name) override {
        GilGuard gil;
        print(dict_, "Error detected in " + node_name + ". ", "that caused the error");
        PyObject* parent = PyDict_GetItemString(dict_, "parent_");
        std::string child = node_name;
        for (int depth = 0; parent && is_node(parent) && depth < 100; ++depth) {
            std::string name = node_of(parent)->name();
            PyObject* dict = existing_metadata_dict(*node_of(parent));
            print(dict, "\n\nPrevious calculation was induced by " + name + ". ",
                  "that induced the previous calculation");
            parent = dict ? PyDict_GetItemString(dict, "parent_") : nullptr;
        }
    }

    PyObject* dict() const noexcept { return dict_; }

private:
    static void print(PyObject* dict, std::string head, const char* role) {
        PyObject* stack = dict ? PyDict_GetItemString(dict, "traceback_") : nullptr;
        std::string message = std::move(head);
        if (!stack) {
            message +=
                "No forward pass information available. Enable detect anomaly during forward pass for more "
                "information.";
        } else {
            PyRef empty(PyUnicode_FromString(""));
            PyRef joined(PyUnicode_Join(empty.get(), stack));
            const char* text = joined ? PyUnicode_AsUTF8(joined.get()) : nullptr;
            message += std::string("Traceback of forward call ") + role + ":\n" + (text ? text : "");
        }
        // Where warnings are errors, the text goes to stderr instead.
        if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) < 0) {
            PyErr_Clear();
            PySys_WriteStderr("%.900s\n", message.c_str());
        }
    }

    PyObject* dict_;
};

std::unique_ptr<AnomalyMetadata> make() { return std::make_unique<PyAnomalyMetadata>(); }

}  // namespace

PyObject* metadata_dict(Node& node) {
    if (!node.anomaly_metadata()) node.set_anomaly_metadata(make());
    return existing_metadata_dict(node);
}

PyObject* existing_metadata_dict(const Node& node) noexcept {
    auto* data = dynamic_cast<PyAnomalyMetadata*>(node.anomaly_metadata());
    return data ? data->dict() : nullptr;
}

void install_anomaly_factory() noexcept { make_anomaly_metadata = make; }

}  // namespace wengert::python
