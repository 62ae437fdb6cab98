#include "backends/cpu/indexing/index_runs.h"

#include "backends/cpu/indexing/bounds.h"

namespace wengert::kernels {
namespace {

[[noreturn, gnu::cold]] void out_of_bounds(int64_t index, int64_t dim, int64_t size) {
    check(size != 0, ErrorKind::Index, "index is out of bounds for dimension with size 0: index ", index,
          " in dimension ", dim);
    fail(ErrorKind::Index, "index ", index, " is out of bounds for dimension ", dim, " with size ", size);
}

}  // namespace

IndexRuns::IndexRuns(const Tensor& self, const IndexPlan& plan, TensorSpan indices)
    : plan_(plan), offsets_(static_cast<size_t>(numel_of(plan.index_sizes)), 0) {
    for (size_t i = 0; i < indices.size(); ++i) {
        const int64_t d = plan.indexed[i];
        if (self.dim() > 0)
            add_offsets(indices[i], d, self.sizes()[d], self.strides()[d]);
        else  // a number is one of one
            add_offsets(indices[i], d, 1, 0);
    }
}

void IndexRuns::add_offsets(const Tensor& index, int64_t dim, int64_t size, int64_t stride) {
    const int64_t* p = index.data_as<int64_t>();
    int64_t* out = offsets_.data();
    const int64_t lowest = plan_.wraps_negative ? -size : 0;
    Dims strides = broadcast_strides(index, plan_.index_sizes);
    StridedWalk<1>(plan_.index_sizes, {strides})
        .rows([&](const std::array<int64_t, 1>& at, int64_t n, const std::array<int64_t, 1>& step) {
            const int64_t* from = p + at[0];
            if (step[0] == 1 && all_within(from, n, lowest, size)) {
                for (int64_t i = 0; i < n; ++i) out[i] += (from[i] + (from[i] >> 63 & size)) * stride;
                out += n;
                return;
            }
            for (int64_t i = 0; i < n; ++i, from += step[0]) {
                if (*from < lowest || *from >= size) [[unlikely]]
                    out_of_bounds(*from, dim, size);
                *out++ += (*from < 0 ? *from + size : *from) * stride;
            }
        });
}

}  // namespace wengert::kernels
