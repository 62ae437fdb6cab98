// sort, topk, kthvalue on the CPU (kernels/sorting/sort.h): line by line, on (key, index) pairs.
#include <algorithm>
#include <vector>

#include "backends/cpu/sorting/ordered_key.h"
#include "kernels/sorting/sort_kernels.h"

namespace wengert::kernels {
namespace {

constexpr size_t kRadixLength = 512;  // from here on radix sort beats comparisons

// Least significant digit first, one byte at a time; stable. Bytes that are equal everywhere cost nothing.
template <class U, class I>
void radix_sort(std::vector<Keyed<U, I>>& pairs, std::vector<Keyed<U, I>>& scratch) {
    constexpr size_t kBytes = sizeof(U);
    std::vector<size_t> counts(kBytes * 256, 0);
    for (const auto& p : pairs)
        for (size_t b = 0; b < kBytes; ++b) ++counts[b * 256 + ((static_cast<uint64_t>(p.key) >> (8 * b)) & 255)];
    scratch.resize(pairs.size());
    for (size_t b = 0; b < kBytes; ++b) {
        size_t* count = counts.data() + b * 256;
        if (std::find(count, count + 256, pairs.size()) != count + 256) continue;
        for (size_t digit = 0, at = 0; digit < 256; ++digit) at += std::exchange(count[digit], at);
        for (const auto& p : pairs) scratch[count[(static_cast<uint64_t>(p.key) >> (8 * b)) & 255]++] = p;
        pairs.swap(scratch);
    }
}

template <class U, class I>
void sort_pairs(std::vector<Keyed<U, I>>& pairs, std::vector<Keyed<U, I>>& scratch) {
    if (pairs.size() >= kRadixLength)
        radix_sort(pairs, scratch);
    else
        std::sort(pairs.begin(), pairs.end());
}

// The k smallest pairs of a line, sorted. A heap of k serves small k: most elements fail one comparison, and most groups of
// elements one for all of them.
template <class U, class KeyAt>
void smallest(std::vector<Keyed<U>>& pairs, int64_t n, int64_t k, KeyAt key_at) {
    constexpr int64_t kTogether = 16;
    pairs.clear();
    if (k <= 256 && k * 8 <= n) {
        for (int64_t i = 0; i < k; ++i) pairs.push_back({key_at(i), i});
        std::make_heap(pairs.begin(), pairs.end());
        const auto take = [&](int64_t i, U key) {
            if (key >= pairs.front().key) return;
            std::pop_heap(pairs.begin(), pairs.end());
            pairs.back() = {key, i};
            std::push_heap(pairs.begin(), pairs.end());
        };
        int64_t i = k > 0 ? k : n;
        for (; i + kTogether <= n; i += kTogether) {
            U keys[kTogether], least = static_cast<U>(~U{0});
            for (int64_t j = 0; j < kTogether; ++j) keys[j] = key_at(i + j);
            for (int64_t j = 0; j < kTogether; ++j) least = std::min(least, keys[j]);
            if (least >= pairs.front().key) continue;
            for (int64_t j = 0; j < kTogether; ++j) take(i + j, keys[j]);
        }
        for (; i < n; ++i) take(i, key_at(i));
    } else {
        for (int64_t i = 0; i < n; ++i) pairs.push_back({key_at(i), i});
        if (k < n) std::nth_element(pairs.begin(), pairs.begin() + k, pairs.end());
        pairs.resize(k);
    }
    std::sort(pairs.begin(), pairs.end());
}

// Lines of a tensor with those of its results.
struct Lines {
    const Tensor &in, &values, &indices;
    int64_t dim, n, step, out_step;

    Lines(const Tensor& in, const Tensor& values, const Tensor& indices, int64_t dim)
        : in(in),
          values(values),
          indices(indices),
          dim(dim),
          n(line_size(in, dim)),
          step(line_stride(in, dim)),
          out_step(line_stride(indices, dim)) {}

    // f(line of in, values or null, indices, buffers), with buffers of its own on each thread
    template <class T, class Buffers, class F>
    void each(F f) const {
        for_each_line<2>(in.sizes(), {in.strides(), indices.strides()}, dim, [&] {
            return [&, buffers = Buffers()](const std::array<int64_t, 2>& at) mutable {
                f(in.data_as<T>() + at[0], values.defined() ? values.data_as<T>() + at[1] : nullptr,
                  indices.data_as<int64_t>() + at[1], buffers);
            };
        });
    }
};

// A short line has its key and index in one number each, so that order is a comparison of numbers, and exchanges its elements
// without a branch: which way round two of them are cannot be predicted.
constexpr int64_t kShort = 16;

template <class T>
void sort_short_lines(const Lines& lines, bool descending) {
    using U = Unsigned<sizeof(T)>;
    using Number = std::conditional_t<sizeof(T) == 8, unsigned __int128, uint64_t>;
    constexpr int kIndexBits = 8;
    const U flip = descending ? static_cast<U>(~U{0}) : U{0};
    struct Buffers {
        Number numbers[kShort];
    };
    lines.each<T, Buffers>([&, n = lines.n, step = lines.step, out_step = lines.out_step](
                               const T* line, T* value, int64_t* index, Buffers& buffers) {
        Number* const p = buffers.numbers;
        for (int64_t i = 0; i < n; ++i) {
            p[i] = static_cast<Number>(static_cast<U>(ordered_key(line[i * step]) ^ flip)) << kIndexBits |
                   static_cast<Number>(i);
            for (int64_t j = i; j > 0; --j) {
                const Number a = p[j - 1], b = p[j];
                p[j - 1] = a < b ? a : b;
                p[j] = a < b ? b : a;
            }
        }
        for (int64_t i = 0; i < n; ++i) {
            const auto from = static_cast<int64_t>(p[i] & ((Number{1} << kIndexBits) - 1));
            index[i * out_step] = from;
            if (value) value[i * out_step] = line[from * step];
        }
    });
}

template <class T, class I>
void sort_lines(const Lines& lines, bool descending) {
    using U = Unsigned<sizeof(T)>;
    const U flip = descending ? static_cast<U>(~U{0}) : U{0};
    struct Buffers {
        std::vector<Keyed<U, I>> pairs, scratch;
    };
    lines.each<T, Buffers>([&](const T* line, T* value, int64_t* index, Buffers& buffers) {
        auto& [pairs, scratch] = buffers;
        pairs.resize(static_cast<size_t>(lines.n));
        for (int64_t i = 0; i < lines.n; ++i)
            pairs[i] = {static_cast<U>(ordered_key(line[i * lines.step]) ^ flip), static_cast<I>(i)};
        sort_pairs(pairs, scratch);
        for (int64_t i = 0; i < lines.n; ++i) {
            auto from = static_cast<int64_t>(pairs[i].index);
            index[i * lines.out_step] = from;
            if (value) value[i * lines.out_step] = line[from * lines.step];
        }
    });
}

void sort(Result values, Result indices, const Tensor& in, int64_t dim, bool descending) {
    const Lines lines(in, values, indices, dim);
    dispatch_ordered(in.dtype(), "sort", [&]<class T> {
        if (lines.n <= kShort)
            sort_short_lines<T>(lines, descending);
        else if (lines.n <= UINT32_MAX)
            sort_lines<T, uint32_t>(lines, descending);
        else
            sort_lines<T, int64_t>(lines, descending);
    });
}

void topk(Result values, Result indices, const Tensor& in, int64_t dim, int64_t k, bool largest) {
    const Lines lines(in, values, indices, dim);
    dispatch_ordered(in.dtype(), "topk", [&]<class T> {
        using U = Unsigned<sizeof(T)>;
        const U flip = largest ? static_cast<U>(~U{0}) : U{0};
        struct Buffers {
            std::vector<Keyed<U>> pairs;
            std::vector<T> dense;
        };
        lines.each<T, Buffers>([&](const T* line, T* value, int64_t* index, Buffers& buffers) {
            auto& [pairs, dense] = buffers;
            if (lines.step != 1) {
                dense.resize(static_cast<size_t>(lines.n));
                for (int64_t i = 0; i < lines.n; ++i) dense[i] = line[i * lines.step];
                line = dense.data();
            }
            smallest(pairs, lines.n, k, [=](int64_t i) { return static_cast<U>(ordered_key(line[i]) ^ flip); });
            for (int64_t i = 0; i < k; ++i) {
                index[i * lines.out_step] = pairs[i].index;
                value[i * lines.out_step] = line[pairs[i].index];
            }
        });
    });
}

void kthvalue(Result values, Result indices, const Tensor& in, int64_t dim, int64_t k) {
    const Lines lines(in, values, indices, dim);
    dispatch_ordered(in.dtype(), "kthvalue", [&]<class T> {
        struct Buffers {
            std::vector<Unsigned<sizeof(T)>> keys, scratch;
        };
        lines.each<T, Buffers>([&](const T* line, T* value, int64_t* index, Buffers& buffers) {
            auto& [keys, scratch] = buffers;
            keys.resize(static_cast<size_t>(lines.n));
            for (int64_t i = 0; i < lines.n; ++i) keys[i] = ordered_key(line[i * lines.step]);
            scratch = keys;
            std::nth_element(scratch.begin(), scratch.begin() + (k - 1), scratch.end());
            *index = std::find(keys.begin(), keys.end(), scratch[k - 1]) - keys.begin();
            *value = line[*index * lines.step];
        });
    });
}

}  // namespace

constinit DeviceKernel<void(Result, Result, const Tensor&, int64_t, bool)> sort_kernel{"sort", sort};
constinit DeviceKernel<void(Result, Result, const Tensor&, int64_t, int64_t, bool)> topk_kernel{"topk", topk};
constinit DeviceKernel<void(Result, Result, const Tensor&, int64_t, int64_t)> kthvalue_kernel{"kthvalue", kthvalue};

}  // namespace wengert::kernels
