// Alignments of sequences on the CPU (kernels/losses/ctc.h): the forward and backward variables of Graves et al. 2006, in logarithms.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/elementwise/in_parallel.h"
#include "kernels/losses/ctc.h"

namespace wengert::kernels {
namespace {

template <class T>
constexpr T kNever = -std::numeric_limits<T>::infinity();

// log(exp(a) + exp(b) + exp(c)): two exponentials, as that of the greatest is 1.
template <class T>
T log_of_sum(T a, T b, T c) {
    if (a < b) std::swap(a, b);
    if (a < c) std::swap(a, c);
    if (std::isinf(a)) return b != b || c != c ? b + c : a;
    return a + std::log(1 + (std::exp(b - a) + std::exp(c - a)));
}

// One sequence.
template <class T>
struct Sequence {
    int64_t steps, stride, states;
    const T* log_probs;
    const int64_t* labels;
    const bool *skips, *ends;

    // A way of probability `way`, and what the step emits: of no way nothing, whatever is emitted.
    T emitting(T way, int64_t t, int64_t s) const {
        return way == kNever<T> ? way : way + log_probs[t * stride + labels[s]];
    }

    // alpha [all steps, states], of which those behind the last one stay impossible.
    T likelihood(T* alpha, int64_t all_steps) const {
        std::fill(alpha + steps * states, alpha + all_steps * states, kNever<T>);
        for (int64_t s = 0; s < states && steps > 0; ++s) alpha[s] = emitting(s < 2 ? T(0) : kNever<T>, 0, s);
        for (int64_t t = 1; t < steps; ++t) {
            const T* before = alpha + (t - 1) * states;
            T* now = alpha + t * states;
            for (int64_t s = 0; s < states; ++s) {
                const T one = s >= 1 ? before[s - 1] : kNever<T>, two = s >= 2 && skips[s] ? before[s - 2] : kNever<T>;
                now[s] = emitting(log_of_sum(before[s], one, two), t, s);
            }
        }
        T total = kNever<T>;
        for (int64_t s = 0; s < states && steps > 0; ++s)
            if (ends[s]) total = log_of_sum(total, alpha[(steps - 1) * states + s], kNever<T>);
        return total;
    }

    // gradient [steps * stride] += grad times the probability of each class at each step. beta, `next` [states]: room.
    void add_gradient(const T* alpha, T likelihood, T grad, T* gradient, T* beta, T* next) const {
        for (int64_t s = 0; s < states; ++s) beta[s] = ends[s] ? T(0) : kNever<T>;
        for (int64_t t = steps; t-- > 0;) {
            for (int64_t s = 0; s < states; ++s) {
                const T to = alpha[t * states + s];  // and beta from here: of all alignments through this state
                if (to != kNever<T> && beta[s] != kNever<T>)
                    gradient[t * stride + labels[s]] += grad * std::exp(to + beta[s] - likelihood);
            }
            for (int64_t s = 0; s < states; ++s) next[s] = emitting(beta[s], t, s);
            for (int64_t s = 0; s < states; ++s) {
                const T one = s + 1 < states ? next[s + 1] : kNever<T>,
                        two = s + 2 < states && skips[s + 2] ? next[s + 2] : kNever<T>;
                beta[s] = log_of_sum(next[s], one, two);
            }
        }
    }
};

void check_labels(const Tensor& labels, int64_t classes) {
    const int64_t* p = labels.data_as<int64_t>();
    for (int64_t i = 0; i < labels.numel(); ++i)
        check(p[i] >= 0 && p[i] < classes, ErrorKind::Runtime, "[ctc_loss] Expected labels to be in [0, ", classes,
              "), got ", p[i]);
}

template <class T>
Sequence<T> sequence(const Tensor& log_probs, const Tensor& labels, const Tensor& skips, const Tensor& ends,
                     IntSpan lengths, int64_t i) {
    const int64_t classes = log_probs.size(2), states = labels.size(1);
    return {lengths[static_cast<size_t>(i)],
            log_probs.size(1) * classes,
            states,
            log_probs.data_as<T>() + i * classes,
            labels.data_as<int64_t>() + i * states,
            skips.data_as<bool>() + i * states,
            ends.data_as<bool>() + i * states};
}

void ctc_likelihood(const Tensor& likelihood, const Tensor& alpha, const Tensor& log_probs, const Tensor& labels,
                    const Tensor& skips, const Tensor& ends, IntSpan lengths) {
    check_labels(labels, log_probs.size(2));
    const int64_t each = log_probs.size(0) * labels.size(1);
    dispatch_floating(log_probs.dtype(), "ctc_loss", [&]<class T> {
        parallel_for(labels.size(0), units_of(each * 16), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i)
                likelihood.data_as<T>()[i] = sequence<T>(log_probs, labels, skips, ends, lengths, i)
                                                 .likelihood(alpha.data_as<T>() + i * each, log_probs.size(0));
        });
    });
}

void ctc_backward(const Tensor& out, const Tensor& grad, const Tensor& log_probs, const Tensor& labels,
                  const Tensor& skips, const Tensor& ends, IntSpan lengths, const Tensor& likelihood,
                  const Tensor& alpha) {
    check_labels(labels, log_probs.size(2));
    const int64_t states = labels.size(1), each = log_probs.size(0) * states;
    dispatch_floating(log_probs.dtype(), "ctc_loss", [&]<class T> {
        parallel_for(labels.size(0), units_of(each * 16), [&](int64_t begin, int64_t end) {
            std::vector<T> beta(static_cast<size_t>(states)), next(beta);
            for (int64_t i = begin; i < end; ++i) {
                const T of = likelihood.data_as<T>()[i], g = grad.data_as<T>()[i];
                if (of == kNever<T> || g == T(0)) continue;  // an impossible sequence, or one that nobody asks for
                sequence<T>(log_probs, labels, skips, ends, lengths, i)
                    .add_gradient(alpha.data_as<T>() + i * each, of, g, out.data_as<T>() + i * log_probs.size(2),
                                  beta.data(), next.data());
            }
        });
    });
}

}  // namespace

constinit DeviceKernel<void(Result, Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&, IntSpan)>
    ctc_likelihood_kernel{"ctc_likelihood",
                          [](Result likelihood, Result alpha, const Tensor& log_probs, const Tensor& labels,
                             const Tensor& skips, const Tensor& ends, IntSpan lengths) {
                              ctc_likelihood(likelihood, alpha, log_probs, labels, skips, ends, lengths);
                          },
                          HostWaits::ForErrors};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, IntSpan,
                            const Tensor&, const Tensor&)>
    ctc_backward_kernel{
        "ctc_backward",
        [](Result out, const Tensor& grad, const Tensor& log_probs, const Tensor& labels, const Tensor& skips,
           const Tensor& ends, IntSpan lengths, const Tensor& likelihood, const Tensor& alpha) {
            ctc_backward(out, grad, log_probs, labels, skips, ends, lengths, likelihood, alpha);
        },
        HostWaits::ForErrors};

}  // namespace wengert::kernels
