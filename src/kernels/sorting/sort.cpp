// sort, argsort, topk, kthvalue: line by line, on (key, index) pairs.
#include "kernels/sorting/sort.h"

#include <algorithm>
#include <vector>

#include "backends/cpu/sorting/ordered_key.h"
#include "kernels/elementwise/elementwise.h"

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

// The k smallest pairs of a line, sorted. A heap of k serves small k: most elements fail one comparison.
template <class U, class KeyAt>
void smallest(std::vector<Keyed<U>>& pairs, int64_t n, int64_t k, KeyAt key_at) {
    pairs.clear();
    if (k <= 256 && k * 8 <= n) {
        for (int64_t i = 0; i < k; ++i) pairs.push_back({key_at(i), i});
        std::make_heap(pairs.begin(), pairs.end());
        for (int64_t i = k; i < n && k > 0; ++i) {
            U key = key_at(i);
            if (key >= pairs.front().key) continue;
            std::pop_heap(pairs.begin(), pairs.end());
            pairs.back() = {key, i};
            std::push_heap(pairs.begin(), pairs.end());
        }
    } else {
        for (int64_t i = 0; i < n; ++i) pairs.push_back({key_at(i), i});
        if (k < n) std::nth_element(pairs.begin(), pairs.begin() + k, pairs.end());
        pairs.resize(k);
    }
    std::sort(pairs.begin(), pairs.end());
}

// Results of k elements per line.
struct Lines {
    int64_t dim, n, step, k, out_step;
    Tensor values, indices;
    Lines(const Tensor& self, int64_t d, int64_t count, bool with_values, const char* op)
        : dim(wrap_dim(d, self.dim(), op)), n(line_size(self, dim)), step(line_stride(self, dim)), k(count) {
        Dims sizes = self.sizes();
        if (self.dim() > 0) sizes[dim] = k < 0 ? n : k;
        if (k < 0) k = n;
        if (with_values) values = empty(sizes, self.dtype());
        indices = empty(sizes, DType::Int64);
        out_step = line_stride(indices, dim);
    }
    // f(line of self, values or null, indices, buffers), with buffers of its own on each thread
    template <class T, class Buffers, class F>
    void each(const Tensor& self, F f) const {
        if (indices.numel() == 0) return;
        for_each_line<2>(self.sizes(), {self.strides(), indices.strides()}, dim, [&] {
            return [&, buffers = Buffers()](const std::array<int64_t, 2>& at) mutable {
                f(self.data_as<T>() + at[0], values.defined() ? values.data_as<T>() + at[1] : nullptr,
                  indices.data_as<int64_t>() + at[1], buffers);
            };
        });
    }
};

template <class T, class I>
void sort_lines(const Tensor& self, const Lines& lines, bool descending) {
    using U = Unsigned<sizeof(T)>;
    const U flip = descending ? static_cast<U>(~U{0}) : U{0};
    struct Buffers {
        std::vector<Keyed<U, I>> pairs, scratch;
    };
    lines.each<T, Buffers>(self, [&](const T* in, T* value, int64_t* index, Buffers& buffers) {
        auto& [pairs, scratch] = buffers;
        pairs.resize(static_cast<size_t>(lines.n));
        for (int64_t i = 0; i < lines.n; ++i)
            pairs[i] = {static_cast<U>(ordered_key(in[i * lines.step]) ^ flip), static_cast<I>(i)};
        sort_pairs(pairs, scratch);
        for (int64_t i = 0; i < lines.n; ++i) {
            auto from = static_cast<int64_t>(pairs[i].index);
            index[i * lines.out_step] = from;
            if (value) value[i * lines.out_step] = in[from * lines.step];
        }
    });
}

Lines sorted(const Tensor& self, int64_t dim, bool descending, bool with_values, const char* op) {
    Lines lines(self, dim, -1, with_values, op);
    dispatch_ordered(self.dtype(), op, [&]<class T> {
        if (lines.n <= UINT32_MAX)
            sort_lines<T, uint32_t>(self, lines, descending);
        else
            sort_lines<T, int64_t>(self, lines, descending);
    });
    return lines;
}

}  // namespace

std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim, bool descending, bool) {
    Lines lines = sorted(self, dim, descending, true, "sort");
    return {lines.values, lines.indices};
}

Tensor argsort(const Tensor& self, int64_t dim, bool descending, bool) {
    return sorted(self, dim, descending, false, "argsort").indices;
}

std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool) {
    const int64_t n = line_size(self, wrap_dim(dim, self.dim(), "topk"));
    check(k >= 0 && k <= n, ErrorKind::Runtime, "[topk] selected index k out of range: k is ", k,
          ", the dimension has size ", n);
    Lines lines(self, dim, k, true, "topk");
    dispatch_ordered(self.dtype(), "topk", [&]<class T> {
        using U = Unsigned<sizeof(T)>;
        const U flip = largest ? static_cast<U>(~U{0}) : U{0};
        lines.each<T, std::vector<Keyed<U>>>(self, [&](const T* in, T* value, int64_t* index, auto& pairs) {
            smallest(pairs, n, k, [&](int64_t i) { return static_cast<U>(ordered_key(in[i * lines.step]) ^ flip); });
            for (int64_t i = 0; i < k; ++i) {
                index[i * lines.out_step] = pairs[i].index;
                value[i * lines.out_step] = in[pairs[i].index * lines.step];
            }
        });
    });
    return {lines.values, lines.indices};
}

std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
    dim = wrap_dim(dim, self.dim(), "kthvalue");
    const int64_t n = line_size(self, dim);
    check(n > 0, ErrorKind::Index, "kthvalue(): Expected reduction dim ", dim, " to have non-zero size.");
    check(k >= 1 && k <= n, ErrorKind::Runtime, "kthvalue(): selected number k out of range for dimension ", dim,
          ": k is ", k, ", its size is ", n);
    Lines lines(self, dim, 1, true, "kthvalue");
    dispatch_ordered(self.dtype(), "kthvalue", [&]<class T> {
        struct Buffers {
            std::vector<Unsigned<sizeof(T)>> keys, scratch;
        };
        lines.each<T, Buffers>(self, [&](const T* in, T* value, int64_t* index, Buffers& buffers) {
            auto& [keys, scratch] = buffers;
            keys.resize(static_cast<size_t>(n));
            for (int64_t i = 0; i < n; ++i) keys[i] = ordered_key(in[i * lines.step]);
            scratch = keys;
            std::nth_element(scratch.begin(), scratch.begin() + (k - 1), scratch.end());
            *index = std::find(keys.begin(), keys.end(), scratch[k - 1]) - keys.begin();
            *value = in[*index * lines.step];
        });
    });
    if (keepdim || self.dim() == 0) return {lines.values, lines.indices};
    Dims sizes = self.sizes();
    sizes.erase(dim);
    Dims strides = contiguous_strides(sizes);
    return {alias(lines.values, sizes, strides, 0), alias(lines.indices, sizes, strides, 0)};
}

}  // namespace wengert::kernels
