#include "wengert/factories.h"

#include <cstring>
#include <mutex>

#include "graph/autograd_meta.h"
#include "kernels/random/generator.h"

namespace wengert {

Tensor values::of_memory(const void* data, DType from, IntSpan sizes, const TensorOptions& options) {
    const Tensor copied = empty(sizes, from, Device());
    if (copied.numel()) std::memcpy(copied.data(), data, static_cast<size_t>(copied.numel() * item_size(from)));
    const Tensor there = ops::to_device(copied, options.device_or_default(), options.dtype_or(from));
    if (options.requires_grad) set_requires_grad(there, true);
    return there;
}

void manual_seed(uint64_t seed) {
    Generator& generator = default_generator();
    std::lock_guard lock(generator.mutex());
    generator.manual_seed(seed);
}

}  // namespace wengert
