// How the CPU's implementations come to compute on a device: they get tensors of the CPU with the same elements, whose
// storage is the memory behind the device's addresses. These are made when the call is given: what the tensors of the call
// stand for may be exchanged (`set_`, `resize_`, `.data =`) before it is run.
#pragma once

#include <utility>

#include "backends/sim/system.h"
#include "tensor/tensor.h"

namespace wengert::sim {

class Reached {
public:
    explicit Reached(const Call& call);
    Tensor operator()(const Tensor& t) const;  // for one of the call

private:
    void add(const Tensor& t);

    SmallVector<std::pair<const TensorImpl*, Tensor>, 4> tensors_;
    SmallVector<std::pair<const Storage*, Ref<Storage>>, 4> storages_;  // one for each, as kernels may ask for overlap
};

// What the call reads and writes.
std::vector<MemoryUse> uses_of(const Call& call);
MemoryUse use_of(const Tensor& t, bool is_write);

}  // namespace wengert::sim
