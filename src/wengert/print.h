// Tensors as text.
//
//     std::cout << tensor({{1, 2}, {3, 4}});     tensor([[1, 2],
//                                                        [3, 4]])
//
// As Python prints them, but that numbers have the precision of the stream. Of a long dimension the first and last three
// are shown. What has no elements to show (another device's tensor is copied first) tells its shape.
#pragma once

#include <ostream>

#include "tensor/tensor.h"

namespace wengert {

std::ostream& operator<<(std::ostream& out, const Tensor& t);

}  // namespace wengert
