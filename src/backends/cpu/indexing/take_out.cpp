// Moving elements out of a tensor on the CPU (kernels/indexing/take_out.h).
#include <cstring>

#include "kernels/indexing/indexing_kernels.h"

namespace wengert::kernels {

constinit DeviceKernel<void(Result, Result, int64_t)> take_out_kernel{
    "take_out",
    [](Result out, Result t, int64_t offset) {
        const int64_t item = item_size(t->dtype());
        const auto size = static_cast<size_t>(out->numel() * item);
        std::byte* const at = t->data() + (offset - t->offset()) * item;
        std::memcpy(out->data(), at, size);
        std::memset(at, 0, size);
    },
    Elements::Stored};

}  // namespace wengert::kernels
