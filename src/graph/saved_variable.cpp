#include "graph/saved_variable.h"

#include "base/place.h"
#include "graph/grad_mode.h"
#include "tensor/debug_writes.h"

namespace wengert {

constinit thread_local SavedHooksFactory SavedTensorDefaultHooks::factory = nullptr;

namespace {

// Ends a message that would say more in debug mode.
const char* advice() noexcept {
    return DebugMode::is_enabled() ? ""
                                   : " With wengert.autograd.set_debug_mode(True) before the forward pass this message "
                                     "names the lines.";
}

// Names the write that made `version`.
std::string written_by(const Tensor& t, uint32_t version) {
    std::string write = describe_write(&t.impl()->version(), version);
    return write.empty() ? write : " It was written" + write + ".";
}

}  // namespace

void raise_freed(const Node* node) {
    std::string first =
        node ? " The first node that this pass needs and that was freed is " + name_and_place(*node) + "."
             : std::string();
    fail(ErrorKind::Runtime,
         "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
         "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
         "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
         "saved tensors after calling backward.",
         first, advice());
}

SavedVariable::SavedVariable(const Tensor& t, bool is_output, bool is_inplace_on_view) {
    if (!t.defined()) return;
    check(!(t.flags() & kInference), ErrorKind::Runtime,
          "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
          "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor.");
    none_ = false;
    is_output_ = is_output;
    version_ = t.version();
    if (!is_output && !is_inplace_on_view) {
        original_ = true;
        data_ = t;
        is_leaf_ = !meta_of(t) || !meta_of(t)->grad_fn;
        requires_grad_ = t.flags() & kRequiresGrad;
    } else {
        output_nr_ = output_nr(t);
        requires_grad_ = t.flags() & kRequiresGrad;
        data_ = alias(t);
        if (t.flags() & kHasTangent) [[unlikely]] {
            const ForwardGrad& tangents = *meta_of(t)->tangents;
            for (int32_t level : tangents.levels()) set_tangent(data_, level, tangents.at(level));
        }
        if (is_inplace_on_view) weak_grad_fn_ = grad_fn(t).get();
    }
    if (SavedTensorDefaultHooks::active()) [[unlikely]]
        pack_with(SavedTensorDefaultHooks::factory());
}

void SavedVariable::pack_with(std::unique_ptr<SavedVariableHooks> hooks) {
    if (!hooks) return;
    // A leaf keeps its accumulator through edge_; an output gets its node at unpack.
    if (original_ && requires_grad(data_)) edge_ = gradient_edge(data_);
    Tensor given = original_ ? detach(data_) : data_;
    {
        AutoGradMode no_grad(false);
        uint32_t before = given.version();
        hooks->pack(given);
        check(
            given.version() == before, ErrorKind::Runtime,
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not "
            "be modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if "
            "you need to perform in-place operations on the input to a pack hook; clone it in the hook instead.");
    }
    std::shared_ptr<SavedVariableHooks> shared(std::move(hooks));
    Tensor replaced;  // dies after the lock
    SharedStateLock lock(this);
    std::swap(hooks_, shared);
    std::swap(data_, replaced);
}

void SavedVariable::register_hooks(std::unique_ptr<SavedVariableHooks> hooks) {
    check(!none_, ErrorKind::Runtime, "Calling register_hooks on a saved tensor with value None is forbidden");
    check(!released_, ErrorKind::Runtime, "Calling register_hooks on a saved tensor after it has been freed");
    check(!hooks_, ErrorKind::Runtime, "Calling register_hooks on a saved tensor whose hooks have already been set");
    pack_with(std::move(hooks));
}

void SavedVariable::carry_tangent(int32_t level, Tensor tangent) {
    if (data_.defined() && !original_) set_tangent(data_, level, std::move(tangent));
}

void SavedVariable::reset_data() noexcept {
    Tensor data;  // these die after the lock
    std::shared_ptr<SavedVariableHooks> hooks;
    Edge edge;
    SharedStateLock lock(this);
    released_ = !none_;
    std::swap(data, data_);
    std::swap(hooks, hooks_);
    std::swap(edge, edge_);
}

void SavedVariable::check_version(const Tensor& data, Node* saved_for) const {
    uint32_t current = data.version();
    if (current == version_) [[likely]]
        return;
    std::ostringstream shape;
    for (size_t i = 0; i < data.sizes().size(); ++i) shape << (i ? ", " : "") << data.sizes()[i];
    const Ref<Node>& made_by = original_ ? grad_fn(data) : Ref<Node>::share(saved_for);
    std::string origin;
    if (made_by)
        origin = ", which is output " + std::to_string(original_ ? output_nr(data) : output_nr_) + " of " +
                 name_and_place(*made_by) + ",";
    fail(ErrorKind::Runtime,
         "one of the variables needed for gradient computation has been modified by an inplace operation: [wengert.",
         legacy_type_name(data.dtype()), " [", shape.str(), "]]", origin, " is at version ", current,
         "; expected version ", version_,
         " instead. Hint: the backtrace further above shows the operation that failed to compute its gradient; enable "
         "anomaly detection to find it, with wengert.autograd.set_detect_anomaly(True), and clone the tensor before it "
         "is written.",
         written_by(data, version_ + 1), advice());
}

Tensor SavedVariable::unpack(Node* saved_for) const {
    if (none_) return {};
    Tensor data;
    std::shared_ptr<SavedVariableHooks> hooks;
    Edge edge;
    {
        SharedStateLock lock(this);
        if (!released_) {
            data = data_;
            hooks = hooks_;
            edge = edge_;
        }
    }
    if (!data.defined() && !hooks) raise_freed(saved_for);
    if (original_ && !hooks) [[likely]] {
        check_version(data, saved_for);
        check(
            is_leaf_ || !requires_grad_ || meta_of(data)->grad_fn, ErrorKind::Runtime,
            "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_(). Use .detach() instead "
            "of it, which leaves the original alone.");
        return data;
    }
    Tensor out;
    if (hooks) {
        AutoGradMode no_grad(false);
        out = hooks->unpack();
        out = variable_data(out);
    } else {
        check_version(data, saved_for);
        out = alias(data);
        if (data.flags() & kHasTangent) [[unlikely]] {
            const ForwardGrad& tangents = *meta_of(data)->tangents;
            for (int32_t level : tangents.levels()) set_tangent(out, level, tangents.at(level));
        }
    }
    if (!requires_grad_) return out;
    if (is_output_) {
        Node* node = weak_grad_fn_ ? weak_grad_fn_ : saved_for;
        check(node, ErrorKind::Runtime, "a saved output needs its node to be unpacked");
        set_gradient_edge(out, Edge(Ref<Node>::share(node), output_nr_));
    } else if (is_leaf_) {
        set_requires_grad(out, true);
        AutogradMeta& meta = materialize_meta(out);
        meta.grad_accumulator = edge.function.get();
        meta.kept_accumulator = std::move(edge.function);
    } else {
        set_gradient_edge(out, std::move(edge));
    }
    return out;
}

}  // namespace wengert
