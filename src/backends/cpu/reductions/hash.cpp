// Hashes on the CPU (kernels/reductions/hash.h).
#include "kernels/reductions/reduce_kernels.h"

namespace wengert::kernels {
namespace {

void hash(Result out, const Tensor& bits) {
    const int64_t results = out->numel(), count = bits.numel() / results;
    const int64_t* row = bits.data_as<int64_t>();
    for (int64_t i = 0; i < results; ++i, row += count) {
        int64_t all = 0;
        for (int64_t k = 0; k < count; ++k) all ^= row[k];
        out->data_as<int64_t>()[i] = all;
    }
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&)> hash_kernel{"hash_tensor", hash};

}  // namespace wengert::kernels
