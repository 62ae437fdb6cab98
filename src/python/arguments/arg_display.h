// Signatures and arguments in the words of error messages.
#pragma once

#include <string>

#include "python/arguments/arg_parser.h"

namespace wengert::python {

const char* display_name(const ArgSpec& a) noexcept;            // `self` is `input` to callers
std::string display_kind(const ArgSpec& a);                     // "tuple of ints"
std::string display_signature(const Signature& s, bool bound);  // "(Tensor input, int dim, *, Tensor out = ...)"
std::string type_name(PyObject* o, int levels = 2);             // "Tensor", "tuple of (int, str)"

}  // namespace wengert::python
