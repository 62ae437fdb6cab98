// Where values of elements are read: the only way from a device to a decision on the host.
#pragma once

#include "tensor/backend.h"

namespace wengert::kernels {

bool has_values(const Tensor& t);  // those of `meta` have none; those that a mode keeps are out of reach, and have
// Raises for a tensor without memory, whose elements a mode of its own keeps: this is no place where the mode is asked.
void check_has_memory(const Tensor& t, const char* op);

// `t` if its memory is in reach; else a copy on the CPU, made when all that computes it is done. An error where elements have
// no values; `op` is who asks.
Tensor on_host(const Tensor& t, const char* op);

// The one element of `t`.
template <class T>
T read_element(const Tensor& t, const char* op) {
    return *on_host(t, op).data_as<T>();
}

// Whether an element of a mask is true. Where elements have no values none is: so what is mended where it is necessary stays
// as it is.
bool is_any_true(const Tensor& mask);
bool are_all_true(const Tensor& mask);  // likewise all are

// A copy on another device: asynchronous where both sides allow it.
Tensor on_device(const Tensor& t, Device device);
void copy_between_devices(const Tensor& dst, const Tensor& src);  // of one shape and any dtypes and strides

}  // namespace wengert::kernels
