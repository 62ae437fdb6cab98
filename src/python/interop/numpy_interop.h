// NumPy: arrays and scalars in, arrays out. The only file that includes NumPy's headers is numpy_interop.cpp.
#pragma once

#include <Python.h>

#include <optional>

#include "tensor/tensor.h"

namespace wengert::python {

// Memory lent to another library, from now until this ends, on whatever thread.
class Loan {
public:
    explicit Loan(Ref<Storage> storage) : storage_(std::move(storage)) { storage_->lend(); }
    ~Loan() { storage_->take_back(); }
    Loan(const Loan&) = delete;

private:
    Ref<Storage> storage_;
};

bool import_numpy();  // false with an exception set

bool is_numpy_array(PyObject* o) noexcept;
bool is_numpy_scalar(PyObject* o) noexcept;  // of a numeric or boolean type
bool is_numpy_bool(PyObject* o) noexcept;
bool is_numpy_complex(PyObject* o) noexcept;
Scalar numpy_scalar_value(PyObject* o);

// np.dtype instances and NumPy's scalar types; nothing (and no exception) for other objects.
std::optional<DType> dtype_from_numpy(PyObject* o);
PyObject* numpy_dtype(DType dtype);  // a new np.dtype

// Shares memory with the array and keeps it alive.
Tensor tensor_from_array(PyObject* array, bool warn_if_read_only = true);
// An array on the tensor's memory; keeps the tensor's wrapper `owner` alive.
PyObject* array_from_tensor(const Tensor& t, PyObject* owner);
// One for a call that reads: not writable, and not counted as lending the memory.
PyObject* read_only_array(const Tensor& t);
// The dtype that np.asarray(o) would have, copied into a new tensor; for objects that are neither number nor list.
Tensor tensor_from_array_like(PyObject* o);

}  // namespace wengert::python
