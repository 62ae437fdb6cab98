#include "generated/ops/formulas/shape/conversions.h"

#include "generated/ops/operators.h"
#include "generated/ops/storage.h"

namespace wengert::ops::formulas {

Tensor converted(const Tensor& self, DType dtype, bool copy, std::optional<MemoryFormat> format) {
    const Tensor result = self.dtype() != dtype ? ops::to_dtype(self, dtype) : copy ? ops::clone(self) : self;
    return format && !is_laid_out(result, *format) ? ops::clone_memory_format(result, format) : result;
}

Tensor converted_on(const Tensor& self, std::optional<Device> device, std::optional<DType> dtype, bool copy,
                    std::optional<MemoryFormat> format) {
    if (device)
        check(*device == self.device(), ErrorKind::NotImplemented, "[to] only the device ", self.device(),
              " is available, got ", *device);
    return converted(self, dtype.value_or(self.dtype()), copy, format);
}

}  // namespace wengert::ops::formulas
