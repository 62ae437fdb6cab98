#include "generated/ops/formulas/shape/conversions.h"

#include "generated/ops/operators.h"
#include "generated/ops/storage.h"

namespace wengert::ops::formulas {

Tensor converted(const Tensor& self, DType dtype, bool copy, std::optional<MemoryFormat> format) {
    const Tensor result = self.dtype() != dtype ? ops::to_dtype(self, dtype) : copy ? ops::clone(self) : self;
    return format && !is_laid_out(result, *format) ? ops::clone_memory_format(result, format) : result;
}

Device cpu_device() { return {}; }

Tensor converted_on(const Tensor& self, std::optional<Device> device, std::optional<DType> dtype, bool copy,
                    std::optional<MemoryFormat> format) {
    const bool moves = device && !(*device == self.device());
    const Tensor result = converted(self, dtype.value_or(self.dtype()), copy && !moves, format);
    return moves ? ops::on_device(result, *device) : result;
}

}  // namespace wengert::ops::formulas
