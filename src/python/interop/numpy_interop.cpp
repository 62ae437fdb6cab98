#include "python/interop/numpy_interop.h"

#include <numpy/arrayobject.h>

#include <memory>

#include "base/atomic_ref.h"
#include "kernels/elementwise/elementwise.h"
#include "ops/recording.h"
#include "python/arguments/convert.h"
#include "python/exceptions.h"

namespace wengert::python {
namespace {

// ml_dtypes.bfloat16, which NumPy itself lacks: borrowed, null where nobody has imported the package.
PyObject* bfloat16_type() noexcept {
    PyObject* modules = PyImport_GetModuleDict();
    PyObject* module = modules ? PyDict_GetItemString(modules, "ml_dtypes") : nullptr;
    PyRef type(module ? PyObject_GetAttrString(module, "bfloat16") : nullptr);
    PyErr_Clear();
    return type.get();  // the module keeps it
}

int bfloat16_number() {
    PyRef module(PyImport_ImportModule("ml_dtypes"));
    if (!module) PyErr_Clear();
    PyObject* type = bfloat16_type();
    check(
        type, ErrorKind::Type,
        "Got unsupported ScalarType BFloat16: NumPy has it from the package ml_dtypes, which is not installed; convert "
        "with .float() first");
    PyRef descr(checked(reinterpret_cast<PyObject*>(PyArray_DescrFromTypeObject(type))));
    return reinterpret_cast<PyArray_Descr*>(descr.get())->type_num;
}

// By kind and size, since NumPy has several type numbers for one width.
std::optional<DType> from_descr(const PyArray_Descr* descr) noexcept {
    npy_intp size = PyDataType_ELSIZE(descr);
    switch (descr->kind) {
        case 'b':
            return DType::Bool;
        case 'u':
            if (size == 1) return DType::UInt8;
            if (size == 2) return DType::UInt16;
            if (size == 4) return DType::UInt32;
            if (size == 8) return DType::UInt64;
            break;
        case 'i':
            if (size == 1) return DType::Int8;
            if (size == 2) return DType::Int16;
            if (size == 4) return DType::Int32;
            if (size == 8) return DType::Int64;
            break;
        case 'f':
            if (size == 2) return DType::Float16;
            if (size == 4) return DType::Float32;
            if (size == 8) return DType::Float64;
            break;
        case 'c':
            if (size == 8) return DType::Complex64;
            if (size == 16) return DType::Complex128;
            break;
    }
    if (PyTypeNum_ISUSERDEF(descr->type_num) && reinterpret_cast<PyObject*>(descr->typeobj) == bfloat16_type())
        return DType::BFloat16;
    return std::nullopt;
}

int type_number(DType d) {
    switch (d) {
        case DType::Bool:
            return NPY_BOOL;
        case DType::UInt8:
            return NPY_UINT8;
        case DType::Int8:
            return NPY_INT8;
        case DType::Int16:
            return NPY_INT16;
        case DType::Int32:
            return NPY_INT32;
        case DType::Int64:
            return NPY_INT64;
        case DType::UInt16:
            return NPY_UINT16;
        case DType::UInt32:
            return NPY_UINT32;
        case DType::UInt64:
            return NPY_UINT64;
        case DType::Float16:
            return NPY_FLOAT16;
        case DType::BFloat16:
            return bfloat16_number();
        case DType::Float32:
            return NPY_FLOAT32;
        case DType::Float64:
            return NPY_FLOAT64;
        case DType::Complex64:
            return NPY_COMPLEX64;
        case DType::Complex128:
            return NPY_COMPLEX128;
    }
    return NPY_NOTYPE;
}

// An array whose memory a storage uses. While it has a weak reference, NumPy refuses to move its memory in
// `array.resize`, also where the caller asked it not to count references.
struct BorrowedArray : SlabAllocated {
    explicit BorrowedArray(PyObject* o) : array(PyRef::share(o)), pin(checked(PyWeakref_NewRef(o, nullptr))) {}
    PyRef array, pin;
};

void release_array(void* context) noexcept {
    if (!has_interpreter()) return;
    GilGuard gil;
    delete static_cast<BorrowedArray*>(context);
}

// An array that nobody else refers to and that owns its memory.
bool is_private_array(void* context) noexcept {
    PyObject* array = static_cast<BorrowedArray*>(context)->array.get();
    // The interpreter may be counting meanwhile.
#ifdef Py_GIL_DISABLED
    const bool alone = Py_REFCNT(array) == 1;  // atomic there
#else
    const bool alone = AtomicRef(array->ob_refcnt).load(std::memory_order_relaxed) == 1;
#endif
    return alone && PyArray_CHKFLAGS(reinterpret_cast<PyArrayObject*>(array), NPY_ARRAY_OWNDATA);
}

constexpr Storage::Foreign array_owner{release_array, is_private_array};

// What an array on a tensor's memory has as its base: keeps the tensor, and lends its memory.
struct ArrayLoan : SlabAllocated {
    ArrayLoan(Ref<Storage> storage, PyObject* o) : owner(PyRef::share(o)), loan(std::move(storage)) {}
    PyRef owner;
    Loan loan;
};

void release_loan(PyObject* capsule) { delete static_cast<ArrayLoan*>(PyCapsule_GetPointer(capsule, nullptr)); }

PyRef make_loan(Ref<Storage> storage, PyObject* owner) {
    auto loan = std::make_unique<ArrayLoan>(std::move(storage), owner);
    PyRef capsule(checked(PyCapsule_New(loan.get(), nullptr, release_loan)));
    (void)loan.release();
    return capsule;
}

DType array_dtype(PyArrayObject* a) {
    auto d = from_descr(PyArray_DESCR(a));
    if (!d || !PyArray_ISNOTSWAPPED(a)) {
        PyRef name(checked(PyObject_Str(reinterpret_cast<PyObject*>(PyArray_DESCR(a)))));
        fail(ErrorKind::Type, "can't convert np.ndarray of type ", PyUnicode_AsUTF8(name.get()),
             ". The only supported types are: float64, float32, complex64, complex128, int64, int32, int16, int8, "
             "uint8, "
             "and bool, in native byte order; convert with .astype first.");
    }
    return *d;
}

// Whether the layout is one that a tensor can have.
bool has_tensor_layout(PyArrayObject* a) noexcept {
    npy_intp item = PyArray_ITEMSIZE(a);
    for (int i = 0; i < PyArray_NDIM(a); ++i)
        if (PyArray_STRIDE(a, i) < 0 || PyArray_STRIDE(a, i) % item != 0) return false;
    return PyArray_ISALIGNED(a);
}

Tensor share_memory(PyObject* array, DType dtype) {
    auto* a = reinterpret_cast<PyArrayObject*>(array);
    int n = PyArray_NDIM(a);
    npy_intp item = PyArray_ITEMSIZE(a);
    Dims sizes(PyArray_DIMS(a), PyArray_DIMS(a) + n), strides;
    int64_t last = 0;
    for (int i = 0; i < n; ++i) {
        strides.push_back(PyArray_STRIDE(a, i) / item);
        last += (sizes[static_cast<size_t>(i)] - 1) * strides.back();
    }
    int64_t numel = numel_of(sizes);
    auto borrowed = std::make_unique<BorrowedArray>(array);
    Ref<Storage> storage =
        Storage::wrap(PyArray_DATA(a), numel == 0 ? 0 : (last + 1) * item, array_owner, borrowed.get());
    (void)borrowed.release();
    auto* t = new TensorImpl(std::move(storage), dtype);
    t->numel = numel;
    t->sizes = std::move(sizes);
    t->strides = std::move(strides);
    return Tensor(Ref<TensorImpl>::adopt(t));
}

}  // namespace

bool import_numpy() {
    if (_import_array() >= 0) return true;
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ImportError, "wengert needs NumPy 2 or newer");
    return false;
}

bool is_numpy_array(PyObject* o) noexcept { return PyArray_Check(o); }
bool is_numpy_scalar(PyObject* o) noexcept { return PyArray_IsScalar(o, Number) || PyArray_IsScalar(o, Bool); }
bool is_numpy_bool(PyObject* o) noexcept { return PyArray_IsScalar(o, Bool); }
bool is_numpy_complex(PyObject* o) noexcept { return PyArray_IsScalar(o, ComplexFloating); }

Scalar numpy_scalar_value(PyObject* o) {
    if (PyArray_IsScalar(o, Bool)) return Scalar(PyObject_IsTrue(o) == 1);
    if (PyArray_IsScalar(o, Integer)) {
        PyRef index(checked(PyNumber_Index(o)));
        return to_scalar(index.get());
    }
    if (PyArray_IsScalar(o, ComplexFloating)) {
        Py_complex c = PyComplex_AsCComplex(o);
        if (PyErr_Occurred()) throw PyException();
        return Scalar(std::complex<double>(c.real, c.imag));
    }
    double value = PyFloat_AsDouble(o);
    if (value == -1.0 && PyErr_Occurred()) throw PyException();
    return Scalar(value);
}

std::optional<DType> dtype_from_numpy(PyObject* o) {
    if (PyArray_DescrCheck(o)) return from_descr(reinterpret_cast<PyArray_Descr*>(o));
    if (PyType_Check(o) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(o), &PyGenericArrType_Type)) {
        PyRef descr(reinterpret_cast<PyObject*>(PyArray_DescrFromTypeObject(o)));
        if (descr) return from_descr(reinterpret_cast<PyArray_Descr*>(descr.get()));
        PyErr_Clear();
    }
    return std::nullopt;
}

PyObject* numpy_dtype(DType dtype) {
    return checked(reinterpret_cast<PyObject*>(PyArray_DescrFromType(type_number(dtype))));
}

Tensor tensor_from_array(PyObject* array, bool warn_if_read_only) {
    auto* a = reinterpret_cast<PyArrayObject*>(array);
    DType dtype = array_dtype(a);
    const bool copied = !has_tensor_layout(a);
    PyRef source = copied ? PyRef(checked(PyArray_NewCopy(a, NPY_CORDER))) : PyRef::share(array);
    if (!copied && warn_if_read_only && !PyArray_ISWRITEABLE(a))
        warn(
            WarningKind::User,
            "The given NumPy array is not writable, and Wengert does not support non-writable tensors. Writing to this "
            "tensor is undefined behaviour; copy the array first to protect its data.");
    Tensor out = share_memory(source.get(), dtype);
    mark_inference(out);
    return out;
}

namespace {

// Whoever has such an array keeps the memory.
void release_reader(PyObject* capsule) {
    Ref<Storage>::adopt(static_cast<Storage*>(PyCapsule_GetPointer(capsule, nullptr))).reset();
}

PyRef array_on(const Tensor& t, int flags) {
    SmallVector<npy_intp, 4> sizes(t.sizes().begin(), t.sizes().end()), strides;
    for (int64_t s : t.strides()) strides.push_back(s * item_size(t.dtype()));
    return PyRef(checked(PyArray_New(&PyArray_Type, static_cast<int>(t.dim()), sizes.data(), type_number(t.dtype()),
                                     strides.data(), t.data(), 0, flags, nullptr)));
}

void set_base(const PyRef& array, PyRef base) {
    checked(PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array.get()), base.release()));
}

}  // namespace

PyObject* array_from_tensor(const Tensor& t, PyObject* owner) {
    PyRef array = array_on(t, NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE);
    set_base(array, make_loan(t.storage(), owner));
    return array.release();
}

PyObject* read_only_array(const Tensor& t) {
    PyRef array = array_on(t, NPY_ARRAY_ALIGNED);
    Ref<Storage> storage = t.storage();
    PyRef base(checked(PyCapsule_New(storage.get(), nullptr, release_reader)));
    (void)storage.detach();
    set_base(array, std::move(base));
    return array.release();
}

Tensor tensor_from_array_like(PyObject* o) {
    PyRef array(checked(PyArray_FromAny(o, nullptr, 0, 0, 0, nullptr)));
    Tensor shared = tensor_from_array(array.get(), false);
    return kernels::clone(shared);
}

}  // namespace wengert::python
