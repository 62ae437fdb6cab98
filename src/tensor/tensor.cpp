#include "tensor/tensor.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "tensor/backend.h"
#include "tensor/memory/fill_elements.h"
#include "tensor/memory/free_lists.h"
#include "tensor/options.h"
#include "tensor/representable.h"
#include "tensor/wrappers.h"
#include "tensor/writes/region.h"
#include "tensor/writes/writable.h"

namespace wengert {

constinit const Wrappers* wrappers = nullptr;
constinit thread_local Device default_device;

namespace {

[[gnu::noinline]] void dispose_with_wrapper(TensorImpl* t) noexcept {
    if (wrappers->tensor_takes_over(t->pyobj)) return;
    wrappers->release_tensor(t->pyobj);
    t->owns_pyobj = false;
    TensorImpl::dispose(t);
}

// One that was refused its rest, perhaps because this thread had no lists yet.
[[gnu::noinline]] void free_tensor(TensorImpl* t) noexcept {
    if (TensorFreeLists::begin() && TensorFreeLists::give_back(t)) return;
    delete t;
}

}  // namespace

void TensorImpl::bury(TensorImpl* t) noexcept {
    if (!TensorFreeLists::give_back(t)) free_tensor(t);
}

void TensorImpl::dispose(TensorImpl* t) noexcept {
    if (t->owns_pyobj) [[unlikely]]
        return dispose_with_wrapper(t);
    if (TensorMeta* meta = std::exchange(t->meta, nullptr)) return meta->dispose(t);
    bury(t);
}

namespace {

int64_t existing_dim(int64_t d, int64_t rank, const char* name) {
    check(rank > 0, ErrorKind::Index, "Dimension specified as ", d, " but tensor has no dimensions");
    return wrap_dim(d, rank, name);
}

}  // namespace

int64_t Tensor::size(int64_t d) const { return sizes()[existing_dim(d, dim(), "size")]; }
int64_t Tensor::stride(int64_t d) const { return strides()[existing_dim(d, dim(), "stride")]; }

bool is_contiguous(IntSpan sizes, IntSpan strides) {
    int64_t expected = 1;
    for (size_t i = sizes.size(); i-- > 0;) {
        if (sizes[i] == 0) return true;
        if (sizes[i] != 1 && strides[i] != expected) return false;
        expected *= sizes[i];
    }
    return true;
}

bool Tensor::is_contiguous() const noexcept { return wengert::is_contiguous(sizes(), strides()); }

bool Tensor::is_non_overlapping_and_dense() const noexcept {
    if (is_contiguous()) return true;
    // Each dimension goes on where one ended: asked for again and again, since there is no memory here for an order.
    const auto dims = std::ranges::count_if(sizes(), [](int64_t s) { return s != 1; });
    int64_t expected = 1;
    for (int64_t found = 0; found < dims; ++found) {
        size_t d = 0;
        while (d < sizes().size() && (sizes()[d] == 1 || strides()[d] != expected)) ++d;
        if (d == sizes().size()) return false;
        expected *= sizes()[d];
    }
    return true;
}

int64_t numel_of(IntSpan sizes) {
    int64_t n = 1;
    for (int64_t s : sizes) {
        check(s >= 0, ErrorKind::Runtime, "Trying to create tensor with negative dimension ", s, ": ", ShapeOf{sizes});
        check(!__builtin_mul_overflow(n, s, &n), ErrorKind::Runtime, "numel overflows int64 for shape ",
              ShapeOf{sizes});
    }
    return n;
}

Dims contiguous_strides(IntSpan sizes) {
    Dims strides(sizes.size());
    int64_t step = 1;
    for (size_t i = sizes.size(); i-- > 0;) {
        strides[i] = step;
        step = saturated_mul(step, std::max<int64_t>(sizes[i], 1));
    }
    return strides;
}

namespace {

// Its geometry is left to the caller.
[[gnu::always_inline]] inline TensorImpl* with_memory(int64_t bytes, DType dtype, Device device) {
    if (device.type != DeviceType::Cpu) [[unlikely]]
        return new TensorImpl(Storage::allocate_on(device, bytes), dtype);
    if (TensorImpl* t = TensorFreeLists::take(bytes)) [[likely]] {
        t->set_dtype(dtype);
        return t;
    }
    return new TensorImpl(Storage::allocate(bytes), dtype);
}

// What is made in inference mode is an inference tensor.
inline void mark_made(const Tensor& t) noexcept {
    if (state.inference) [[unlikely]]
        t.impl()->flags |= kInference;
}

}  // namespace

Tensor empty(IntSpan sizes, DType dtype, Device device) {
    int64_t n = numel_of(sizes), bytes;
    check(!__builtin_mul_overflow(n, item_size(dtype), &bytes), ErrorKind::Runtime, "tensor of shape ", ShapeOf{sizes},
          " and dtype ", dtype, " is larger than memory can be");
    Tensor t(Ref<TensorImpl>::adopt(with_memory(bytes, dtype, device)));
    t.impl()->numel = n;
    t.impl()->sizes = Dims(sizes);
    t.impl()->strides = contiguous_strides(sizes);
    mark_made(t);
    return t;
}

Tensor empty_strided(IntSpan sizes, IntSpan strides, DType dtype, Device device) {
    int64_t n = numel_of(sizes), elements = n == 0 ? 0 : 1;
    for (size_t i = 0; i < sizes.size() && n > 0; ++i)
        elements = checked_add(elements, checked_mul(sizes[i] - 1, strides[i], "empty_strided"), "empty_strided");
    Tensor t(
        Ref<TensorImpl>::adopt(with_memory(checked_mul(elements, item_size(dtype), "empty_strided"), dtype, device)));
    t.impl()->numel = n;
    t.impl()->sizes = Dims(sizes);
    t.impl()->strides = Dims(strides);
    mark_made(t);
    return t;
}

Tensor without_memory(IntSpan sizes, IntSpan strides, int64_t offset, DType dtype, Device device) {
    const int64_t n = numel_of(sizes);
    int64_t end = checked_add(offset, n == 0 ? 0 : 1, "a tensor without memory");
    for (size_t i = 0; i < sizes.size() && n > 0; ++i)
        end = checked_add(end, checked_mul(sizes[i] - 1, strides[i], "a tensor without memory"),
                          "a tensor without memory");
    Tensor t(Ref<TensorImpl>::adopt(new TensorImpl(
        Storage::without_memory(device, checked_mul(end, item_size(dtype), "a tensor without memory")), dtype)));
    t.impl()->numel = n;
    t.impl()->offset = offset;
    t.impl()->sizes = Dims(sizes);
    t.impl()->strides = Dims(strides);
    mark_made(t);
    return t;
}

Tensor empty_like(const Tensor& t) { return empty_like(t, t.dtype()); }

Tensor empty_like(const Tensor& t, DType dtype) {
    if (!t.is_contiguous() && t.is_non_overlapping_and_dense())
        return empty_strided(t.sizes(), t.strides(), dtype, t.device());
    return empty(t.sizes(), dtype, t.device());
}

Tensor empty_same(const TensorImpl& dense, DType dtype) {
    const Device device = dense.storage->device();
    if (device.type == DeviceType::Cpu) [[likely]]
        if (TensorImpl* t = TensorFreeLists::take_like(dense, dtype)) [[likely]] {
            t->flags = TensorImpl::dtype_flag(dtype);
            return Tensor(Ref<TensorImpl>::adopt(t));
        }
    Tensor t(Ref<TensorImpl>::adopt(with_memory(dense.numel * item_size(dtype), dtype, device)));
    t.impl()->numel = dense.numel;
    t.impl()->sizes = dense.sizes;
    t.impl()->strides = dense.strides;
    return t;
}

namespace {

[[gnu::cold, gnu::noinline]] Tensor fill_on_device(Tensor t, const Scalar& value) {
    alignas(16) std::byte element[16];
    dispatch_stored(t.dtype(), [&]<class T> { *reinterpret_cast<T*>(element) = value.to<T>(); });
    backend_of(t.device()).fill(t, element);
    return t;
}

}  // namespace

Tensor zeros(IntSpan sizes, DType dtype, Device device) {
    Tensor t = empty(sizes, dtype, device);
    if (is_off_host(t)) return fill_on_device(std::move(t), 0);
    std::memset(t.data(), 0, static_cast<size_t>(t.numel() * item_size(dtype)));
    return t;
}

Tensor full(IntSpan sizes, Scalar value, DType dtype, Device device) {
    check_representable(value, dtype);
    Tensor t = empty(sizes, dtype, device);
    if (is_off_host(t)) return fill_on_device(std::move(t), value);
    dispatch_stored(dtype, [&]<class T> { fill_elements(t.data_as<T>(), t.numel(), value.to<T>()); });
    return t;
}

Tensor scalar_tensor(Scalar value, DType dtype, Device device) { return full({}, value, dtype, device); }

DType scalar_dtype(const Scalar& s) {
    switch (s.kind()) {
        case Category::Bool:
            return DType::Bool;
        case Category::Integral:
            return DType::Int64;
        case Category::Floating:
            return default_dtype();
        case Category::Complex:
            return complex_dtype(default_dtype());
    }
    return DType::Bool;
}

Tensor alias_as(const Tensor& t, DType dtype, IntSpan sizes, IntSpan strides, int64_t offset) {
    auto* a = new TensorImpl(t.storage(), dtype);
    a->numel = numel_of(sizes);
    a->offset = offset;
    for (int64_t size : sizes) a->sizes.push_back(size);  // in place: a temporary costs as much as all the rest
    for (int64_t stride : strides) a->strides.push_back(stride);
    if (t.impl()->own_version) a->own_version = t.impl()->own_version;
    a->flags |= t.flags() & kInference;
    return Tensor(Ref<TensorImpl>::adopt(a));
}

Tensor alias(const Tensor& t, IntSpan sizes, IntSpan strides, int64_t offset) {
    return alias_as(t, t.dtype(), sizes, strides, offset);
}

Tensor alias(const Tensor& t) { return alias(t, t.sizes(), t.strides(), t.offset()); }

int64_t wrap_dim(int64_t d, int64_t ndim, const char* op) {
    int64_t range = std::max<int64_t>(ndim, 1);
    check(d >= -range && d < range, ErrorKind::Index, "[", op, "] Dimension out of range (expected to be in range of [",
          -range, ", ", range - 1, "], but got ", d, ")");
    return d < 0 ? d + range : d;
}

Dims broadcast_shapes(IntSpan a, IntSpan b, const char* op) {
    size_t n = std::max(a.size(), b.size());
    Dims out(n);
    for (size_t i = 0; i < n; ++i) {  // from the last dimension
        int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
        int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
        check(x == y || x == 1 || y == 1, ErrorKind::Runtime, "[", op, "] The size of tensor a (", x,
              ") must match the size of tensor b (", y, ") at non-singleton dimension ", n - 1 - i, "; shapes ",
              ShapeOf{a}, " and ", ShapeOf{b}, " do not broadcast");
        out[n - 1 - i] = x == 1 ? y : x;
    }
    return out;
}

bool is_broadcastable_to(IntSpan from, IntSpan to) {
    if (from.size() > to.size()) return false;
    for (size_t i = 0; i < from.size(); ++i) {
        int64_t x = from[from.size() - 1 - i];
        if (x != 1 && x != to[to.size() - 1 - i]) return false;
    }
    return true;
}

Dims broadcast_strides(const Tensor& t, IntSpan sizes) {
    Dims out(sizes.size(), 0);
    size_t lead = sizes.size() - t.sizes().size();
    for (size_t i = 0; i < t.sizes().size(); ++i)
        out[lead + i] = t.sizes()[i] == 1 && sizes[lead + i] != 1 ? 0 : t.strides()[i];
    return out;
}

bool view_strides(IntSpan sizes, IntSpan strides, IntSpan shape, Dims* out) {
    *out = Dims(shape.size(), 0);
    if (numel_of(sizes) == 0) {
        *out = contiguous_strides(shape);
        return true;
    }
    // Walk both shapes from the end, one dense run of old dimensions at a time.
    int64_t view_d = static_cast<int64_t>(shape.size()) - 1;
    int64_t run_stride = sizes.empty() ? 1 : strides.back();
    int64_t run_numel = 1, view_numel = 1;
    for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
        run_numel *= sizes[d];
        bool run_ends = d == 0 || (sizes[d - 1] != 1 && strides[d - 1] != run_numel * run_stride);
        if (!run_ends) continue;
        while (view_d >= 0 && (view_numel < run_numel || shape[view_d] == 1)) {
            (*out)[view_d] = view_numel * run_stride;
            view_numel *= shape[view_d];
            --view_d;
        }
        if (view_numel != run_numel) return false;
        if (d > 0) {
            run_stride = strides[d - 1];
            run_numel = view_numel = 1;
        }
    }
    for (; view_d >= 0; --view_d) {
        if (shape[view_d] != 1) return false;
        (*out)[view_d] = run_stride;
    }
    return true;
}

Dims infer_shape(IntSpan shape, int64_t numel, const char* op) {
    Dims out(shape);
    int64_t known = 1;
    int64_t* unknown = nullptr;
    for (int64_t& s : out) {
        if (s == -1) {
            check(!unknown, ErrorKind::Runtime, "[", op, "] only one dimension can be inferred, got ", ShapeOf{shape});
            unknown = &s;
        } else {
            check(s >= 0, ErrorKind::Runtime, "[", op, "] invalid shape dimension ", s, " in ", ShapeOf{shape});
            known *= s;
        }
    }
    if (unknown) {
        check(known != 0, ErrorKind::Runtime, "[", op, "] cannot reshape tensor of ", numel, " elements into shape ",
              ShapeOf{shape}, " because the unspecified dimension size -1 can be any value and is ambiguous");
        *unknown = numel / known;
        known *= *unknown;
    }
    check(known == numel, ErrorKind::Runtime, "[", op, "] shape '", ShapeOf{shape}, "' is invalid for input of size ",
          numel);
    return out;
}

void check_writable(const Tensor& t) {
    check(!(t.flags() & kInference) || state.inference, ErrorKind::Runtime,
          "Inplace update to inference tensor outside InferenceMode is not allowed. "
          "You can make a clone to get a normal tensor before doing inplace update.");
}

void TensorImpl::shallow_copy_from(const TensorImpl& other) {
    set_dtype(other.dtype);
    numel = other.numel;
    offset = other.offset;
    sizes = other.sizes;
    strides = other.strides;
    set_storage(other.storage);
}

void note_swap(const Tensor& t) {
    check_writable(t);
    TensorImpl* impl = t.impl();
    ++impl->version();
    ++impl->swaps;
}

void bump_version(const Tensor& t, const char* operation) {
    check_writable(t);
    TensorImpl* impl = t.impl();
    ++impl->version();
    Storage& storage = *impl->storage;
    if (storage.is_watched()) [[unlikely]]
        storage.note_write(region_of(*impl), operation);
    else
        ++storage.writes;
}

std::ostream& operator<<(std::ostream& out, ShapeOf s) {
    out << '(';
    for (size_t i = 0; i < s.sizes.size(); ++i) out << (i ? ", " : "") << s.sizes[i];
    return out << (s.sizes.size() == 1 ? ",)" : ")");
}

}  // namespace wengert
