// Walking the elements that a scatter writes, each place in the order of the index.
//
// What one write leaves in a place the next that names it has to wait for. Elements of different lines along the dimension never
// meet, so several lines advance together.
#pragma once

#include <utility>

#include "backends/cpu/elementwise/strided.h"
#include "backends/cpu/indexing/along.h"

namespace wengert::kernels {

// Calls f(self element, src element) along several lines of a last dimension at once.
template <class T, class F>
void for_each_target_of_lines(T* self, const int64_t stride, const int64_t* index, const T* src, IntSpan sizes,
                              const std::array<IntSpan, 3>& strides, F f) {
    const size_t last = sizes.size() - 1;
    const int64_t n = sizes[last], k_step = strides[1][last], s_step = strides[2][last];
    const bool dense = stride == 1 && k_step == 1 && s_step == 1;
    const auto along = [=]<size_t... L>(const std::array<int64_t, 3>* at, std::index_sequence<L...>) {
        const std::array<T*, sizeof...(L)> to{self + at[L][0]...};
        const std::array<const int64_t*, sizeof...(L)> k{index + at[L][1]...};
        const std::array<const T*, sizeof...(L)> s{src + at[L][2]...};
        if (dense)
            for (int64_t i = 0; i < n; ++i) (f(to[L][k[L][i]], s[L][i]), ...);
        else
            for (int64_t i = 0; i < n; ++i) (f(to[L][k[L][i * k_step] * stride], s[L][i * s_step]), ...);
    };
    constexpr size_t kTogether = 4;
    std::array<std::array<int64_t, 3>, kTogether> lines;
    size_t count = 0;
    StridedWalk<3>(sizes.first(last), {strides[0].first(last), strides[1].first(last), strides[2].first(last)})
        .elements([&](const std::array<int64_t, 3>& at) {
            lines[count++] = at;
            if (count < kTogether) return;
            along(lines.data(), std::make_index_sequence<kTogether>());
            count = 0;
        });
    for (size_t l = 0; l < count; ++l) along(&lines[l], std::index_sequence<0>());
}

// The same along short lines: all elements of some lines that are the first in theirs, then all that are the second, ...
template <class T, class F>
void for_each_target_of_short_lines(T* self, const int64_t stride, const int64_t* index, const T* src, IntSpan sizes,
                                    const std::array<IntSpan, 3>& strides, F f) {
    constexpr int64_t kTogether = 64;
    const size_t last = sizes.size() - 1;
    const int64_t n = sizes[last], along_index = strides[1][last], along_src = strides[2][last];
    StridedWalk<3>(sizes.first(last), {strides[0].first(last), strides[1].first(last), strides[2].first(last)})
        .rows([=](const std::array<int64_t, 3>& at, int64_t lines, const std::array<int64_t, 3>& step) {
            const auto [to_step, k_step, s_step] = step;
            for (int64_t first = 0; first < lines; first += kTogether) {
                T* to = self + at[0] + first * to_step;
                const int64_t* k = index + at[1] + first * k_step;
                const T* s = src + at[2] + first * s_step;
                const int64_t count = std::min(kTogether, lines - first);
                for (int64_t i = 0; i < n; ++i, k += along_index, s += along_src)
                    for (int64_t l = 0; l < count; ++l) f(to[l * to_step + k[l * k_step] * stride], s[l * s_step]);
            }
        });
}

// Calls f(self element, src element), for each place in the order of the index elements. Several lines at once cost a little
// where f does not read what is there.
template <class T, bool kReads = true, class F>
void for_each_target(const Tensor& self, const Along& a, const T* src, IntSpan src_strides, F f) {
    const int64_t* index = a.index.data_as<int64_t>();
    Dims steps(src_strides);
    steps.resize(a.index.sizes().size());
    T* base = self.data_as<T>();
    const std::array<IntSpan, 3> strides{a.strides, a.index.strides(), steps};
    constexpr int64_t kLong = 16;
    if (a.dim > 0 && a.dim + 1 == a.index.dim()) {
        if (a.index.sizes()[a.dim] < kLong)
            return for_each_target_of_short_lines(base, a.stride, index, src, a.index.sizes(), strides, f);
        if (kReads) return for_each_target_of_lines(base, a.stride, index, src, a.index.sizes(), strides, f);
    }
    StridedWalk<3>(a.index.sizes(), strides)
        .rows([&](const std::array<int64_t, 3>& at, int64_t n, const std::array<int64_t, 3>& step) {
            T* to = base + at[0];
            const int64_t* k = index + at[1];
            const T* s = src + at[2];
            const auto [to_step, k_step, s_step] = step;  // what is written may alias all that is not local
            const int64_t stride = a.stride;
            if (to_step == 0 && k_step == 1 && s_step == 1 && stride == 1) {
                for (int64_t i = 0; i < n; ++i) f(to[k[i]], s[i]);
            } else {
                for (int64_t i = 0; i < n; ++i, to += to_step, k += k_step, s += s_step) f(to[*k * stride], *s);
            }
        });
}

}  // namespace wengert::kernels
