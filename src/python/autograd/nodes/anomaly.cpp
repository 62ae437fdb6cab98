#include "python/autograd/nodes/anomaly.h"

#include "python/autograd/collection/shared_objects.h"
#include "python/autograd/nodes/node_object.h"
#include "python/exceptions.h"
#include "python/frames.h"

namespace wengert::python {
namespace {

// The name and line of the node that made this one, and so on: what debug mode keeps of parents. No node stays alive.
struct Ancestor {
    std::string name;
    std::shared_ptr<const Place> place;
    std::shared_ptr<const Ancestor> parent;
};

class PyAnomalyMetadata final : public AnomalyMetadata, OwnsPython {
public:
    ~PyAnomalyMetadata() override {
        if (!has_interpreter()) {
            for (Frame& f : stack_) (void)f.code.release();
            return;
        }
        GilGuard gil;
        stack_.clear();
        Py_CLEAR(dict_);
    }

    void store_stack() override {
        GilGuard gil;
        stack_ = all_frames();
    }

    void store_place(const Node* parent) override {
        place_ = current_place();
        if (!parent) return;
        auto* data = dynamic_cast<PyAnomalyMetadata*>(parent->anomaly_metadata());
        if (data)
            ancestor_ = std::make_shared<Ancestor>(parent->name(), data->place_, data->ancestor_);
        else
            ancestor_ = std::make_shared<Ancestor>(parent->name(), nullptr, nullptr);
    }

    void assign_parent(const Ref<Node>& parent) override {
        GilGuard gil;
        PyRef object(wrap_node(parent));
        checked(PyDict_SetItemString(dict(), "parent_", object.get()));
    }

    std::string place() const override {
        GilGuard gil;
        if (!place_) return user_frame_of_stack().describe();
        std::string text = place_->describe();
        for (const Ancestor* a = ancestor_.get(); a; a = a->parent.get()) {
            text += ", while " + a->name + " ran";
            if (a->place) text += ", which was made at " + a->place->describe();
        }
        return text;
    }

    // Called while an exception is on its way, which the warnings must not disturb.
    void print_stack(const std::string& node_name) override {
        GilGuard gil;
        print("Error detected in " + node_name + ". ", "that caused the error");
        const PyAnomalyMetadata* data = this;
        PyRef parent;  // whose `data` it is: printing runs user code, which may clear the dictionaries
        for (int depth = 0; depth < 100 && data; ++depth) {
            parent = PyRef::share(data->dict_ ? PyDict_GetItemString(data->dict_, "parent_") : nullptr);
            if (!parent || !is_node(parent.get())) break;
            const Ref<Node>& node = node_of(parent.get());
            std::string name = node->name();
            data = dynamic_cast<PyAnomalyMetadata*>(node->anomaly_metadata());
            std::string head = "\n\nPrevious calculation was induced by " + name + ". ";
            const char* role = "that induced the previous calculation";
            data ? data->print(std::move(head), role) : PyAnomalyMetadata().print(std::move(head), role);
        }
    }

    PyObject* dict() {
        if (!dict_) {
            dict_ = checked(PyDict_New());
            if (!stack_.empty()) {
                PyRef lines(checked(formatted()));
                checked(PyDict_SetItemString(dict_, "traceback_", lines.get()));
            }
        }
        return dict_;
    }
    PyObject* existing_dict() const noexcept { return dict_; }

private:
    // As traceback.format_stack writes it.
    PyObject* formatted() const {
        PyRef frames(frames_list(stack_));
        PyRef traceback(checked(PyImport_ImportModule("traceback")));
        return PyObject_CallMethod(traceback.get(), "format_list", "O", frames.get());
    }

    const Frame& user_frame_of_stack() const {
        static const Frame none;
        for (const Frame& f : stack_)
            if (!is_package_frame(f)) return f;
        return stack_.empty() ? none : stack_.front();
    }

    void print(std::string message, const char* role) const {
        if (stack_.empty()) {
            message +=
                "No forward pass information available. Enable detect anomaly during forward pass for more "
                "information.";
        } else {
            PyRef lines(formatted()), empty(PyUnicode_FromString(""));
            PyRef joined(lines && empty ? PyUnicode_Join(empty.get(), lines.get()) : nullptr);
            const char* text = joined ? PyUnicode_AsUTF8(joined.get()) : nullptr;
            PyErr_Clear();
            message += std::string("Traceback of forward call ") + role + ":\n" + (text ? text : "");
        }
        // Where warnings are errors, the text goes to stderr instead.
        if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) < 0) {
            PyErr_Clear();
            PySys_WriteStderr("%.900s\n", message.c_str());
        }
    }

    std::vector<Frame> stack_;            // of anomaly mode
    std::shared_ptr<const Place> place_;  // of debug mode
    std::shared_ptr<const Ancestor> ancestor_;
    PyObject* dict_ = nullptr;
};

std::unique_ptr<AnomalyMetadata> make() { return std::make_unique<PyAnomalyMetadata>(); }

}  // namespace

PyObject* metadata_dict(Node& node) {
    if (!node.anomaly_metadata()) node.set_anomaly_metadata(make());
    auto* data = dynamic_cast<PyAnomalyMetadata*>(node.anomaly_metadata());
    return data ? data->dict() : nullptr;
}

PyObject* existing_metadata_dict(const Node& node) noexcept {
    auto* data = dynamic_cast<PyAnomalyMetadata*>(node.anomaly_metadata());
    return data ? data->existing_dict() : nullptr;
}

void install_anomaly_factory() noexcept { make_anomaly_metadata = make; }

}  // namespace wengert::python
