#include "ops/custom_function.h"

#include <unordered_map>

#include "generated/ops/operators.h"
#include "graph/batched.h"
#include "ops/batching/error.h"
#include "ops/recording.h"

namespace wengert {
namespace {

bool contains(const TensorList& list, const Tensor& t) {
    for (const Tensor& each : list)
        if (each.is_same(t)) return true;
    return false;
}

// An input that the user changed in place and returned.
Tensor wrap_dirty(const CustomOutputs& custom, const Tensor& t, bool differentiable, size_t num_outputs) {
    bump_version(
        t, "a custom Function");  // the write itself may have been one that nobody counted, through NumPy for example
    if (!custom.node) return t;
    if (differentiable) {
        ViewInfo* view = view_info(t);
        if (view && view->creation != CreationMeta::Default) fail(ErrorKind::Runtime, creation_error(t, false));
        check(
            !view || !(is_leaf(view->base) && (requires_grad(view->base) || requires_grad(t))), ErrorKind::Runtime,
            "a view of a leaf Variable that requires grad is being used in an in-place operation. It was marked dirty. "
            "Clone the leaf before it is passed.");
        check(!(is_leaf(t) && requires_grad(t)), ErrorKind::Runtime,
              "a leaf Variable that requires grad has been used in an in-place operation.");
        check(
            !view || num_outputs == 1, ErrorKind::Runtime,
            "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return "
            "more than one Tensor. This is not supported by the current autograd engine. You should either make sure "
            "the input is not a view (using .clone() for example) or make your Function only return one Tensor "
            "(potentially splitting it into two Functions: one doing the inplace that returns a single Tensor and a "
            "second one that does the other operations).");
        rebase_history(t, custom.node);
    } else {
        custom.node->add_input_metadata(t);
    }
    return t;
}

Tensor wrap_output(const CustomOutputs& custom, const Tensor& t, size_t num_outputs) {
    bool is_input = contains(custom.inputs, t);
    bool differentiable = custom.node && is_differentiable(t.dtype()) && !custom.non_differentiable.contains(t.impl());
    if (custom.dirty.contains(t.impl())) return wrap_dirty(custom, t, differentiable, num_outputs);

    CreationMeta creation = num_outputs > 1 ? CreationMeta::MultiOutputNode : CreationMeta::InCustomFunction;
    Tensor out = t;
    if (is_input) {
        out = detach(t);
        if (GradMode::is_enabled())  // also where nothing requires grad: a later write could, which nobody would see
            out = as_view(t, out, creation);
    } else if (ViewInfo* view = view_info(t); view && GradMode::is_enabled()) {
        view->creation = creation;
    }
    if (!custom.node) return out;
    if (differentiable) {
        set_history(out, custom.node);
    } else {
        custom.node->add_input_metadata(out);
        if (is_view(out) || requires_grad(out)) out = detach(out);
    }
    return out;
}

// Returned as it is, or as a view: then the tangent must be a view of the input's tangent.
bool is_view_of_input(const CustomOutputs& custom, const Tensor& raw) {
    if (contains(custom.inputs, raw)) return true;
    ViewInfo* view = view_info(raw);
    if (!view) return false;
    for (const Tensor& input : custom.inputs)
        if (view->base.is_same(input) || (view_info(input) && view_info(input)->base.is_same(view->base))) return true;
    return false;
}

// Of the base of an input, as far as one can tell.
bool view_of_base(const CustomOutputs& custom, const Tensor& raw) {
    if (contains(custom.inputs, raw)) return false;
    for (const Tensor& input : custom.inputs)
        if (view_info(raw)->base.is_same(input) || view_info(raw)->forward_base.is_same(input)) return false;
    return true;
}

// Tangents of the outputs at one level.
void propagate(const CustomOutputs& custom, const TensorList& raw, const TensorList& outputs, int32_t level) {
    LevelGuard hide(level);
    check(static_cast<bool>(custom.jvp), ErrorKind::NotImplemented,
          "You must implement the jvp function for custom autograd.Function to use it with forward mode AD.");
    TensorList tangents;
    SmallVector<uint32_t, 4> versions;
    for (const Tensor& t : custom.inputs) {
        tangents.push_back(tangent_at(t, level));
        versions.push_back(tangents.back().defined() ? tangents.back().version() : 0);
    }
    TensorList results = custom.jvp(tangents);
    check(results.size() == outputs.size(), ErrorKind::Runtime, "A custom Function's jvp returned ", results.size(),
          " tangents, expected ", outputs.size(), ": one for each output");
    for (size_t i = 0; i < outputs.size(); ++i) {
        const Tensor& out = outputs[i];
        Tensor& tangent = results[i];
        if (!out.defined() || !is_differentiable(out.dtype()) || custom.non_differentiable.contains(raw[i].impl())) {
            check(!tangent.defined(), ErrorKind::Runtime, "The jvp of a custom Function returned a tangent for output ",
                  i, ", which is not differentiable. You should return None at that position instead.");
            continue;
        }
        if (!tangent.defined()) continue;
        check(tangent.sizes() == out.sizes(), ErrorKind::Runtime,
              "The jvp of a custom Function returned a tangent of shape ", ShapeOf{tangent.sizes()}, " for output ", i,
              " of shape ", ShapeOf{out.sizes()});
        if (custom.dirty.contains(out.impl())) {
            bool in_place = contains(tangents, tangent);
            check(
                in_place, ErrorKind::Runtime,
                "An inplace custom Function is not modifying the forward mode gradients inplace: the jvp function must "
                "modify the corresponding gradient inplace and return it, since output ",
                i, " is a changed input.");
            for (size_t k = 0; k < tangents.size(); ++k)
                check(!tangents[k].is_same(tangent) || tangent.version() != versions[k], ErrorKind::Runtime,
                      "A custom Function's jvp function must modify the corresponding gradient inplace, since output ",
                      i, " is a changed input: its jvp returned a tangent that it had not written to.");
        } else if (is_view_of_input(custom, raw[i])) {
            bool is_alias = false;
            for (const Tensor& t : tangents) is_alias |= t.defined() && t.storage() == tangent.storage();
            check(is_alias, ErrorKind::Runtime,
                  "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a "
                  "view of the ",
                  view_of_base(custom, raw[i]) ? "same base as the given input's tangent" : "given input's tangent",
                  " at output ", i, "; return the tangent itself, or a view of it.");
            if (contains(tangents, tangent)) tangent = alias(tangent);
        }
        set_tangent(out, level, tangent);
    }
}

// History and tangents of a sample are those of the batch inside it, which a function of samples does not see.
void refuse_samples(const CustomOutputs& custom, const TensorList& raw) {
    bool lost = false;
    for (const Tensor& t : custom.inputs) {
        if (!is_batched(t)) continue;
        const Tensor inside = unbatched(t);
        lost |= records(inside) || (inside.flags() & kHasTangent);
    }
    for (const Tensor& t : raw) lost |= custom.node && is_batched(t);
    if (lost)
        fail_batch(
            "vmap: a custom function has no derivative for samples of a batch. In Python, give it a vmap staticmethod "
            "or generate_vmap_rule=True; in C++, call it outside of vmap.");
}

}  // namespace

TensorList wrap_outputs(const CustomOutputs& custom, const TensorList& raw) {
    refuse_samples(custom, raw);
    for (const Tensor& t : custom.inputs)
        if (custom.dirty.contains(t.impl()))
            check(
                contains(raw, t), ErrorKind::Runtime,
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
                "are modified inplace must all be outputs of the Function.");
    std::unordered_map<const TensorImpl*, Tensor> wrapped;  // the same tensor twice stays the same object
    TensorList outputs;
    size_t num_tensors = 0;
    for (const Tensor& t : raw) num_tensors += t.defined();
    for (const Tensor& t : raw) {
        if (!t.defined()) {
            if (custom.node) custom.node->add_undefined_input();
            outputs.emplace_back();
            continue;
        }
        auto [it, is_new] = wrapped.try_emplace(t.impl());
        if (is_new)
            it->second = wrap_output(custom, t, num_tensors);
        else if (custom.node && grad_fn(it->second) == custom.node)
            set_history(it->second, custom.node);  // its gradient arrives at its last place
        else if (custom.node)
            custom.node->add_input_metadata(t);
        outputs.push_back(it->second);
    }
    std::vector<int32_t> levels;
    for (const Tensor& t : custom.inputs) {
        if (!(flags_of(t) & kHasTangent & state.mask)) continue;
        for (int32_t level : meta_of(t)->tangents->levels())
            if (sees_level(level)) levels.push_back(level);
    }
    std::ranges::sort(levels);
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    for (int32_t level : levels) propagate(custom, raw, outputs, level);
    return outputs;
}

}  // namespace wengert
