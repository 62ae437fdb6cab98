// What the core asks of the Python objects of its tensors and nodes (tensor/wrappers.h).
#pragma once

namespace wengert::python {

void install_wrappers() noexcept;

}  // namespace wengert::python
