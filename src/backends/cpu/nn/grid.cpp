// Sampling on grids on the CPU (kernels/nn/grid.h).
#include "backends/cpu/choose_isa.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "backends/cpu/nn/grid_loops.h"
#include "kernels/nn/grid_kernels.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(GridTable, grid_table)

namespace {

void grid_sample(Result out, const Tensor& input, const Tensor& points, GridMode mode, GridPadding padding,
                 bool align_corners) {
    const int64_t batch = input.size(0), channels = input.size(1), n = points.size(1), dims = points.size(2);
    GridPlan plan{dims, {1, 1, 1}, 1, mode, padding, align_corners};
    for (int64_t d = 0; d < dims; ++d) plan.plane *= plan.sizes[d] = input.size(d + 2);
    constexpr int64_t kPoints = GridTable::kPoints;
    const int64_t blocks = (n + kPoints - 1) / kPoints;
    dispatch_floating(input.dtype(), "grid_sample", [&]<class T> {
        parallel_for(batch * blocks, units_of(kPoints * channels), [&](int64_t begin, int64_t end) {
            for (int64_t k = begin; k < end; ++k) {
                const int64_t image = k / blocks, first = k % blocks * kPoints;
                const auto count = static_cast<int>(std::min(kPoints, n - first));
                const T* at = points.data_as<T>() + (image * n + first) * dims;
                const T* from = input.data_as<T>() + image * channels * plan.plane;
                T* to = out->data_as<T>() + image * channels * n + first;
                if constexpr (std::is_same_v<T, float>)
                    grid_table().sample_f32(plan, at, count, from, channels, to, n);
                else
                    grid_table().sample_f64(plan, at, count, from, channels, to, n);
            }
        });
    });
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, GridMode, GridPadding, bool)> grid_sample_kernel{
    "grid_sample", grid_sample};

}  // namespace wengert::kernels
