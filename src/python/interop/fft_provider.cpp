// SciPy's Fourier transforms for the core. SciPy is imported by the first transform; the interpreter's lock is held around
// the call only, on whatever thread it happens. Arrays share memory with the tensors, those that go in are read-only.
#include "python/interop/fft_provider.h"

#include "base/threads/parallel_for.h"
#include "kernels/fft.h"
#include "python/exceptions.h"
#include "python/interop/numpy_interop.h"

namespace wengert::python {
namespace {

PyRef tuple_of(IntSpan values) {
    PyRef tuple(checked(PyTuple_New(static_cast<Py_ssize_t>(values.size()))));
    for (size_t i = 0; i < values.size(); ++i)
        PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), checked(PyLong_FromLongLong(values[i])));
    return tuple;
}

constexpr int64_t kFewest = 1 << 16;  // elements that are worth several threads, those of SciPy

Tensor transform(const Tensor& self, const kernels::FftCall& call) {
    using kernels::FftKind;
    const GilGuard gil;
    const PyRef module(checked(PyImport_ImportModule("wengert._spectra")));
    const PyRef array(read_only_array(self)), axes(tuple_of(call.dims));
    const int scale = static_cast<int>(call.scale);
    const int workers = self.numel() >= kFewest && may_use_threads() ? num_threads() : 1;
    DType dtype = self.dtype();
    PyRef result;
    switch (call.kind) {
        case FftKind::ComplexToComplex:
            result = PyRef(PyObject_CallMethod(module.get(), "complex_to_complex", "OOiii", array.get(), axes.get(),
                                               scale, call.forward, workers));
            break;
        case FftKind::RealToComplex:
            dtype = complex_dtype(dtype);
            result = PyRef(PyObject_CallMethod(module.get(), "real_to_complex", "OOiii", array.get(), axes.get(), scale,
                                               call.onesided, workers));
            break;
        case FftKind::ComplexToReal:
            dtype = real_dtype(dtype);
            result = PyRef(PyObject_CallMethod(module.get(), "complex_to_real", "OOiLi", array.get(), axes.get(), scale,
                                               static_cast<long long>(call.last), workers));
            break;
    }
    checked(result.get());
    const PyRef descr(numpy_dtype(dtype));
    const PyRef dense(checked(PyObject_CallMethod(module.get(), "dense", "OO", result.get(), descr.get())));
    // Only the tensor may refer to the array from here on: its memory is then known to be private.
    result = PyRef();
    return tensor_from_array(dense.get(), false);
}

}  // namespace

void install_fft_provider() noexcept { kernels::set_fft_provider(transform); }

}  // namespace wengert::python
