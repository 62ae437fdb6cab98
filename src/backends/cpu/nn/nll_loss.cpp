#include "kernels/nn/nll_loss.h"

#include "backends/cpu/dispatch.h"
#include "kernels/elementwise/elementwise.h"

namespace wengert::kernels {
namespace {

enum class Reduction { None, Mean, Sum };

Reduction reduction_of(std::string_view name) {
    if (name == "none") return Reduction::None;
    if (name == "sum") return Reduction::Sum;
    check(name == "mean", ErrorKind::Value, name, " is not a valid value for reduction; use 'mean', 'sum' or 'none'");
    return Reduction::Mean;
}

// [batch, classes, space]
struct Geometry {
    int64_t batch = 1, classes = 1, space = 1;
    Dims target;

    explicit Geometry(IntSpan sizes) {
        check(!sizes.empty(), ErrorKind::Value,
              "[nll_loss] input must have a dimension of classes, but is 0-dimensional");
        const size_t dim = sizes.size() == 1 ? 0 : 1;
        for (size_t i = 0; i < sizes.size(); ++i) {
            if (i != dim) target.push_back(sizes[i]);
            (i < dim ? batch : i == dim ? classes : space) *= sizes[i];
        }
    }
    int64_t positions() const { return batch * space; }
    int64_t element(int64_t position, int64_t label) const {
        return (position / space * classes + label) * space + position % space;
    }
};

// The labels and weights of the positions, checked.
template <class T>
class Labels {
public:
    Labels(const Geometry& g, const Tensor& target, const Tensor& weight, DType dtype, int64_t ignore_index)
        : target_(contiguous(to_dtype(target, DType::Int64))), ignore_index_(ignore_index) {
        check(target.sizes() == g.target, ErrorKind::Value, "[nll_loss] Expected target size ", ShapeOf{g.target},
              ", got ", ShapeOf{target.sizes()});
        const int64_t* labels = target_.data_as<int64_t>();
        for (int64_t i = 0; i < g.positions(); ++i)
            check(labels[i] == ignore_index || (labels[i] >= 0 && labels[i] < g.classes), ErrorKind::Index,
                  "[nll_loss] Target ", labels[i], " is out of bounds for ", g.classes, " classes; expected 0 to ",
                  g.classes - 1, " or ignore_index ", ignore_index);
        if (!weight.defined()) return;
        check(weight.dim() == 1 && weight.numel() == g.classes, ErrorKind::Runtime,
              "[nll_loss] weight tensor should be defined either for all ", g.classes,
              " classes or no classes but got weight tensor of shape: ", ShapeOf{weight.sizes()});
        weight_ = contiguous(to_dtype(weight, dtype));
    }
    // f(position, label, weight) for every position that counts.
    template <class F>
    void for_each(int64_t positions, F&& f) const {
        const int64_t* labels = target_.data_as<int64_t>();
        const T* weights = weight_.defined() ? weight_.data_as<T>() : nullptr;
        for (int64_t i = 0; i < positions; ++i)
            if (labels[i] != ignore_index_) f(i, labels[i], weights ? weights[labels[i]] : T(1));
    }

private:
    Tensor target_, weight_;
    int64_t ignore_index_;
};

void check_target_dtype(const Tensor& target) {
    check(is_integral(target.dtype()), ErrorKind::Runtime, "[nll_loss] expected scalar type Long but found ",
          dtype_name(target.dtype()), "; targets are class indices, convert them with .long()");
}

}  // namespace

std::tuple<Tensor, Tensor> nll_loss_forward(const Tensor& self, const Tensor& target, const Tensor& weight,
                                            std::string_view reduction, int64_t ignore_index) {
    const Reduction reduce = reduction_of(reduction);
    check_target_dtype(target);
    const Geometry g(self.sizes());
    const Tensor in = contiguous(self);
    Tensor out = zeros(reduce == Reduction::None ? IntSpan(g.target) : IntSpan(), self.dtype());
    Tensor total = zeros({}, self.dtype());
    dispatch_floating(self.dtype(), "nll_loss", [&]<class T> {
        const Labels<T> labels(g, target, weight, self.dtype(), ignore_index);
        const T* x = in.data_as<T>();
        T* y = out.data_as<T>();
        double loss = 0, sum = 0;
        labels.for_each(g.positions(), [&](int64_t i, int64_t label, T w) {
            const T term = w == T(0) ? T(0) : -x[g.element(i, label)] * w;  // even of an impossible class
            if (reduce == Reduction::None) y[i] = term;
            loss += term;
            sum += w;
        });
        if (reduce != Reduction::None) *y = static_cast<T>(reduce == Reduction::Mean ? loss / sum : loss);
        *total.data_as<T>() = static_cast<T>(sum);
    });
    return {out, total};
}

Tensor nll_loss_backward(const Tensor& grad, const Tensor& target, const Tensor& weight, std::string_view reduction,
                         int64_t ignore_index, const Tensor& total_weight, IntSpan sizes) {
    const Reduction reduce = reduction_of(reduction);
    check_target_dtype(target);
    const Geometry g(sizes);
    const Tensor in = contiguous(grad);
    Tensor out = zeros(sizes, grad.dtype());
    dispatch_floating(grad.dtype(), "nll_loss", [&]<class T> {
        const Labels<T> labels(g, target, weight, grad.dtype(), ignore_index);
        const T* dy = in.data_as<T>();
        const T scale = reduce == Reduction::Mean ? T(1) / *total_weight.data_as<T>() : T(1);
        T* dx = out.data_as<T>();
        labels.for_each(g.positions(), [&](int64_t i, int64_t label, T w) {
            dx[g.element(i, label)] = -dy[reduce == Reduction::None ? i : 0] * w * scale;
        });
    });
    return out;
}

}  // namespace wengert::kernels
