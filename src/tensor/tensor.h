// Tensor: a strided view of a Storage.
//
// `Tensor` is a handle (one pointer, possibly undefined); `TensorImpl` is the object. Handles that point to the same impl
// are the same tensor: identity, `.grad`, hooks and the Python wrapper belong to the impl. This layer knows nothing of
// graphs: it gives the graph layer one slot (`meta`) and the Python layer one slot (`pyobj`), and both clean up through
// what they put there: TensorMeta, and tensor/wrappers.h.
//
// Sizes are in elements, strides in elements too; kernels multiply by the item size. Nothing here records a graph: for
// that, see ops/.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <span>

#include "base/memory/slab.h"
#include "base/refcount.h"
#include "base/small_vector.h"
#include "base/state.h"
#include "tensor/device.h"
#include "tensor/dtype.h"
#include "tensor/scalar.h"
#include "tensor/storage.h"

namespace wengert {

using Dims = SmallVector<int64_t, 4>;
using IntSpan = std::span<const int64_t>;

class TensorImpl;

// What the graph layer hangs on a tensor (graph/autograd_meta.h).
struct TensorMeta {
    // Ends with its tensor, whose last reference is gone; calls TensorImpl::bury.
    virtual void dispose(TensorImpl* owner) noexcept = 0;

protected:
    ~TensorMeta() = default;
};

class TensorImpl final : public RefCounted, public SlabAllocated {
public:
    TensorImpl(Ref<Storage> memory, DType dtype)
        : dtype(dtype), flags(memory_flag(*memory) | dtype_flag(dtype)), storage(std::move(memory)) {}
    // Lets go of wrapper and meta, and buries the tensor.
    static void dispose(TensorImpl* t) noexcept;
    // Frees one without wrapper and meta, or gives it to a free list (tensor/memory/free_lists.h).
    static void bury(TensorImpl* t) noexcept;

    // The flag that follows from where memory lies.
    static uint32_t memory_flag(const Storage& s) noexcept { return s.is_on_host() ? 0 : uint32_t{kOffHost}; }
    // And the one that follows from the type of the elements.
    static constexpr uint32_t dtype_flag(DType d) noexcept { return is_reduced(d) ? uint32_t{kReduced} : 0; }
    void set_dtype(DType d) noexcept {
        flags = (flags & ~uint32_t{kReduced}) | dtype_flag(d);
        dtype = d;
    }
    void set_storage(Ref<Storage> memory) noexcept {
        flags = (flags & ~uint32_t{kOffHost}) | memory_flag(*memory);
        storage = std::move(memory);
    }
    // Stands for the elements that `other` stands for; whoever calls it counts the swap. A version counter stays.
    void shallow_copy_from(const TensorImpl& other);

    DType dtype;
    bool owns_pyobj = false;  // the wrapper died but had attributes: the impl keeps it (python/)
    bool gc_visible = false;  // its wrapper stands for it in a garbage collection (python/)
    uint32_t flags;           // TensorFlag
    uint32_t swaps = 0;       // how often its memory or geometry was exchanged (`set_`, `.data =`, `resize_`, `t_`)
    int64_t numel = 1;
    int64_t offset = 0;  // in elements
    Dims sizes;
    Dims strides;
    Ref<Storage> storage;
    Ref<VersionCounter> own_version;  // null: the storage's
    TensorMeta* meta = nullptr;       // owned
    void* pyobj = nullptr;

    std::byte* data() const noexcept {
#ifdef WENGERT_SANITIZE
        if (flags & kBatched) std::abort();  // its elements are those of all samples (graph/batched.h)
#endif
        return storage->data() + offset * item_size(dtype);
    }
    uint32_t& version() noexcept { return own_version ? own_version->value : storage->version; }
    int64_t dim() const noexcept { return static_cast<int64_t>(sizes.size()); }
};

class Tensor {
public:
    using PlainBytes = void;  // base/small_vector.h
    Tensor() noexcept = default;
    explicit Tensor(Ref<TensorImpl> impl) noexcept : impl_(std::move(impl)) {}

    bool defined() const noexcept { return static_cast<bool>(impl_); }
    TensorImpl* impl() const noexcept { return impl_.get(); }
    const Ref<TensorImpl>& ref() const noexcept { return impl_; }
    [[nodiscard]] TensorImpl* detach_ref() noexcept { return impl_.detach(); }
    void reset() noexcept { impl_.reset(); }
    bool is_same(const Tensor& o) const noexcept { return impl_ == o.impl_; }
    uint32_t use_count() const noexcept { return impl_ ? impl_->use_count() : 0; }

    DType dtype() const noexcept { return impl_->dtype; }
    Device device() const noexcept { return impl_->storage->device(); }
    int64_t dim() const noexcept { return impl_->dim(); }
    int64_t numel() const noexcept { return impl_->numel; }
    const Dims& sizes() const noexcept { return impl_->sizes; }
    const Dims& strides() const noexcept { return impl_->strides; }
    int64_t size(int64_t d) const;  // negative d counts from the end
    int64_t stride(int64_t d) const;
    int64_t offset() const noexcept { return impl_->offset; }
    std::byte* data() const noexcept { return impl_->data(); }
    template <class T>
    T* data_as() const noexcept {
        return reinterpret_cast<T*>(impl_->data());
    }
    const Ref<Storage>& storage() const noexcept { return impl_->storage; }

    uint32_t flags() const noexcept { return impl_->flags; }
    uint32_t version() const noexcept { return impl_->version(); }
    bool is_contiguous() const noexcept;
    bool is_non_overlapping_and_dense() const noexcept;

#ifdef WENGERT_TENSOR_METHODS  // operations as methods, for users of the library (wengert/wengert.h)
#include WENGERT_TENSOR_METHODS
#endif

private:
    Ref<TensorImpl> impl_;
};

// --- Making tensors; the elements of empty ones are undefined.
Tensor empty(IntSpan sizes, DType dtype, Device device = {});
Tensor empty_strided(IntSpan sizes, IntSpan strides, DType dtype, Device device = {});
Tensor empty_like(const Tensor& t);  // its shape and dtype; its strides too where t is dense, else contiguous
Tensor empty_like(const Tensor& t, DType dtype);
Tensor empty_same(const TensorImpl& dense, DType dtype);  // the same sizes and strides; nothing is checked
Tensor zeros(IntSpan sizes, DType dtype, Device device = {});
Tensor full(IntSpan sizes, Scalar value, DType dtype, Device device = {});
Tensor scalar_tensor(Scalar value, DType dtype, Device device = {});  // 0-dimensional
// Geometry alone: for tensors that get a mode of their own (ops/watch.h). To read its elements is an error.
Tensor without_memory(IntSpan sizes, IntSpan strides, int64_t offset, DType dtype, Device device = {});
DType scalar_dtype(const Scalar& s);  // bool, int64, the default dtype or its complex partner

// Another tensor on the same storage with the same version counter and no graph: the raw material of every view.
Tensor alias(const Tensor& t);
Tensor alias(const Tensor& t, IntSpan sizes, IntSpan strides, int64_t offset);
Tensor alias_as(const Tensor& t, DType dtype, IntSpan sizes, IntSpan strides, int64_t offset);

// --- Geometry
int64_t numel_of(IntSpan sizes);
Dims contiguous_strides(IntSpan sizes);
bool is_contiguous(IntSpan sizes, IntSpan strides);
int64_t wrap_dim(int64_t d, int64_t ndim, const char* op);  // checked; a 0-dim tensor accepts -1 and 0
Dims broadcast_shapes(IntSpan a, IntSpan b, const char* op);
bool is_broadcastable_to(IntSpan from, IntSpan to);
// Strides under which `t` looks like `sizes` (0 along broadcast dimensions).
Dims broadcast_strides(const Tensor& t, IntSpan sizes);
// Strides with which a tensor of (sizes, strides) can be seen as `shape` without a copy; false if it cannot.
bool view_strides(IntSpan sizes, IntSpan strides, IntSpan shape, Dims* out);
Dims infer_shape(IntSpan shape, int64_t numel, const char* op);  // resolves one -1

// Marks an in-place write to the elements of `t`: version counter, write count of the storage, and its log where somebody
// watches. `operation` is the name of the writer, in static memory.
void bump_version(const Tensor& t, const char* operation = "an operation");
// Marks that `t` stands for other memory, or other elements of it, than before; nothing was written.
void note_swap(const Tensor& t);

// Whether nobody but so many owners of handles can see `t` or its memory.
inline bool is_unseen(const Tensor& t, uint32_t owners = 1) noexcept {
    const TensorImpl& impl = *t.impl();
    return impl.use_count() == owners && impl.storage->use_count() == 1 && !impl.pyobj && !impl.storage->is_shared();
}

inline bool same_shape(const Tensor& a, const Tensor& b) { return a.sizes() == b.sizes(); }

// Prints a shape as (3, 4).
struct ShapeOf {
    IntSpan sizes;
};
std::ostream& operator<<(std::ostream& out, ShapeOf s);

}  // namespace wengert
