// Region: the bytes of a storage that a strided tensor covers, in a form that is quick to compare.
//
// A region is a range [begin, end), of which a strided tensor covers only some: those whose offset modulo `pitch` lies in
// a window of `width` bytes that begins at `start` (and may wrap around). That is exact for anything that indexing a
// contiguous tensor gives with one stepped dimension (rows, columns, every second element, a column of a batch of
// matrices); for the rest the region is larger than the tensor, never smaller. `overlap` may therefore say yes
// wrongly, but never no.
#pragma once

#include "tensor/tensor.h"

namespace wengert {

struct Region {
    int64_t begin = 0, end = 0;
    int64_t pitch = 0;  // 0: every byte of the range
    int64_t start = 0, width = 0;

    bool empty() const noexcept { return begin >= end; }
    bool is_dense() const noexcept { return pitch == 0; }
    bool covers(const Region& other) const noexcept { return is_dense() && begin <= other.begin && end >= other.end; }
};

Region region_of(const TensorImpl& t);
bool overlap(const Region& a, const Region& b) noexcept;
// The smallest region of this form that holds both, roughly.
Region hull(const Region& a, const Region& b) noexcept;

}  // namespace wengert
