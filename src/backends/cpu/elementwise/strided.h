// Walking several strided arrays of one shape together.
//
// Kernels that move or reduce elements see memory as rows: the shape is coalesced (size-1 dimensions dropped,
// neighbours that are dense with respect to each other in every array merged), and what remains is walked with an
// odometer over all dimensions but the last:
//
//     StridedWalk<2> walk(sizes, {dst.strides(), src.strides()});
//     walk.rows([&](std::array<int64_t, 2> offset, int64_t n, std::array<int64_t, 2> stride) { ... });
//
// Offsets and strides are in elements of each array. Rows come in row-major order of `sizes`, so that "the last write
// wins" means what it says.
#pragma once

#include <algorithm>
#include <array>

#include "base/threads/parallel_for.h"
#include "tensor/tensor.h"

namespace wengert::kernels {

inline constexpr int64_t kParallelBlock = 1 << 14;  // elements; the first of them tells what all will take

template <size_t N>
class StridedWalk {
public:
    using Offsets = std::array<int64_t, N>;

    StridedWalk(IntSpan sizes, const std::array<IntSpan, N>& strides) {
        for (size_t d = 0; d < sizes.size(); ++d) {
            if (sizes[d] == 0) empty_ = true;
            if (sizes[d] == 1) continue;
            Offsets step;
            for (size_t k = 0; k < N; ++k) step[k] = strides[k][d];
            if (!axes_.empty() && merges(axes_.back(), sizes[d], step)) {
                axes_.back().size *= sizes[d];
                axes_.back().stride = step;
            } else {
                axes_.push_back({sizes[d], step});
            }
        }
        if (axes_.empty()) axes_.push_back({1, {}});
    }

    template <class F>
    void rows(F&& f) const {
        if (empty_) return;
        const Axis& last = axes_.back();
        size_t outer = axes_.size() - 1;
        Offsets offset{};
        SmallVector<int64_t, 4> index(outer, 0);
        for (;;) {
            f(offset, last.size, last.stride);
            size_t d = outer;
            for (;; --d) {
                if (d == 0) return;
                const Axis& axis = axes_[d - 1];
                for (size_t k = 0; k < N; ++k) offset[k] += axis.stride[k];
                if (++index[d - 1] < axis.size) break;
                for (size_t k = 0; k < N; ++k) offset[k] -= axis.stride[k] * axis.size;
                index[d - 1] = 0;
            }
        }
    }

    // The same on several threads, in any order and in shorter rows: for functions that write where no other row reads or
    // writes.
    template <class F>
    void rows_in_parallel(F&& f) const {
        const Axis& first = axes_.front();
        const int64_t of_first = first.size > 0 ? numel() / first.size : 0;
        parallel_for(empty_ ? 0 : first.size, std::max<int64_t>(1, kParallelBlock / std::max<int64_t>(of_first, 1)),
                     [&](int64_t begin, int64_t end) {
                         StridedWalk part(*this);
                         part.axes_.front().size = end - begin;
                         part.rows([&](Offsets offset, int64_t n, const Offsets& stride) {
                             for (size_t k = 0; k < N; ++k) offset[k] += begin * first.stride[k];
                             f(offset, n, stride);
                         });
                     });
    }

    // One call per element.
    template <class F>
    void elements(F&& f) const {
        rows([&](Offsets offset, int64_t n, const Offsets& stride) {
            for (int64_t i = 0; i < n; ++i) {
                f(offset);
                for (size_t k = 0; k < N; ++k) offset[k] += stride[k];
            }
        });
    }

    int64_t numel() const noexcept {
        int64_t n = empty_ ? 0 : 1;
        for (const Axis& axis : axes_) n *= axis.size;
        return n;
    }
    // One call for each of the elements [begin, end) in row-major order.
    template <class F>
    void elements_of(int64_t begin, int64_t end, F&& f) const {
        SmallVector<int64_t, 4> index(axes_.size(), 0);
        Offsets offset{};
        int64_t left = begin;
        for (size_t d = axes_.size(); d-- > 0; left /= axes_[d].size) {
            index[d] = left % axes_[d].size;
            for (size_t k = 0; k < N; ++k) offset[k] += index[d] * axes_[d].stride[k];
        }
        for (int64_t i = begin; i < end; ++i) {
            f(offset);
            for (size_t d = axes_.size(); d-- > 0;) {
                for (size_t k = 0; k < N; ++k) offset[k] += axes_[d].stride[k];
                if (++index[d] < axes_[d].size) break;
                for (size_t k = 0; k < N; ++k) offset[k] -= axes_[d].stride[k] * axes_[d].size;
                index[d] = 0;
            }
        }
    }

private:
    struct Axis {
        int64_t size;
        Offsets stride;
    };
    static bool merges(const Axis& outer, int64_t size, const Offsets& step) {
        for (size_t k = 0; k < N; ++k)
            if (outer.stride[k] != step[k] * size) return false;
        return true;
    }

    SmallVector<Axis, 4> axes_;
    bool empty_ = false;
};

// Copies of elements whose meaning does not matter go by size: dispatch_size(8, [&]<class T> { ... }).
struct alignas(8) Bytes16 {
    uint64_t words[2];
};
template <class F>
decltype(auto) dispatch_size(int64_t bytes, F&& f) {
    switch (bytes) {
        case 1:
            return f.template operator()<uint8_t>();
        case 2:
            return f.template operator()<uint16_t>();
        case 4:
            return f.template operator()<uint32_t>();
        case 8:
            return f.template operator()<uint64_t>();
        default:
            return f.template operator()<Bytes16>();
    }
}

}  // namespace wengert::kernels
