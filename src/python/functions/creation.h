// Creation functions: zeros, arange, eye, ..., and the new_* methods.
#pragma once

#include <Python.h>

#include "python/arguments/arg_parser.h"

namespace wengert::python {

extern PyMethodDef creation_functions[];
extern PyMethodDef creation_methods[];

// The keyword arguments that all of them end with, in this order.
#define WENGERT_TENSOR_OPTIONS                                                          \
    {"dtype", ArgKind::DType, kOptional | kNullable | kKeywordOnly},                    \
        {"layout", ArgKind::Layout, kOptional | kNullable | kKeywordOnly},              \
        {"device", ArgKind::Device, kOptional | kNullable | kKeywordOnly},              \
        {"pin_memory", ArgKind::Bool, kOptional | kNullable | kKeywordOnly},            \
        {"memory_format", ArgKind::MemoryFormat, kOptional | kNullable | kKeywordOnly}, \
        {"requires_grad", ArgKind::Bool, kOptional | kKeywordOnly}, {                   \
        "out", ArgKind::Tensor, kOptional | kNullable | kKeywordOnly                    \
    }

// Applies the options that start at parameter `first` to a tensor made with `option_dtype`.
DType option_dtype(const ParsedArgs& p, int first, DType otherwise);
PyObject* with_options(const ParsedArgs& p, int first, Tensor t);

}  // namespace wengert::python
