#include "kernels/elementwise/strided_iteration.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace wengert::kernels {

StridedIteration::StridedIteration(IntSpan shape) : dims_(static_cast<int>(shape.size())) {
    check(dims_ <= kMaxDims, ErrorKind::Runtime, "tensors may have at most ", int{kMaxDims}, " dimensions, got ",
          dims_);
    for (int d = 0; d < dims_; ++d) {
        int from = dims_ - 1 - d;
        sizes_[d] = shape[from];
        dimension_[d] = static_cast<uint8_t>(from);
        empty_ |= shape[from] == 0;
    }
    if (dims_ == 0) sizes_[0] = 1;
}

void StridedIteration::add(void* data, IntSpan sizes, IntSpan strides, int64_t item_size) {
    int a = arrays_++, lead = dims_ - static_cast<int>(sizes.size());
    data_[a] = static_cast<char*>(data);
    items_[a] = item_size;
    for (int d = 0; d < dims_; ++d) {
        int own = dimension_[d] - lead;
        bool repeated = own < 0 || (sizes[own] == 1 && sizes_[d] != 1);
        steps_[d][a] = repeated ? 0 : strides[own] * item_size;
    }
    if (dims_ == 0) steps_[0][a] = item_size;
}

// Positive if the two should change places: `outer` has the smaller strides. The leading array is asked first; one that
// is repeated along either dimension has no opinion. Zero if nobody has one.
int StridedIteration::compare(int inner, int outer, int leading) const noexcept {
    for (int i = 0; i < arrays_; ++i) {
        int a = i == 0 ? leading : i <= leading ? i - 1 : i;
        int64_t so = steps_[outer][a], si = steps_[inner][a];
        if (so < 0) so = -so;
        if (si < 0) si = -si;
        if (so == 0 || si == 0) continue;
        if (so != si) return so < si ? 1 : -1;
        if (sizes_[inner] > sizes_[outer]) return 1;  // of equal strides the longer dimension is the outer one
    }
    return 0;
}

void StridedIteration::exchange(int d, int e) {
    std::swap(sizes_[d], sizes_[e]);
    std::swap(dimension_[d], dimension_[e]);
    for (int a = 0; a < arrays_; ++a) std::swap(steps_[d][a], steps_[e][a]);
}

void StridedIteration::join_innermost(int64_t largest) {
    if (dims_ < 2) return;
    const int64_t bytes = items_[0] * sizes_[0], alignment = std::min<int64_t>(bytes, alignof(double));
    if (bytes > largest || !std::has_single_bit(static_cast<uint64_t>(bytes))) return;
    for (int a = 0; a < arrays_; ++a) {
        if (steps_[0][a] != items_[a]) return;
        auto places = reinterpret_cast<uintptr_t>(data_[a]);
        for (int d = 1; d < dims_; ++d) places |= static_cast<uintptr_t>(steps_[d][a]);
        if (places % static_cast<uintptr_t>(alignment) != 0) return;
    }
    for (int a = 0; a < arrays_; ++a) items_[a] = bytes;
    std::copy(sizes_ + 1, sizes_ + dims_, sizes_);
    std::copy(dimension_ + 1, dimension_ + dims_, dimension_);
    for (int d = 1; d < dims_; ++d) std::copy_n(steps_[d], arrays_, steps_[d - 1]);
    --dims_;
}

// Insertion sort that looks past dimensions without an order between them.
void StridedIteration::order(int leading) {
    for (int i = 1; i < dims_; ++i) {
        int moving = i;
        for (int d = i - 1; d >= 0; --d) {
            int order = compare(d, moving, leading);
            if (order < 0) break;
            if (order == 0) continue;
            exchange(d, moving);
            moving = d;
        }
    }
}

Dims StridedIteration::permuted_strides() const {
    Dims strides(static_cast<size_t>(dims_));
    int64_t step = 1;
    for (int d = 0; d < dims_; ++d) {
        strides[dimension_[d]] = step;
        step *= sizes_[d] > 1 ? sizes_[d] : 1;
    }
    return strides;
}

StridedIteration StridedIteration::part(int d, int64_t begin, int64_t end) const {
    StridedIteration part(*this);
    for (int a = 0; a < arrays_; ++a) part.data_[a] += begin * steps_[d][a];
    part.sizes_[d] = end - begin;
    return part;
}

bool StridedIteration::merges(int inner, int outer) const noexcept {
    for (int a = 0; a < arrays_; ++a)
        if (steps_[outer][a] != steps_[inner][a] * sizes_[inner]) return false;
    return true;
}

void StridedIteration::coalesce() {
    if (empty_) return;
    int last = 0;
    for (int d = 1; d < dims_; ++d) {
        if (sizes_[d] == 1) continue;
        if (sizes_[last] == 1) {  // a dimension of size 1 gives way
        } else if (merges(last, d)) {
            sizes_[last] *= sizes_[d];
            continue;
        } else {
            ++last;
        }
        if (last == d) continue;
        sizes_[last] = sizes_[d];
        dimension_[last] = dimension_[d];
        for (int a = 0; a < arrays_; ++a) steps_[last][a] = steps_[d][a];
    }
    dims_ = dims_ == 0 ? 0 : last + 1;
}

}  // namespace wengert::kernels
