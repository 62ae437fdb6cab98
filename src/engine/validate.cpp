#include "engine/validate.h"

#include "generated/ops/complex.h"
#include "generated/ops/operators.h"
#include "generated/ops/storage.h"

namespace wengert {
namespace {

struct ListOf {
    IntSpan sizes;
};
std::ostream& operator<<(std::ostream& out, ListOf s) {
    out << '[';
    for (size_t i = 0; i < s.sizes.size(); ++i) out << (i ? ", " : "") << s.sizes[i];
    return out << ']';
}

// In debug mode, where the operation stands.
std::string place_of(const Node& node) {
    std::string place = node.anomaly_metadata() ? node.anomaly_metadata()->place() : "";
    return place.empty() ? place : " (" + node.name() + " was made at " + place + ")";
}

template <class... Parts>
[[noreturn]] void invalid(const Node* producer, size_t i, const Parts&... parts) {
    if (!producer) fail(ErrorKind::Runtime, "invalid gradient at index ", i, " - ", parts...);
    fail(ErrorKind::Runtime, "Function ", producer->name(), " returned an invalid gradient at index ", i, " - ",
         parts..., place_of(*producer));
}

void validate(const InputMetadata& expected, Tensor& grad, const Node* producer, size_t i) {
    if (grad.sizes() != expected.sizes) {
        if (!is_broadcastable_to(expected.sizes, grad.sizes()))
            invalid(producer, i, "got ", ListOf{grad.sizes()}, " but expected shape compatible with ",
                    ListOf{expected.sizes});
        grad = ops::sum_to_size(grad, expected.sizes);
    }
    const bool is_number = grad.dim() == 0 && !(grad.flags() & (kSubclass | kDispatched));
    if (grad.device() != expected.device && is_number) grad = ops::on_device(grad, expected.device);
    if (grad.device() != expected.device)
        invalid(producer, i, "expected device ", expected.device, " but got ", grad.device());
    if (expected.any_dtype) return;
    DType dtype = expected.grad_dtype.value_or(expected.dtype);
    if (grad.dtype() == dtype) return;
    if (is_complex(grad.dtype()) && !is_complex(dtype) && producer && producer->operation())
        grad = ops::real(grad);  // of an operation whose result left the real numbers: what a real argument can change
    if (is_complex(grad.dtype()) && !is_complex(dtype))
        invalid(producer, i, "expected a real gradient of dtype ", dtype, " but got ", grad.dtype(),
                "; return its real part from the function");
    if (grad.dtype() != dtype) grad = ops::to_dtype(grad, dtype);
}

}  // namespace

void validate_outputs(const EdgeList& edges, TensorList& grads, const Node* producer) {
    if (grads.size() != edges.size())
        fail(ErrorKind::Runtime, "Function ", producer ? producer->name() : "",
             " returned an invalid number of gradients: expected ", edges.size(), ", got ", grads.size(),
             producer ? place_of(*producer) : "");
    for (size_t i = 0; i < grads.size(); ++i) {
        if (!grads[i].defined()) continue;
        if (!edges[i].is_valid()) {
            grads[i].reset();
            continue;
        }
        const InputMetadata& expected = edges[i].function->input_metadata()[edges[i].input_nr];
        if (expected.used && !expected.fits(*grads[i].impl())) validate(expected, grads[i], producer, i);
    }
}

}  // namespace wengert
