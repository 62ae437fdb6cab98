// The keyword arguments that say how a new tensor is to be (tensor/options.h).
#pragma once

#include "python/arguments/arg_parser.h"
#include "tensor/options.h"

namespace wengert::python {

// They stand together, in this order.
#define WENGERT_TENSOR_OPTIONS                                                            \
    {"dtype", ArgKind::DType, kOptional | kNullable | kKeywordOnly},                      \
        {"layout", ArgKind::Layout, kOptional | kNullable | kKeywordOnly},                \
        {"device", ArgKind::Device, kOptional | kNullable | kKeywordOnly},                \
        {"pin_memory", ArgKind::Bool, kOptional | kNullable | kKeywordOnly},              \
        {"memory_format", ArgKind::MemoryFormat, kOptional | kNullable | kKeywordOnly}, { \
        "requires_grad", ArgKind::Bool, kOptional | kKeywordOnly                          \
    }

inline TensorOptions tensor_options(const ParsedArgs& p, int first) {
    return {p.optional_dtype(first), p.device(first + 2), p.optional_memory_format(first + 4),
            p.boolean(first + 5, false)};
}

}  // namespace wengert::python
