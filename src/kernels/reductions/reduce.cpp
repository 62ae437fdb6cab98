#include "kernels/reductions/reduce.h"

#include <algorithm>

#include "kernels/elementwise/elementwise.h"
#include "kernels/reductions/reduce_kernels.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {
namespace {

Tensor reduced(const ReduceKernel& kernel, const Tensor& in, IntSpan dims, bool keepdim, DType dtype) {
    Tensor out = empty(reduced_sizes(in.sizes(), dims, keepdim), dtype, in.device());
    if (out.numel() > 0) kernel(out, in, dims);
    return out;
}

Tensor accumulate(const ReduceKernel& kernel, const Tensor& self, const OptionalDims& dim, bool keepdim,
                  std::optional<DType> dtype, const char* op) {
    const Dims dims = reduced_dims(dim, self.dim(), op);
    const DType out_dtype = dtype.value_or(is_integral(self.dtype()) ? DType::Int64 : self.dtype());
    // Integral elements need no cast for an integral result: arithmetic modulo 2^64 comes out the same.
    const bool direct = out_dtype == self.dtype() || (is_integral(self.dtype()) && is_integral(out_dtype));
    return reduced(kernel, direct && out_dtype != DType::Bool ? self : to_dtype(self, out_dtype), dims, keepdim,
                   out_dtype);
}

// The words PyTorch uses for reductions without an identity.
void check_nonempty(const Tensor& self, const Dims& dims, bool all_dims, const char* op) {
    if (self.numel() > 0) return;
    check(!all_dims, ErrorKind::Runtime, op, "(): Expected reduction dim to be specified for input.numel() == 0. ",
          "Specify the reduction dim with the 'dim' argument.");
    for (int64_t d : dims)
        check(self.sizes()[d] != 0, ErrorKind::Index, op, "(): Expected reduction dim ", d, " to have non-zero size.");
}

void check_real(const Tensor& self, const char* op) {
    check(!is_complex(self.dtype()), ErrorKind::Runtime, op, "(): does not support complex input; reduce abs(self)");
}

Tensor extreme(const ReduceKernel& kernel, const Tensor& self, const OptionalDims& dim, bool keepdim, const char* op) {
    check_real(self, op);
    const Dims dims = reduced_dims(dim, self.dim(), op);
    check_nonempty(self, dims, !dim || dim->empty(), op);
    return reduced(kernel, self, dims, keepdim, self.dtype());
}

ValuesIndices arg_extreme(const ArgKernel& kernel, const Tensor& self, int64_t dim, bool keepdim, const char* op) {
    check_real(self, op);
    dim = wrap_dim(dim, self.dim(), op);
    const Dims dims = self.dim() == 0 ? Dims{} : Dims{dim};
    check_nonempty(self, dims, false, op);
    const Dims sizes = reduced_sizes(self.sizes(), dims, keepdim);
    Tensor values = empty(sizes, self.dtype(), self.device()), indices = empty(sizes, DType::Int64, self.device());
    if (values.numel() > 0) kernel(values, indices, self, dims);
    return {values, indices};
}

Tensor arg_only(const ArgKernel& kernel, const Tensor& self, std::optional<int64_t> dim, bool keepdim, const char* op) {
    check_real(self, op);
    check(self.dtype() != DType::Bool, ErrorKind::Runtime, op, "(): does not support bool input");
    if (dim) return std::get<1>(arg_extreme(kernel, self, *dim, keepdim, op));
    check(self.numel() > 0, ErrorKind::Index, op, "(): Expected reduction dim to be specified for input.numel() == 0.");
    Tensor dense = contiguous(self);
    Tensor index =
        std::get<1>(arg_extreme(kernel, alias(dense, Dims{dense.numel()}, Dims{1}, dense.offset()), 0, false, op));
    Dims ones(keepdim ? self.sizes().size() : 0, 1);
    return alias(index, ones, ones, 0);
}

Tensor logical(const ReduceKernel& kernel, const Tensor& self, const OptionalDims& dim, bool keepdim, const char* op) {
    const Dims dims = dim && dim->empty() ? Dims{} : reduced_dims(dim, self.dim(), op);
    // uint8 answers in uint8, everything else in bool.
    return reduced(kernel, self, dims, keepdim, self.dtype() == DType::UInt8 ? DType::UInt8 : DType::Bool);
}

std::tuple<Tensor, Tensor> moments(const Tensor& self, const OptionalDims& dim, double correction, bool keepdim,
                                   bool root, const char* op);

// Real and imaginary parts vary independently.
std::tuple<Tensor, Tensor> complex_moments(const Tensor& self, const OptionalDims& dim, double correction, bool keepdim,
                                           bool root, const char* op) {
    Dims dims = reduced_dims(dim, self.dim(), op);
    Tensor reals = view_as_real(self);
    if (dims.empty()) dims = Dims{}, reals = alias(reals, Dims{1, 2}, Dims{2, 1}, reals.offset()), dims.push_back(0);
    auto [parts, means] = moments(reals, dims, correction, keepdim, root, op);  // [..., 2]
    Dims sizes(IntSpan(parts.sizes()).first(parts.sizes().size() - 1));
    Tensor total = empty(sizes, parts.dtype(), parts.device());
    if (total.numel() > 0) added_parts_kernel(total, parts, root);
    if (self.dim() == 0) sizes.clear();
    return {alias(total, sizes, contiguous_strides(sizes), 0),
            alias_as(means, self.dtype(), sizes, contiguous_strides(sizes), 0)};
}

std::tuple<Tensor, Tensor> moments(const Tensor& self, const OptionalDims& dim, double correction, bool keepdim,
                                   bool root, const char* op) {
    check(is_differentiable(self.dtype()), ErrorKind::Runtime, "[", op,
          "] std and var only support floating point and complex dtypes, got ", self.dtype());
    if (is_complex(self.dtype())) return complex_moments(self, dim, correction, keepdim, root, op);
    const Dims dims = reduced_dims(dim, self.dim(), op), sizes = reduced_sizes(self.sizes(), dims, keepdim);
    const auto n = static_cast<double>(reduced_count(self.sizes(), dims));
    if (n - correction <= 0 && numel_of(sizes) > 0)
        warn(WarningKind::User, std::string(op) +
                                    "(): degrees of freedom is <= 0. Correction should be strictly less than the "
                                    "reduction factor (input numel divided by output numel).");
    Tensor variance = empty(sizes, self.dtype(), self.device()), means = empty(sizes, self.dtype(), self.device());
    if (variance.numel() > 0) moments_kernel(variance, means, self, dims, correction, root);
    return {variance, means};
}

}  // namespace

Tensor sum(const Tensor& self, const OptionalDims& dim, bool keepdim, std::optional<DType> dtype) {
    return accumulate(sum_kernel, self, dim, keepdim, dtype, "sum");
}

Tensor nansum(const Tensor& self, const OptionalDims& dim, bool keepdim, std::optional<DType> dtype) {
    if (is_integral(self.dtype())) return sum(self, dim, keepdim, dtype);
    check(!is_complex(self.dtype()), ErrorKind::Runtime, "nansum on CPU does not support complex inputs");
    const Dims dims = reduced_dims(dim, self.dim(), "nansum");
    const DType out = dtype.value_or(self.dtype());
    check(is_floating(out), ErrorKind::NotImplemented, "[nansum] not implemented for dtype ", out);
    return reduced(nansum_kernel, to_dtype(self, out), dims, keepdim, out);
}

Tensor mean(const Tensor& self, const OptionalDims& dim, bool keepdim, std::optional<DType> dtype) {
    check(is_differentiable(dtype.value_or(self.dtype())), ErrorKind::Runtime, "mean(): could not infer output dtype. ",
          dtype ? "Optional" : "Input",
          " dtype must be either a floating point or complex dtype. Got: ", dtype.value_or(self.dtype()));
    return accumulate(mean_kernel, self, dim, keepdim, dtype.value_or(self.dtype()), "mean");
}

Tensor prod(const Tensor& self, const OptionalDims& dim, bool keepdim, std::optional<DType> dtype) {
    return accumulate(prod_kernel, self, dim, keepdim, dtype, "prod");
}

Tensor count_nonzero(const Tensor& self, const OptionalDims& dim, bool keepdim) {
    return reduced(count_nonzero_kernel, self, reduced_dims(dim, self.dim(), "count_nonzero"), keepdim, DType::Int64);
}

Tensor all(const Tensor& self, const OptionalDims& dim, bool keepdim) {
    return logical(all_kernel, self, dim, keepdim, "all");
}

Tensor any(const Tensor& self, const OptionalDims& dim, bool keepdim) {
    return logical(any_kernel, self, dim, keepdim, "any");
}

Tensor amax(const Tensor& self, const OptionalDims& dim, bool keepdim) {
    return extreme(amax_kernel, self, dim, keepdim, "amax");
}

Tensor amin(const Tensor& self, const OptionalDims& dim, bool keepdim) {
    return extreme(amin_kernel, self, dim, keepdim, "amin");
}

std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
    OptionalDims dims;
    if (dim) dims = Dims{*dim};
    check(dim || self.numel() > 0, ErrorKind::Runtime,
          "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.");
    return {extreme(amin_kernel, self, dims, keepdim, "aminmax"), extreme(amax_kernel, self, dims, keepdim, "aminmax")};
}

Tensor max(const Tensor& self) { return extreme(amax_kernel, self, {}, false, "max"); }
Tensor min(const Tensor& self) { return extreme(amin_kernel, self, {}, false, "min"); }
ValuesIndices max_dim(const Tensor& self, int64_t dim, bool keepdim) {
    return arg_extreme(max_dim_kernel, self, dim, keepdim, "max");
}
ValuesIndices min_dim(const Tensor& self, int64_t dim, bool keepdim) {
    return arg_extreme(min_dim_kernel, self, dim, keepdim, "min");
}
Tensor argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
    return arg_only(max_dim_kernel, self, dim, keepdim, "argmax");
}
Tensor argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
    return arg_only(min_dim_kernel, self, dim, keepdim, "argmin");
}

Tensor var(const Tensor& self, const OptionalDims& dim, double correction, bool keepdim) {
    return std::get<0>(moments(self, dim, correction, keepdim, false, "var"));
}
Tensor std(const Tensor& self, const OptionalDims& dim, double correction, bool keepdim) {
    return std::get<0>(moments(self, dim, correction, keepdim, true, "std"));
}
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, const OptionalDims& dim, double correction, bool keepdim) {
    return moments(self, dim, correction, keepdim, false, "var_mean");
}
std::tuple<Tensor, Tensor> std_mean(const Tensor& self, const OptionalDims& dim, double correction, bool keepdim) {
    return moments(self, dim, correction, keepdim, true, "std_mean");
}

}  // namespace wengert::kernels
