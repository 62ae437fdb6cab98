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
    constexpr int64_t kFew = 8, kOften = 4;
    const int64_t after = numel_of(plan.after_sizes);
    if (after > 1 && after <= kFew && numel_of(plan.before_sizes) >= kOften) take_after();
}

void IndexRuns::take_after() {
    std::vector<int64_t> all;
    all.reserve(offsets_.size() * static_cast<size_t>(numel_of(plan_.after_sizes)));
    const StridedWalk<1> walk(plan_.after_sizes, {plan_.after_strides});
    for (const int64_t offset : offsets_)
        walk.elements([&](const std::array<int64_t, 1>& at) { all.push_back(offset + at[0]); });
    offsets_ = std::move(all);
    for (const int64_t size : plan_.after_sizes) plan_.index_sizes.push_back(size);
    plan_.after_sizes.clear();
    plan_.after_strides.clear();
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

std::vector<uint8_t> IndexRuns::lasts(int64_t numel) const {
    std::vector<uint8_t> all(offsets_.size()), taken(static_cast<size_t>(numel));
    uint8_t *last = all.data(), *mark = taken.data();
    const int64_t* offset = offsets_.data();
    for (int64_t i = static_cast<int64_t>(all.size()) - 1; i >= 0; --i) {
        last[i] = !mark[offset[i]];
        mark[offset[i]] = 1;
    }
    return all;
}

std::vector<IndexRuns::Series> IndexRuns::series() const {
    const auto n = static_cast<int64_t>(offsets_.size());
    constexpr int64_t kLong = 4, kOften = 4;
    std::vector<Series> all;
    if (numel_of(plan_.before_sizes) < kOften) return all;
    const int64_t most = n / kLong, *offset = offsets_.data();
    for (int64_t i = 0, end; i < n; i = end) {
        if (static_cast<int64_t>(all.size()) == most) return {};
        const int64_t step = i + 1 < n ? offset[i + 1] - offset[i] : 0;
        for (end = i + 1; end < n && offset[end] - offset[end - 1] == step;) ++end;
        all.push_back({i, end - i, offset[i], step});
    }
    return all;
}

}  // namespace wengert::kernels
