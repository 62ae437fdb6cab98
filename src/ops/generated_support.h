// What generated operations share: short names for what they do often. ops/recording.h has the principles.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <tuple>

#include "generated/ops/operators.h"
#include "graph/derivative.h"
#include "kernels/elementwise/traffic.h"
#include "ops/formulas/nn/losses.h"
#include "ops/recording.h"
#include "ops/watch.h"
#include "tensor/promotion.h"

namespace wengert::ops {

inline TensorList as_list(const Tensor& t) { return {t}; }
inline TensorList as_list(const TensorList& ts) { return ts; }
template <class... T>
TensorList as_list(const std::tuple<T...>& ts) {
    return std::apply([](const auto&... t) { return TensorList{t...}; }, ts);
}

// --- Elementwise kernels
using Operands = std::initializer_list<Operand>;

template <class... T>
inline Tensor run(const kernels::Kernel& kernel, const T&... operands) {
    return kernels::run(kernel, static_cast<const Operand&>(operands)...);
}
template <class... T>
inline void run_into(const Tensor& out, const kernels::Kernel& kernel, const T&... operands) {
    kernels::run_into(out, kernel, static_cast<const Operand&>(operands)...);
}
// The product of a cotangent and a partial derivative, in the body of a node. It is a constant (tensor/constant.h) where
// all operands are and the pass allows it.
Tensor run_operands_as(const Node& node, DType compute, const kernels::Kernel& kernel, const Tensor* reusable,
                       Operands operands);
template <class... T>
[[gnu::noinline]] Tensor run_large(const Node& node, DType compute, const kernels::Kernel& kernel,
                                   const Tensor* reusable, const T&... operands) {
    return run_operands_as(node, compute, kernel, reusable, {static_cast<const Operand&>(operands)...});
}
template <class... T>
inline Tensor run_as(const Node& node, DType compute, const kernels::Kernel& kernel, const Tensor* reusable,
                     const Tensor& grad, const T&... operands) {
    if (grad.numel() >= kernels::kFewestConstants) [[unlikely]]
        return run_large(node, compute, kernel, reusable, grad, operands...);
    return kernels::run_as(compute, kernel, reusable, static_cast<const Operand&>(grad),
                           static_cast<const Operand&>(operands)...);
}
// The same for output i of a node that is to add it (OutputUse): undefined if it has.
Tensor run_operands_onto(const Node& node, size_t i, DType compute, const kernels::Kernel& kernel,
                         const Tensor* reusable, Operands operands);
template <class... T>
[[gnu::cold, gnu::noinline]] Tensor run_onto(const Node& node, size_t i, DType compute, const kernels::Kernel& kernel,
                                             const Tensor* reusable, const T&... operands) {
    return run_operands_onto(node, i, compute, kernel, reusable, {static_cast<const Operand&>(operands)...});
}
// By `reduction` the results ('none'), their sum or their mean.
enum class LossReduction : uint8_t { None, Sum, Mean };
LossReduction reduction_of(std::string_view name);  // an error where it is none
Tensor run_reduced(const kernels::Kernel& kernel, Operands operands, std::string_view reduction);
void run_out(const Tensor& out, const kernels::Kernel& kernel, Operands operands);
void write_out(const Tensor& out, const Tensor& value, const char* op);
void write_all_out(TensorSpan outs, const TensorList& values, const char* op);
template <class Results>
void write_out(TensorSpan outs, const Results& values, const char* op) {
    write_all_out(outs, as_list(values), op);
}
// The tensors of an `out=` in the form of the results.
template <class Results>
Results given(TensorSpan outs) {
    if constexpr (std::is_same_v<Results, TensorList>)
        return TensorList(outs.begin(), outs.end());
    else
        return [&]<size_t... I>(std::index_sequence<I...>) {
            return Results{outs[I]...};
        }(std::make_index_sequence<std::tuple_size_v<Results>>());
}

// Adds `grad` to a region of a buffer that nobody differentiates.
void add_into(const Tensor& region, const Tensor& grad);

template <class... Values>
DType widest(DType first, const Values&... values) {
    ((first = promote(first, Operand(values).dtype())), ...);
    return first;
}

// --- Operands in formulas
// A number as a 0-dimensional tensor of the widest dtype of its category. An operation on numbers alone would otherwise
// be computed in the default dtype, and lose digits that a float64 tensor next to it has.
Tensor wide(const Operand& o);
// The first operand, wide if all of them are numbers.
template <class... Rest>
HeldOperand wide(const Operand& first, const Rest&... rest) {
    return first.is_tensor() || (Operand(rest).is_tensor() || ...) ? HeldOperand(first) : HeldOperand(wide(first));
}
// What an elementwise derivative computes with: a tensor of whole numbers in the dtype of the (co)tangent, since functions
// of it alone would be computed in the default dtype. Anything else as it is.
Tensor converted(const Tensor& t, DType dtype);
inline Tensor inexact(Tensor t, DType dtype) {
    return t.defined() && is_integral(t.dtype()) && !is_integral(dtype) ? converted(t, dtype) : t;
}
inline HeldOperand inexact(const Operand& o, DType dtype) {
    return o.is_tensor() ? HeldOperand(inexact(o.tensor(), dtype)) : HeldOperand(o);
}
// The complex conjugate of a partial derivative; a real one itself.
HeldOperand conjugate(const Operand& partial);

// --- Attributes
inline const Dims& get_sizes(const Tensor& t) noexcept { return t.sizes(); }
inline Dims get_sizes(const Operand& o) { return Dims(o.sizes()); }
std::vector<Dims> get_sizes(TensorSpan ts);
inline Device get_device(const Tensor& t) noexcept { return t.device(); }
inline DType get_dtype(const Operand& o) { return o.dtype(); }
inline int64_t get_dim(const Operand& o) noexcept { return static_cast<int64_t>(o.sizes().size()); }
inline const Dims& get_strides(const Tensor& t) noexcept { return t.strides(); }
inline int64_t get_offset(const Tensor& t) noexcept { return t.offset(); }
inline int64_t get_numel(const Operand& o) noexcept { return o.is_tensor() ? o.impl()->numel : 1; }

// Division of plain integers, as Python rounds it.
constexpr int64_t floor_divide(int64_t a, int64_t b) noexcept { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// --- Saved fields of nodes
using SavedList = std::vector<SavedVariable>;
SavedList save_list(TensorSpan ts, bool is_output);
TensorList unpack_list(const SavedList& saved, Node* node);

inline void release_one(SavedVariable& v) noexcept { v.reset_data(); }
inline void release_one(SavedOperand& v) noexcept { v.reset_data(); }
inline void release_one(SavedList& list) noexcept { std::ranges::for_each(list, &SavedVariable::reset_data); }
template <class... Fields>
void release_fields(Fields&... fields) noexcept {
    (release_one(fields), ...);
}

inline void visit(SavedValueVisitor& v, bool x) { v.boolean(x); }
inline void visit(SavedValueVisitor& v, int64_t x) { v.integer(x); }
inline void visit(SavedValueVisitor& v, double x) { v.real(x); }
inline void visit(SavedValueVisitor& v, const std::string& x) { v.string(x); }
inline void visit(SavedValueVisitor& v, const Scalar& x) { v.scalar(x); }
inline void visit(SavedValueVisitor& v, const Dims& x) { v.integers(x); }
inline void visit(SavedValueVisitor& v, DType x) { v.dtype(x); }
template <class T>
void visit(SavedValueVisitor& v, const std::optional<T>& x) {
    x ? visit(v, *x) : v.none();
}
template <class T>  // what Python has no use for
void visit(SavedValueVisitor& v, const T&) {
    v.none();
}

template <class N, class Field>
N* node_of_field(Field N::*);

template <auto Field>
constexpr SavedField saved_field(const char* name) {
    using N = std::remove_pointer_t<decltype(node_of_field(Field))>;
    using T = std::remove_reference_t<decltype(std::declval<N&>().*Field)>;
    if constexpr (std::is_same_v<T, SavedVariable>)
        return {.name = name, .variable = [](Node* n) { return &(static_cast<N*>(n)->*Field); }};
    else if constexpr (std::is_same_v<T, SavedOperand>)
        return {.name = name, .operand = [](Node* n) { return &(static_cast<N*>(n)->*Field); }};
    else if constexpr (std::is_same_v<T, SavedList>)
        return {.name = name, .list = [](Node* n) { return std::span<SavedVariable>(static_cast<N*>(n)->*Field); }};
    else
        return {.name = name, .value = [](Node* n, SavedValueVisitor& v) { visit(v, static_cast<N*>(n)->*Field); }};
}

// A node class of the table, for those who need them all (python/).
struct NodeType {
    const char* name;
    std::span<const SavedField> fields;
};
std::vector<NodeType> node_types();

// --- In Node::apply
inline bool none_defined(const TensorList& grads) noexcept {
    return std::ranges::none_of(grads, [](const Tensor& t) { return t.defined(); });
}
inline bool any_of(std::span<const bool> mask) noexcept {
    return std::ranges::any_of(mask, [](bool b) { return b; });
}
bool any_needed(const Node& node, size_t first, size_t count) noexcept;
// Fused kernels that meet what is not finite decline, and give nothing of what the mask asks for: the formula, made of
// products that obey the chain rule, then computes it with care.
template <class... T, size_t n>
bool has_declined(const std::tuple<T...>& values, const std::array<bool, n>& output_mask) noexcept {
    return std::apply(
        [&](const auto&... value) {
            size_t i = 0;
            return ((output_mask[i++] && !value.defined()) || ...);
        },
        values);
}
void assign(TensorList& grad_inputs, size_t first, TensorList&& values);
// Zeros for undefined gradients.
void materialize_grads(const Node& node, TensorList& grads);
// Undoes broadcasting and promotion: each gradient gets the shape and dtype of the operand, which the next node knows.
// The first operand of an in-place operation needs neither, and for a view its next node is that of the base.
void reduce_to_operands(const Node& node, TensorList& grad_inputs, bool in_place = false);

// --- Forward mode
// The level at which an operation on these must compute tangents, or -1.
template <class... Args>
[[gnu::always_inline]] inline int32_t forward_level(const Args&... args) noexcept {
    if (((flags_of(args) | ... | 0u) & state.mask & (kHasTangent | kIsView)) == 0) return -1;
    return std::max({int32_t{-1}, highest_level(args)...});
}
Tensor tangent_or_zeros(const Tensor& t, int32_t level);
Tensor tangent_or_zeros(const Operand& o, int32_t level);
TensorList tangents_or_zeros(TensorSpan ts, int32_t level);
void add_tangent(Tensor& sum, Tensor term);
// Brings a tangent to the shape and dtype of its result.
void fit_tangent(Tensor& tangent, const Tensor& result);

TensorList fit_all(TensorList tangents, const TensorList& results);
template <class Tangents, class Results>
TensorList fit_tangents(const Tangents& tangents, const Results& results) {
    return fit_all(as_list(tangents), as_list(results));
}
// The node of a result computes with a copy of it that was saved before the tangent was known.
void carry_tangents(const TensorList& results, int32_t level, const TensorList& tangents);
void set_all_tangents(const TensorList& results, int32_t level, TensorList&& tangents);
template <class Results>
void set_tangents(const Results& results, int32_t level, TensorList&& tangents) {
    set_all_tangents(as_list(results), level, std::move(tangents));
}
// The tangent of `self` after it was written; an undefined one is zero.
void replace_tangent(const Tensor& self, int32_t level, Tensor tangent);

// --- Around the computation
void assign(const Tensor& self, const Tensor& value);  // copy_, recorded
Tensor unwritten(const Tensor& self);
// What the edge of an operation that overwrites `self` leads to. Where that is a view, only CopySlices knows.
inline const Tensor nothing;
inline const Tensor& overwritten(const Tensor& self) noexcept { return is_view(self) ? nothing : self; }
// An in-place operation records what it reads; where that shares memory with what it writes, a copy is read instead.
inline bool shares_memory(const Tensor& self, const Tensor& t) noexcept {
    return t.defined() && t.storage() == self.storage();
}
inline bool shares_memory(const Tensor& self, const Operand& o) noexcept {
    return o.is_tensor() && o.impl()->storage == self.storage();
}
inline bool shares_memory(const Tensor& self, TensorSpan ts) noexcept {
    return std::ranges::any_of(ts, [&](const Tensor& t) { return shares_memory(self, t); });
}
Tensor apart_from(const Tensor& self, const Tensor& t);
inline HeldOperand apart_from(const Tensor& self, const Operand& o) {
    return shares_memory(self, o) ? HeldOperand(apart_from(self, o.tensor())) : HeldOperand(o);
}
inline TensorList apart_from(const Tensor& self, TensorSpan ts) {
    TensorList apart;
    for (const Tensor& t : ts) apart.push_back(apart_from(self, t));
    return apart;
}
inline bool is_same(const Tensor& a, const Tensor& b) noexcept { return a.is_same(b); }
inline bool is_same(const Tensor& a, const Operand& b) noexcept { return a.impl() == b.impl(); }
inline bool is_same(const Tensor& a, TensorSpan bs) noexcept {
    return std::ranges::any_of(bs, [&](const Tensor& b) { return a.is_same(b); });
}
template <class... Args>
bool is_one_of(const Tensor& result, const Args&... args) noexcept {
    return (is_same(result, args) || ...);
}

// A view is an inference tensor if its base is, whatever the mode.
template <class Results>
void inherit_inference(const Tensor& base, const Results& results) noexcept {
    if (base.flags() & kInference) [[unlikely]]
        mark_inference_one(results);
}

// What a mode made as a view of a tensor without memory is on the same memory: it has the same versions.
void share_memory(const Tensor& base, const Tensor& out);

// Marks results of a view kernel as views of `base`. `replay` makes the function that repeats the view (that of result i)
// on another base; asked for only where as_strided will not do or users want it.
using ViewFunction = std::function<Tensor(const Tensor&)>;
// What has a mode of its own may lay out its elements as it likes: no as_strided finds a view among them.
inline bool replays_views(const Tensor& base) noexcept { return state.view_replay || (base.flags() & kDispatched); }
Tensor as_views(const Tensor& base, Tensor out, ViewFunction replay);
TensorList as_views(const Tensor& base, TensorList outs, const std::function<ViewFunction(size_t)>& replay);
template <class MakeReplay>
Tensor as_views(const Tensor& base, Tensor out, bool always, MakeReplay&& make_replay) {
    return as_views(base, std::move(out), always || replays_views(base) ? make_replay() : ViewFunction());
}
template <class MakeReplay>
TensorList as_views(const Tensor& base, TensorList outs, bool always, MakeReplay&& make_replay) {
    return as_views(base, std::move(outs),
                    always || replays_views(base) ? std::function<ViewFunction(size_t)>(make_replay) : nullptr);
}
// In place: `self` becomes what its view `seen` is.
template <class MakeReplay>
void take_shape(const Tensor& self, const Tensor& seen, bool always, MakeReplay&& make_replay) {
    wengert::take_shape(self, seen, always || replays_views(self) ? make_replay() : ViewFunction());
}

// For writes that have no derivative: an error where one would be needed.
template <class... Args>
void check_inplace_undifferentiated(const char* op, const Tensor& self, const Args&... args) {
    const bool recorded = records(self, args...);
    check_inplace(self, recorded);
    check(!recorded && forward_level(self, args...) < 0, ErrorKind::NotImplemented, "[", op,
          "] has no derivative; write under no_grad, or to a detached tensor");
}
template <class... Args>
void refuse_tangents(const char* op, const char* reason, const Args&... args) {
    check(forward_level(args...) < 0, ErrorKind::NotImplemented, "[", op,
          "] forward mode is not implemented: ", reason);
}
void record_not_implemented(const char* what, EdgeList edges, const TensorList& results);

}  // namespace wengert::ops
