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

IndexRuns::IndexRuns(const Tensor& self, const IndexPlan& plan, TensorSpan indices) : plan_(plan) {
    split_mesh(indices);
    leading_.resize(static_cast<size_t>(numel_of(leading_sizes_)));
    offsets_.resize(static_cast<size_t>(numel_of(plan_.index_sizes)));
    for (size_t i = 0; i < indices.size(); ++i) {
        const Tensor& index = indices[i];
        const int64_t d = plan.indexed[i];
        const int64_t size = self.dim() > 0 ? self.sizes()[d] : 1;  // a number is one of one
        const int64_t stride = self.dim() > 0 ? self.strides()[d] : 0;
        if (leading_sizes_.empty()) {
            add_offsets(index, d, size, stride, plan_.index_sizes, offsets_.data());
        } else if (index.dim() > 0 && index.size(-1) > 1) {
            const Tensor last = alias(index, Dims{index.size(-1)}, Dims{index.strides().back()}, index.offset());
            add_offsets(last, d, size, stride, plan_.index_sizes, offsets_.data());
        } else {
            const size_t dims = index.dim() > 0 ? index.sizes().size() - 1 : 0;
            const Tensor leading =
                alias(index, IntSpan(index.sizes()).first(dims), IntSpan(index.strides()).first(dims), index.offset());
            add_offsets(leading, d, size, stride, leading_sizes_, leading_.data());
        }
    }
    constexpr int64_t kFew = 8, kOften = 4;
    const int64_t after = numel_of(plan.after_sizes);
    if (after > 1 && after <= kFew && numel_of(plan.before_sizes) >= kOften) take_after();
}

void IndexRuns::split_mesh(TensorSpan indices) {
    const Dims& sizes = plan_.index_sizes;
    if (sizes.size() < 2 || numel_of(sizes) <= sizes.back()) return;
    for (const Tensor& index : indices)
        if (index.dim() > 0 && index.size(-1) > 1 && index.numel() != index.size(-1)) return;
    if (sizes.back() == 1) return;
    leading_sizes_ = Dims(IntSpan(sizes).first(sizes.size() - 1));
    plan_.index_sizes = Dims{sizes.back()};
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

void IndexRuns::add_offsets(const Tensor& index, int64_t dim, int64_t size, int64_t stride, IntSpan sizes,
                            int64_t* out) const {
    const int64_t* p = index.data_as<int64_t>();
    const int64_t lowest = plan_.wraps_negative ? -size : 0;
    Dims strides = broadcast_strides(index, sizes);
    StridedWalk<1>(sizes, {strides})
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
    const size_t n = offsets_.size();
    std::vector<uint8_t> all(leading_.size() * n), taken(static_cast<size_t>(numel));
    uint8_t *last = all.data(), *mark = taken.data();
    for (size_t lead = leading_.size(); lead-- > 0;) {
        const int64_t *offset = offsets_.data(), start = leading_[lead];
        for (size_t i = n; i-- > 0;) {
            last[lead * n + i] = !mark[start + offset[i]];
            mark[start + offset[i]] = 1;
        }
    }
    return all;
}

std::vector<IndexRuns::Series> IndexRuns::series() const {
    const auto n = static_cast<int64_t>(offsets_.size());
    constexpr int64_t kLong = 4, kOften = 4;
    std::vector<Series> all;
    if (times_used() < kOften || plan_.index_sizes.size() != 1) return all;
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
