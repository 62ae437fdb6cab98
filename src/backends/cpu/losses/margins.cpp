// The hinge loss of several labels on the CPU (kernels/losses/margins.h).
#include <algorithm>
#include <vector>

#include "backends/cpu/elementwise/in_parallel.h"
#include "kernels/losses/margins.h"

namespace wengert::kernels {
namespace {

// Labels before the first negative one.
int64_t count_labels(const int64_t* labels, int64_t classes) {
    int64_t n = 0;
    for (; n < classes && labels[n] >= 0; ++n)
        check(labels[n] < classes, ErrorKind::Index, "[multilabel_margin_loss] Target ", labels[n],
              " is out of bounds for ", classes, " classes; expected 0 to ", classes - 1, " or a negative number");
    return n;
}

// The scores of classes that are no label, and what belongs to each of them.
template <class T>
struct Others {
    std::vector<T> score, slope;
    std::vector<int64_t> place;
    std::vector<char> is_label;

    explicit Others(int64_t classes)
        : score(static_cast<size_t>(classes)), slope(score), place(score.size()), is_label(score.size()) {}

    int64_t collect(const T* scores, const int64_t* labels, int64_t count) {
        std::ranges::fill(is_label, 0);
        for (int64_t k = 0; k < count; ++k) is_label[static_cast<size_t>(labels[k])] = 1;
        size_t n = 0;
        for (size_t c = 0; c < score.size(); ++c) {  // written always, kept where it counts: no branch
            score[n] = scores[c];
            place[n] = static_cast<int64_t>(c);
            n += is_label[c] == 0;
        }
        std::fill_n(slope.begin(), n, T(0));
        return static_cast<int64_t>(n);
    }
};

template <class T>
T loss_of_row(const T* scores, const int64_t* labels, int64_t classes, Others<T>& others, T* slopes) {
    const int64_t count = count_labels(labels, classes), n = others.collect(scores, labels, count);
    const T scale = T(1) / static_cast<T>(classes);
    const T* __restrict other = others.score.data();
    T* __restrict slope = others.slope.data();
    std::fill_n(slopes, classes, T(0));
    double total = 0;
    for (int64_t k = 0; k < count; ++k) {
        const T distance = 1 - scores[labels[k]];
        T violated = 0;
        double sum = 0;
        for (int64_t i = 0; i < n; ++i) {
            const T z = distance + other[i], counts = z <= 0 ? T(0) : T(1);  // NaN counts
            sum += z <= 0 ? T(0) : z;
            slope[i] += counts;
            violated += counts;
        }
        total += sum;
        slopes[labels[k]] -= violated * scale;
    }
    for (int64_t i = 0; i < n; ++i) slopes[others.place[static_cast<size_t>(i)]] = slope[i] * scale;
    return static_cast<T>(total / static_cast<double>(classes));
}

void multilabel_margin(const Tensor& loss, const Tensor& slopes, const Tensor& input, const Tensor& target) {
    const int64_t classes = input.size(-1), rows = input.numel() / classes;
    const int64_t* labels = target.data_as<int64_t>();
    dispatch_floating(input.dtype(), "multilabel_margin_loss", [&]<class T> {
        parallel_for(rows, units_of(classes), [&](int64_t begin, int64_t end) {
            Others<T> others(classes);
            for (int64_t r = begin; r < end; ++r)
                loss.data_as<T>()[r] = loss_of_row(input.data_as<T>() + r * classes, labels + r * classes, classes,
                                                   others, slopes.data_as<T>() + r * classes);
        });
    });
}

}  // namespace

constinit DeviceKernel<void(Result, Result, const Tensor&, const Tensor&)> multilabel_margin_kernel{
    "multilabel_margin",
    [](Result loss, Result slopes, const Tensor& input, const Tensor& target) {
        multilabel_margin(loss, slopes, input, target);
    },
    HostWaits::ForErrors};

}  // namespace wengert::kernels
