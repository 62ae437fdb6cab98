#include "ops/generated_support.h"

#include "generated/kernels/arithmetic.h"
#include "generated/ops/arithmetic.h"
#include "generated/ops/complex.h"
#include "generated/ops/conversions.h"
#include "generated/ops/storage.h"
#include "graph/batched.h"
#include "kernels/elementwise/overlap.h"
#include "ops/basic_nodes.h"
#include "tensor/writes/writable.h"

namespace wengert::ops {

namespace {

// Gives `out` the shape of a result; new memory if it changes. The last that may raise before the result is written.
void resize_output(const Tensor& out, IntSpan sizes) {
    if (std::ranges::equal(out.sizes(), sizes)) return kernels::check_no_internal_overlap(out, "out=");
    if (out.numel() != 0)
        warn(WarningKind::User, "An output with one or more elements was resized; pass an out= of the result's shape");
    out.impl()->shallow_copy_from(*empty(sizes, out.dtype(), out.device()).impl());
    ++out.impl()->swaps;
}

void check_castable(const Tensor& out, DType dtype) {
    check(can_cast(dtype, out.dtype()), ErrorKind::Runtime, "result type ", dtype,
          " can't be cast to the desired output type ", out.dtype());
}

void check_can_hold(const Tensor& out, const Tensor& value, const char* op) {
    check(out.device() == value.device(), ErrorKind::Runtime, "[", op, "] Expected out tensor to have device ",
          value.device(), ", but got ", out.device(), " instead");
    check_castable(out, value.dtype());
}

}  // namespace

LossReduction reduction_of(std::string_view name) {
    if (name == "none") return LossReduction::None;
    if (name == "sum") return LossReduction::Sum;
    check(name == "mean", ErrorKind::Value, name, " is not a valid value for reduction; use 'mean', 'sum' or 'none'");
    return LossReduction::Mean;
}

Tensor run_reduced(const kernels::Kernel& kernel, Operands operands, std::string_view reduction) {
    const LossReduction how = reduction_of(reduction);
    const char* name = kernel.name;
    check(std::ranges::any_of(operands, [](const Operand& o) { return o.is_tensor() && !is_integral(o.dtype()); }),
          ErrorKind::NotImplemented, "[", name,
          "] not implemented for whole numbers; convert one operand to a floating dtype");
    const kernels::Operands inputs(operands.begin(), operands.size());
    if (how == LossReduction::None) return kernels::run(kernel, inputs);
    return kernels::run_reduced(kernel, inputs, how == LossReduction::Mean);
}

Tensor run_operands_as(const Node& node, DType compute, const kernels::Kernel& kernel, const Tensor* reusable,
                       Operands operands) {
    const kernels::Operands inputs(operands.begin(), operands.size());
    if (Tensor constant = kernels::constant_result(compute, kernel, inputs);
        constant.defined() && running_pass && running_pass->constants_may_stay(node))
        return constant;
    return kernels::run_as(compute, kernel, inputs, reusable);
}

Tensor run_operands_onto(const Node& node, size_t i, DType compute, const kernels::Kernel& kernel,
                         const Tensor* reusable, Operands operands) {
    const kernels::Operands inputs(operands.begin(), operands.size());
    if (kernels::run_onto(node.waiting_sum(i), compute, kernel, kernels::K_add, inputs, reusable)) return {};
    return run_operands_as(node, compute, kernel, reusable, operands);
}

void add_into(const Tensor& region, const Tensor& grad) { run_into(region, kernels::K_add, region, grad); }

Tensor converted(const Tensor& t, DType dtype) { return ops::to_dtype(t, dtype); }
Tensor unwritten(const Tensor& self) { return GradMode::is_enabled() ? ops::clone(self) : self; }
Tensor apart_from(const Tensor& self, const Tensor& t) { return shares_memory(self, t) ? ops::clone(t) : t; }

void run_out(const Tensor& out, const kernels::Kernel& kernel, Operands operands) {
    check_writable(out);
    check_castable(out, kernels::defined_result(kernel, {operands.begin(), operands.size()}));
    Dims shape;
    for (const Operand& o : operands) shape = broadcast_shapes(shape, o.sizes(), kernel.name);
    if (!std::ranges::equal(out.sizes(), shape) &&
        std::ranges::any_of(operands, [&](const Operand& o) { return shares_memory(out, o); }))
        fail(ErrorKind::Runtime, "[", kernel.name, "] output with shape ", ShapeOf{out.sizes()},
             " doesn't match the broadcast shape ", ShapeOf{shape}, ", and is an operand: it cannot be resized");
    resize_output(out, shape);
    kernels::run_into(out, kernel, {operands.begin(), operands.size()});
    bump_version(out, kernel.name);
}

void write_out(const Tensor& out, const Tensor& value, const char* op) {
    if (is_batched(value)) refuse_batched_out(op);  // drawn for each sample of a batch
    check_writable(out);
    check_can_hold(out, value, op);
    resize_output(out, value.sizes());
    kernels::copy_into(out, value);
    bump_version(out, op);
}

void write_all_out(TensorSpan outs, const TensorList& values, const char* op) {
    check(outs.size() == values.size(), ErrorKind::Type, "[", op, "] out= must hold ", values.size(), " tensors, not ",
          outs.size());
    for (size_t i = 0; i < outs.size(); ++i) check_can_hold(outs[i], values[i], op);
    for (size_t i = 0; i < outs.size(); ++i) write_out(outs[i], values[i], op);
}

// --- Operands in formulas
Tensor wide(const Operand& o) {
    if (o.is_tensor()) return o.tensor();
    // Integers too: 1 / x of an integer 1 and a number x would be computed in the default dtype again.
    constexpr DType widest_of[] = {DType::Bool, DType::Float64, DType::Float64, DType::Complex128};
    return scalar_tensor(o.scalar(), widest_of[static_cast<int>(o.scalar().kind())]);
}

HeldOperand conjugate(const Operand& partial) {
    if (partial.is_tensor()) return is_complex(partial.dtype()) ? ops::conj(partial.tensor()) : partial.tensor();
    if (!partial.scalar().is_complex()) return partial;
    return Operand(std::conj(partial.scalar().to<complex128>()));
}

std::vector<Dims> get_sizes(TensorSpan ts) {
    std::vector<Dims> sizes;
    for (const Tensor& t : ts) sizes.push_back(t.defined() ? t.sizes() : Dims{});
    return sizes;
}

// --- Saved fields
SavedList save_list(TensorSpan ts, bool is_output) {
    SavedList saved;
    for (const Tensor& t : ts) saved.push_back(t.defined() ? SavedVariable(t, is_output) : SavedVariable());
    return saved;
}

TensorList unpack_list(const SavedList& saved, Node* node) {
    TensorList ts;
    for (const SavedVariable& v : saved) ts.push_back(v.unpack(node));
    return ts;
}

// --- In Node::apply
bool any_needed(const Node& node, size_t first, size_t count) noexcept {
    for (size_t i = first; i < first + count; ++i)
        if (node.task_should_compute_output(i)) return true;
    return false;
}

void assign(TensorList& grad_inputs, size_t first, TensorList&& values) {
    for (size_t i = 0; i < values.size(); ++i) grad_inputs[first + i] = std::move(values[i]);
}

void materialize_grads(const Node& node, TensorList& grads) {
    if (none_defined(grads)) return;
    for (size_t i = 0; i < grads.size(); ++i) {
        const InputMetadata& m = node.input_metadata()[i];
        if (!grads[i].defined() && m.used) grads[i] = zeros(m.sizes, m.dtype, m.device);
    }
}

namespace {

[[gnu::noinline]] void reduce_in_general(const Node& node, TensorList& grad_inputs, bool in_place) {
    for (size_t i = in_place; i < grad_inputs.size(); ++i) {
        Tensor& grad = grad_inputs[i];
        if (!grad.defined() || !node.next_edges()[i].is_valid()) continue;
        const Edge& edge = node.next_edges()[i];
        const InputMetadata& m = edge.function->input_metadata()[edge.input_nr];
        if (!m.used) continue;
        const DType dtype = m.any_dtype ? grad.dtype() : m.grad_dtype.value_or(m.dtype);
        if (grad.dtype() != dtype || grad.sizes() != m.sizes) grad = reduce_grad(grad, m.sizes, dtype);
    }
}

}  // namespace

void reduce_to_operands(const Node& node, TensorList& grad_inputs, bool in_place) {
    if (in_place) return reduce_in_general(node, grad_inputs, true);
    const EdgeList& edges = node.next_edges();
    for (size_t i = 0; i < grad_inputs.size(); ++i) {
        const TensorImpl* grad = grad_inputs[i].impl();
        if (!grad) continue;
        if (!edges[i].is_valid()) return reduce_in_general(node, grad_inputs, false);
        const InputMetadata& m = edges[i].function->input_metadata()[edges[i].input_nr];
        if (!m.fits(*grad)) return reduce_in_general(node, grad_inputs, false);
    }
    fitted_results_of = &node;
}

// --- Forward mode

Tensor tangent_or_zeros(const Tensor& t, int32_t level) {
    Tensor tangent = tangent_at(t, level);
    return tangent.defined() || !t.defined() ? tangent : zeros(t.sizes(), t.dtype(), t.device());
}

// Operands broadcast: one zero serves.
Tensor tangent_or_zeros(const Operand& o, int32_t level) {
    Tensor tangent = tangent_at(o, level);
    return tangent.defined() ? tangent
           : o.is_tensor()   ? scalar_tensor(0, o.dtype(), o.tensor().device())
                             : scalar_tensor(0, DType::Bool);
}

TensorList tangents_or_zeros(TensorSpan ts, int32_t level) {
    TensorList tangents;
    for (const Tensor& t : ts) tangents.push_back(tangent_or_zeros(t, level));
    return tangents;
}

void add_tangent(Tensor& sum, Tensor term) { sum = sum.defined() ? ops::add(sum, term) : std::move(term); }

namespace {

bool lies_as(const Tensor& a, const Tensor& b) noexcept {
    for (size_t d = 0; d < a.sizes().size(); ++d)
        if (a.sizes()[d] > 1 && a.strides()[d] != b.strides()[d]) return a.numel() == 0;
    return true;
}

}  // namespace

void fit_tangent(Tensor& tangent, const Tensor& result) {
    if (!tangent.defined()) return;
    if (!result.defined() || !is_differentiable(result.dtype())) return tangent.reset();
    if (tangent.dtype() != result.dtype()) tangent = ops::to_dtype(tangent, result.dtype());
    if (!same_shape(tangent, result))
        tangent = ops::add(tangent, zeros(result.sizes(), result.dtype(), result.device()));
    if (!lies_as(tangent, result) && result.is_non_overlapping_and_dense() && !(tangent.flags() & kDispatched)) {
        const Tensor fresh = empty_strided(result.sizes(), result.strides(), result.dtype(), result.device());
        tangent = ops::copy_(fresh, tangent);
    }
}

TensorList fit_all(TensorList tangents, const TensorList& results) {
    for (size_t i = 0; i < tangents.size(); ++i) fit_tangent(tangents[i], results[i]);
    return tangents;
}

void carry_tangents(const TensorList& results, int32_t level, const TensorList& tangents) {
    for (size_t i = 0; i < tangents.size(); ++i) {
        const Ref<Node>& node = grad_fn(results[i]);
        if (!node || !tangents[i].defined()) continue;
        for (const SavedField& field : node->saved_fields()) {
            SavedVariable* saved = field.variable ? field.variable(node.get()) : nullptr;
            if (saved && saved->is_output() && saved->saved_output_nr() == output_nr(results[i]))
                saved->carry_tangent(level, tangents[i]);
        }
    }
}

void set_all_tangents(const TensorList& results, int32_t level, TensorList&& tangents) {
    carry_tangents(results, level, tangents);
    for (size_t i = 0; i < tangents.size(); ++i)
        if (tangents[i].defined()) set_tangent(results[i], level, std::move(tangents[i]));
}

void replace_tangent(const Tensor& self, int32_t level, Tensor tangent) {
    {
        const LevelGuard hide(level);
        if (!tangent.defined() && tangent_at(self, level).defined())
            tangent = zeros(self.sizes(), self.dtype(), self.device());
        fit_tangent(tangent, self);
    }
    set_inplace_tangent(self, level, std::move(tangent));
}

// --- Around the computation
void assign(const Tensor& self, const Tensor& value) { ops::copy_(self, value); }

void share_memory(const Tensor& base, const Tensor& out) {
    if (!(base.flags() & out.flags() & kDispatched) || base.storage()->has_memory() || out.storage()->has_memory())
        return;
    if (out.is_same(base)) return;
    out.impl()->set_storage(base.storage());
    out.impl()->own_version = base.impl()->own_version;
}

Tensor as_views(const Tensor& base, Tensor out, ViewFunction replay) {
    share_memory(base, out);
    if (out.storage() != base.storage()) return out;  // a kernel that had to copy
    inherit_inference(base, out);
    return as_view(base, std::move(out), CreationMeta::Default, std::move(replay));
}

TensorList as_views(const Tensor& base, TensorList outs, const std::function<ViewFunction(size_t)>& replay) {
    inherit_inference(base, outs);
    for (const Tensor& out : outs) share_memory(base, out);
    for (size_t i = 0; i < outs.size(); ++i)
        if (outs[i].storage() == base.storage())
            outs[i] = as_view(base, std::move(outs[i]), CreationMeta::MultiOutputNode, replay ? replay(i) : nullptr);
    return outs;
}

void record_not_implemented(const char* what, EdgeList edges, const TensorList& results) {
    Ref<Node> node = Ref<Node>::adopt(new NotImplementedNode(what));
    node->set_next_edges(std::move(edges));
    set_history(results, node);
}

}  // namespace wengert::ops
