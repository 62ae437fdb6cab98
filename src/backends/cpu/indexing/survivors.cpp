// What of a scatter survives: gather, but zero where a later element of the index names the same place.
#include <memory>
#include <utility>

#include "backends/cpu/elementwise/strided.h"
#include "backends/cpu/indexing/along.h"
#include "kernels/indexing/indexing_kernels.h"

namespace wengert::kernels {
namespace {

// Zero if `taken`, which is 0 or 1, else the value: without a branch, which no processor could foresee.
template <class T>
T unless(uint8_t taken, T value) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(value & (T{taken} - 1));
    else
        return {{unless(taken, value.words[0]), unless(taken, value.words[1])}};
}

// In a part of the tensors in which all indices name elements of that part: the elements of the
// index are walked from the last to the first, so that the first that names a place is the one that lasts there.
template <class T>
struct Survivors {
    StridedWalk<4> backwards;     // over out, index, self and marks, from their last elements
    int64_t of_element, of_mark;  // from a place to the next

    void gather(T* to, const int64_t* at, const T* from, uint8_t* taken) const {
        backwards.rows([=, this](const std::array<int64_t, 4>& start, int64_t n, const std::array<int64_t, 4>& step) {
            T* result = to + start[0];
            const int64_t *k = at + start[1], stride = of_element, mark_stride = of_mark;
            const T* element = from + start[2];
            uint8_t* mark = taken + start[3];
            const auto [result_step, k_step, element_step, mark_step] = step;
            const auto take = [](T& result, const T& element, uint8_t& mark) {
                result = unless(mark, element);
                mark = 1;
            };
            if (result_step == -1 && k_step == -1 && element_step == 0 && mark_step == 0 && stride == 1 &&
                mark_stride == 1) {
                for (int64_t i = 0; i > -n; --i) take(result[i], element[k[i]], mark[k[i]]);
            } else {
                for (int64_t i = 0; i < n; ++i, k += k_step, result += result_step)
                    take(*result, element[i * element_step + *k * stride], mark[i * mark_step + *k * mark_stride]);
            }
        });
    }
};

// Part by part of the dimensions before `dim` where these are large, so that the marks stay in the cache.
void gather_survivors(const Tensor& out, const Tensor& self, const Along& a, int64_t dim) {
    const IntSpan sizes = out.sizes();
    Dims marks = contiguous_strides(self.sizes());
    const int64_t of_mark = self.dim() == 0 ? 0 : std::exchange(marks[static_cast<size_t>(dim)], 0);
    marks.resize(sizes.size());
    constexpr int64_t kLargePart = 1 << 10;
    size_t before = std::min(static_cast<size_t>(dim), sizes.size());
    if (numel_of(sizes.subspan(before)) < kLargePart) before = 0;
    int64_t places = 1;
    for (size_t d = before; d < self.sizes().size(); ++d) places *= self.sizes()[d];
    const auto lead = [before](const Dims& all) { return IntSpan(all).first(before); };
    const StridedWalk<3> parts(sizes.first(before), {lead(out.strides()), lead(a.index.strides()), lead(a.strides)});
    const std::array<const Dims*, 4> strides{&out.strides(), &a.index.strides(), &a.strides, &marks};
    std::array<Dims, 4> back;
    std::array<int64_t, 4> last{};
    for (size_t k = 0; k < 4; ++k)
        for (size_t d = before; d < sizes.size(); ++d) {
            const int64_t stride = (*strides[k])[d];
            back[k].push_back(-stride);
            last[k] += (sizes[d] - 1) * stride;
        }
    dispatch_size(item_size(self.dtype()), [&]<class T> {
        const Survivors<T> survivors{{sizes.subspan(before), {back[0], back[1], back[2], back[3]}}, a.stride, of_mark};
        T* to = out.data_as<T>() + last[0];
        const int64_t* index = a.index.data_as<int64_t>() + last[1];
        const T* from = self.data_as<T>() + last[2];
        parallel_for(parts.numel(), 1, [&](int64_t begin, int64_t end) {
            const std::unique_ptr<uint8_t[]> taken(new uint8_t[static_cast<size_t>(places)]);
            parts.elements_of(begin, end, [&](const std::array<int64_t, 3>& at) {
                std::fill_n(taken.get(), places, uint8_t{0});
                survivors.gather(to + at[0], index + at[1], from + at[2], taken.get() + last[3]);
            });
        });
    });
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&, int64_t, const Tensor&)> gather_survivors_kernel{
    "gather_survivors",
    [](Result out, const Tensor& self, int64_t dim, const Tensor& index) {
        const Along a(self, dim, index, "scatter");
        gather_survivors(out, self, a, dim);
    },
    HostWaits::ForErrors};

}  // namespace wengert::kernels
