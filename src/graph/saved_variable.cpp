#include "graph/saved_variable.h"

#include "base/place.h"
#include "graph/forward_grad.h"
#include "graph/grad_mode.h"
#include "tensor/writes/write_log.h"

namespace wengert {

constinit thread_local SavedHooksFactory SavedTensorDefaultHooks::factory = nullptr;

namespace {

// Ends a message that would say more in debug mode.
const char* advice() noexcept {
    return DebugMode::is_enabled() ? ""
                                   : " With wengert.autograd.set_debug_mode(True) before the forward pass this message "
                                     "names the lines.";
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

void SavedVariable::save(Tensor t, bool is_output, bool is_inplace_on_view) {
    if (!t.defined()) return;
    check(!(t.flags() & kInference), ErrorKind::Runtime,
          "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
          "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor.");
    none_ = false;
    is_output_ = is_output;
    version_ = t.version();
    requires_grad_ = t.flags() & kRequiresGrad;
    if (!is_output && !is_inplace_on_view) {
        original_ = true;
        is_leaf_ = !meta_of(t) || !meta_of(t)->grad_fn;
        data_ = std::move(t);
    } else {
        output_nr_ = output_nr(t);
        data_ = detach(t);
        copy_tangents(t, data_);
        is_inplace_on_view_ = is_inplace_on_view;
    }
    if (SavedTensorDefaultHooks::active()) [[unlikely]]
        if (auto hooks = SavedTensorDefaultHooks::factory()) {
            // A leaf keeps its accumulator through the edge; an output gets its node at unpack.
            const Tensor saved = data_;
            pack_with(std::move(hooks), saved, saved,
                      original_ && requires_grad(data_) ? gradient_edge(data_) : Edge());
            return;
        }
    Storage& storage = *data_.storage();
    storage.watch();
    if (storage.is_shared()) [[unlikely]]
        storage.check_outside_writes(region_of(*data_.impl()));
    writes_ = storage.writes;
    swaps_ = data_.impl()->swaps;
}

// For the usual tensor `save` comes down to this.
void SavedVariable::save_argument(TensorImpl* t) {
    Storage& storage = *t->storage;
    if ((t->flags & kInference) || SavedTensorDefaultHooks::active() || storage.is_shared()) [[unlikely]]
        return save(Tensor(Ref<TensorImpl>::share(t)), false);
    storage.watch();
    const AutogradMeta* meta = meta_of(t);
    none_ = false;
    original_ = true;
    is_leaf_ = !meta || !meta->grad_fn;
    requires_grad_ = t->flags & kRequiresGrad;
    version_ = t->version();
    writes_ = storage.writes;
    swaps_ = t->swaps;
    data_ = Tensor(Ref<TensorImpl>::share(t));
}

// The hook is user code, and so is what runs when the old values die: this may be released or packed meanwhile.
void SavedVariable::pack_with(std::unique_ptr<SavedVariableHooks> hooks, const Tensor& given, const Tensor& saved,
                              Edge edge) {
    {
        AutoGradMode no_grad(false);
        const LevelGuard hide_all(0);  // tangents stay here, whatever the hook makes of the tensor
        uint32_t before = given.version();
        hooks->pack(given);
        check(
            given.version() == before, ErrorKind::Runtime,
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not "
            "be modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if "
            "you need to perform in-place operations on the input to a pack hook; clone it in the hook instead.");
    }
    OwnedExtra fresh(new Extra);
    fresh->hooks = std::move(hooks);
    fresh->edge = std::move(edge);
    if (saved.flags() & kHasTangent) [[unlikely]]
        for (int32_t level : meta_of(saved)->tangents->levels())
            fresh->keep_tangent(level, tangent_at(saved.impl(), level));
    Tensor replaced;  // dies after the lock
    SharedStateLock lock(this);
    if (released_) return;
    std::swap(extra_, fresh);
    std::swap(data_, replaced);
}

void SavedVariable::register_hooks(std::unique_ptr<SavedVariableHooks> hooks) {
    check(!none_, ErrorKind::Runtime, "Calling register_hooks on a saved tensor with value None is forbidden");
    Tensor saved;
    bool released = false, packed = false;
    {
        SharedStateLock lock(this);
        saved = data_;
        released = released_;
        packed = has_hooks();
    }
    check(!released, ErrorKind::Runtime, "Calling register_hooks on a saved tensor after it has been freed");
    check(!packed, ErrorKind::Runtime, "Calling register_hooks on a saved tensor whose hooks have already been set");
    // Saved long ago: the hook gets the values, not the tensor as it is now.
    const bool attached = original_ && requires_grad(saved);
    pack_with(std::move(hooks), attached ? detach(saved) : saved, saved, attached ? gradient_edge(saved) : Edge());
}

void SavedVariable::carry_tangent(int32_t level, Tensor tangent) {
    if (original_) return;
    if (has_hooks())
        extra_->keep_tangent(level, std::move(tangent));
    else if (data_.defined())
        set_tangent(data_, level, std::move(tangent));
}

void SavedVariable::Extra::keep_tangent(int32_t level, Tensor tangent) {
    if (!tangents) tangents = std::make_shared<ForwardGrad>(nullptr);
    tangents->set(level, std::move(tangent));
}

void SavedVariable::Discard::operator()(Extra* extra) const noexcept { delete extra; }

SavedVariable& SavedOperand::no_variable() noexcept {
    static constinit SavedVariable none;
    return none;
}

void SavedVariable::reset_data() noexcept {
    Tensor data;  // these die after the lock
    OwnedExtra extra;
    SharedStateLock lock(this);
    released_ = !none_;
    std::swap(data, data_);
    std::swap(extra, extra_);
}

std::optional<std::string> SavedVariable::change_of(const Tensor& data) const {
    Storage& storage = *data.storage();
    if (storage.is_shared()) [[unlikely]]
        storage.check_outside_writes(region_of(*data.impl()));
    if (counts_agree(data)) [[likely]]
        return std::nullopt;
    const uint32_t bumps = data.version() - version_;
    if (data.impl()->swaps != swaps_)
        return " Its memory or shape was exchanged: by assigning to .data, set_, resize_ or the like.";
    // More counts than writes: somebody changed the counter by hand.
    if (storage.writes < writes_ || bumps > storage.writes - writes_) return "";
    const FoundWrite write = storage.find_write(region_of(*data.impl()), writes_);
    if (!write.any) return std::nullopt;
    if (write.outside)
        return " Its memory is shared with an array or buffer outside of Wengert, and was written there.";
    if (!write.operation) return "";
    std::string cause = std::string(" It was written by '") + write.operation + "'";
    if (bumps == 0) cause += ", through .data or another tensor that does not share its version counter";
    if (write.place) cause += (bumps == 0 ? ", at " : " at ") + write.place->describe();
    return cause + '.';
}

void SavedVariable::check_unchanged(const Tensor& data, Node* saved_for) const {
    if (const std::optional<std::string> cause = change_of(data)) raise_modified(data, saved_for, *cause);
}

bool SavedVariable::was_written() const {
    Tensor data;
    {
        SharedStateLock lock(this);
        if (!released_ && !has_hooks()) data = data_;
    }
    return data.defined() && (is_detached(data) || change_of(data));
}

void SavedVariable::raise_modified(const Tensor& data, Node* saved_for, const std::string& cause) const {
    std::ostringstream shape;
    for (size_t i = 0; i < data.sizes().size(); ++i) shape << (i ? ", " : "") << data.sizes()[i];
    const Ref<Node> made_by = original_ ? grad_fn(data) : Ref<Node>::share(saved_for);
    std::string origin;
    if (made_by)
        origin = ", which is output " + std::to_string(original_ ? output_nr(data) : output_nr_) + " of " +
                 name_and_place(*made_by) + ",";
    const std::string saved_by = saved_for ? " It was saved by " + saved_for->name() + "." : "";
    fail(ErrorKind::Runtime,
         "one of the variables needed for gradient computation has been modified by an inplace operation: [wengert.",
         legacy_type_name(data.dtype()), " [", shape.str(), "]]", origin, " is at version ", data.version(),
         "; expected version ", version_,
         " instead. Hint: the backtrace further above shows the operation that failed to compute its gradient; enable "
         "anomaly detection to find it, with wengert.autograd.set_detect_anomaly(True), and clone the tensor before it "
         "is written.",
         saved_by, cause, advice());
}

Tensor SavedVariable::unpack(Node* saved_for) const {
    if (original_ && is_evidently_intact()) [[likely]]
        return data_;
    return unpack_in_general(saved_for);
}

Tensor SavedVariable::unpack_in_general(Node* saved_for) const {
    if (none_) return {};
    Tensor data;
    std::shared_ptr<SavedVariableHooks> hooks;
    std::shared_ptr<ForwardGrad> tangents;
    Edge edge;
    {
        SharedStateLock lock(this);
        if (!released_) {
            data = data_;
            if (extra_) {
                hooks = extra_->hooks;
                tangents = extra_->tangents;
                edge = extra_->edge;
            }
        }
    }
    if (!data.defined() && !hooks) raise_freed(saved_for);
    if (original_ && !hooks) [[likely]] {
        check_unchanged(data, saved_for);
        check(
            !is_detached(data), ErrorKind::Runtime,
            "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_(). Use .detach() instead "
            "of it, which leaves the original alone.");
        return data;
    }
    Tensor out;
    if (hooks) {
        AutoGradMode no_grad(false);
        out = hooks->unpack();
        out = variable_data(out);
        if (tangents)
            for (int32_t level : tangents->levels()) set_tangent(out, level, tangents->at(level));
    } else {
        check_unchanged(data, saved_for);
        const bool attach = is_inplace_on_view_ && requires_grad_ && GradMode::is_enabled();
        out = attach ? graph_providers.attach_region(data, saved_for) : detach(data);
        copy_tangents(data, out);
    }
    if (!requires_grad_ || is_inplace_on_view_) return out;
    if (is_output_) {
        check(saved_for, ErrorKind::Runtime, "a saved output needs its node to be unpacked");
        set_gradient_edge(out, Edge(Ref<Node>::share(saved_for), output_nr_));
    } else if (is_leaf_) {
        set_requires_grad(out, true);
        AutogradMeta::Extras& extras = materialize_meta(out).extras.make();
        extras.accumulator = edge.function.get();
        extras.kept_accumulator = std::move(edge.function);
    } else {
        set_gradient_edge(out, std::move(edge));
    }
    return out;
}

}  // namespace wengert
