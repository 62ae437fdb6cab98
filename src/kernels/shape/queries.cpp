// Questions about geometry (see shape.h).
#include "kernels/shape/shape.h"

namespace wengert::kernels {

bool is_same_size(const Tensor& self, const Tensor& other) { return same_shape(self, other); }

bool is_set_to(const Tensor& self, const Tensor& tensor) {
    return self.storage() == tensor.storage() && self.offset() == tensor.offset() && self.sizes() == tensor.sizes() &&
           self.strides() == tensor.strides();
}

int64_t get_device(const Tensor&) { return -1; }

}  // namespace wengert::kernels
