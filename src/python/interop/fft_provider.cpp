// SciPy's Fourier transforms for the core. SciPy is imported by the first transform; the interpreter's lock is held around
// the call only, on whatever thread it happens. The array that goes in shares memory with the tensor and is read-only.
#include "python/interop/fft_provider.h"

#include "backends/cpu/fft.h"
#include "base/threads/parallel_for.h"
#include "kernels/elementwise/elementwise.h"
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

Tensor transformed(const Tensor& self, int64_t last, const kernels::FftCall& call) {
    using kernels::FftKind;
    const GilGuard gil;
    const PyRef module(checked(PyImport_ImportModule("wengert._spectra")));
    const PyRef array(read_only_array(self)), axes(tuple_of(call.dims));
    const int scale = static_cast<int>(call.scale);
    const int workers = self.numel() >= kFewest && may_use_threads() ? num_threads() : 1;
    PyRef result;
    switch (call.kind) {
        case FftKind::ComplexToComplex:
            result = PyRef(PyObject_CallMethod(module.get(), "complex_to_complex", "OOiii", array.get(), axes.get(),
                                               scale, call.forward, workers));
            break;
        case FftKind::RealToComplex:
            result = PyRef(PyObject_CallMethod(module.get(), "real_to_complex", "OOiii", array.get(), axes.get(), scale,
                                               call.onesided, workers));
            break;
        case FftKind::ComplexToReal:
            result = PyRef(PyObject_CallMethod(module.get(), "complex_to_real", "OOiLi", array.get(), axes.get(), scale,
                                               static_cast<long long>(last), workers));
            break;
    }
    return tensor_from_array(checked(result.get()), false);
}

void transform(const Tensor& out, const Tensor& self, const kernels::FftCall& call) {
    kernels::copy_into(out, transformed(self, out.size(call.dims.back()), call));
}

}  // namespace

void install_fft_provider() noexcept { kernels::set_fft_provider(transform); }

}  // namespace wengert::python
