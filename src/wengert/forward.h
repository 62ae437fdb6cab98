// What the methods of Tensor name, before the class (tensor_methods.h).
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/refcount.h"
#include "base/small_vector.h"

namespace wengert {

class Generator;
class Node;
class Operand;
class Tensor;
struct TensorOptions;
enum class MemoryFormat : int8_t;
using TensorList = SmallVector<Tensor, 2>;
using TensorSpan = std::span<const Tensor>;

}  // namespace wengert
