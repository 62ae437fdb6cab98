#include "wengert/print.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "generated/ops/conversions.h"
#include "graph/autograd_meta.h"
#include "graph/grad_mode.h"
#include "kernels/on_host.h"
#include "kernels/queries.h"

namespace wengert {
namespace {

constexpr int64_t kEdge = 3, kMostShown = 1000;

// The numbers that are shown, in order, and which of them are: elements along dimension d, with a gap in a long one.
struct Shown {
    const Tensor& t;  // on the host, of a type that is computed in
    bool summarised;
    std::ostringstream numbers;
    std::vector<std::string> texts;
    size_t width = 0;

    int64_t shown(int64_t d) const { return has_gap(d) ? 2 * kEdge : t.size(d); }
    bool has_gap(int64_t d) const { return summarised && t.size(d) > 2 * kEdge; }
    int64_t position(int64_t d, int64_t i) const { return has_gap(d) && i >= kEdge ? t.size(d) - 2 * kEdge + i : i; }

    template <class T>
    void take(const T& value) {
        numbers.str("");
        if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
            numbers << value.real() << (value.imag() < 0 ? "-" : "+") << std::abs(value.imag()) << "j";
        } else if constexpr (std::is_same_v<T, bool>) {
            numbers << (value ? "True" : "False");
        } else if constexpr (std::is_integral_v<T>) {
            numbers << static_cast<int64_t>(value);
        } else {
            numbers << value;
            const bool is_whole = numbers.str().find_first_not_of("-0123456789") == std::string::npos;
            if (is_whole) numbers << ".";
        }
        texts.push_back(numbers.str());
        width = std::max(width, texts.back().size());
    }

    template <class T>
    void collect(int64_t d, int64_t offset) {
        if (d == t.dim()) return take(t.data_as<T>()[offset]);
        for (int64_t i = 0; i < shown(d); ++i) collect<T>(d + 1, offset + position(d, i) * t.strides()[d]);
    }

    void write(std::ostream& out, int64_t d, size_t& next) const {
        if (d == t.dim()) {
            const std::string& text = texts[next++];
            out << std::string(width - text.size(), ' ') << text;
            return;
        }
        const bool innermost = d + 1 == t.dim();
        std::string between = ", ";
        if (!innermost) between = "," + std::string(static_cast<size_t>(t.dim() - d - 1), '\n') + indent(d + 1);
        out << "[";
        for (int64_t i = 0; i < shown(d); ++i) {
            if (i > 0) out << between;
            if (i == kEdge && has_gap(d)) out << "..." << between;
            write(out, d + 1, next);
        }
        out << "]";
    }
    static std::string indent(int64_t d) { return std::string(static_cast<size_t>(7 + d), ' '); }
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& t) {
    if (!t.defined()) return out << "undefined tensor";
    out << "tensor(";
    if (!kernels::has_values(t) || t.numel() == 0 || (t.flags() & (kBatched | kDispatched))) {
        out << (kernels::has_values(t) && t.numel() == 0 ? "[], " : "..., ") << "size=" << ShapeOf{t.sizes()};
        if (t.device() != Device()) out << ", device='" << t.device() << "'";
    } else {
        const AutoGradMode silent(false);
        const Tensor host = kernels::on_host(is_reduced_floating(t.dtype()) ? ops::to_float32(t) : t, "operator<<");
        Shown shown{host, host.numel() > kMostShown, {}, {}};
        shown.numbers.copyfmt(out);
        shown.numbers.width(0);
        dispatch(host.dtype(), [&]<class T> { shown.collect<T>(0, 0); });
        size_t next = 0;
        shown.write(out, 0, next);
    }
    const bool evident = t.dtype() == DType::Int64 || t.dtype() == DType::Bool || t.dtype() == default_dtype();
    if (!evident) out << ", dtype=" << t.dtype();
    if (is_leaf(t)) {
        if (requires_grad(t)) out << ", requires_grad=True";
    } else {
        out << ", grad_fn=<" << grad_fn(t)->name() << ">";
    }
    return out << ")";
}

}  // namespace wengert
