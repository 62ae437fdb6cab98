#include "kernels/on_host.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/reductions/reduce.h"
#include "tensor/wrappers.h"

namespace wengert::kernels {
namespace {

// The backend that copies between the two: that of the one which is not the CPU.
Backend& copier(Device to, Device from) { return backend_of(to.type == DeviceType::Cpu ? from : to); }

void check_has_values(const Tensor& t, const char* op) {
    check_has_memory(t, op);
    check(has_values(t), ErrorKind::NotImplemented, "[", op, "] Cannot copy out of ", t.device(), " tensor; no data!");
}

}  // namespace

bool has_values(const Tensor& t) {
    return !is_off_host(t) || !t.storage()->has_memory() || backend_of(t.device()).has_memory();
}

void check_has_memory(const Tensor& t, const char* op) {
    if (t.storage()->has_memory()) return;
    const void* object = t.impl()->pyobj;
    fail(ErrorKind::Runtime, "[", op, "] a ", object ? wrappers->type_name(t.impl()->pyobj) : "tensor without memory",
         " of shape ", ShapeOf{t.sizes()},
         " has no elements of its own to read or write: its __torch_dispatch__ keeps them. Apply the "
         "operation to the tensors inside of it");
}

Tensor on_device(const Tensor& t, Device device) {
    if (t.device() == device) return t;
    Tensor out = t.is_non_overlapping_and_dense() ? empty_strided(t.sizes(), t.strides(), t.dtype(), device)
                                                  : empty(t.sizes(), t.dtype(), device);
    copy_between_devices(out, t);
    return out;
}

void copy_between_devices(const Tensor& dst, const Tensor& src) {
    check_has_memory(dst, "copy_");
    if (dst.numel() == 0 || !has_values(dst)) return;
    check_has_values(src, "copy_");
    // Bytes cross in one layout and dtype, that of the target where it has no gaps; what is left is done on either side.
    if (dst.dtype() != src.dtype() || !(dst.sizes() == src.sizes())) {
        Tensor same = empty(dst.sizes(), dst.dtype(), src.device());
        copy_into(same, src);
        return copy_between_devices(dst, same);
    }
    if (!dst.is_non_overlapping_and_dense()) {
        Tensor there = empty(dst.sizes(), dst.dtype(), dst.device());
        copy_between_devices(there, src);
        return copy_into(dst, there);
    }
    if (!(dst.strides() == src.strides())) {
        Tensor laid_out = empty_strided(dst.sizes(), dst.strides(), dst.dtype(), src.device());
        copy_into(laid_out, src);
        return copy_between_devices(dst, laid_out);
    }
    copier(dst.device(), src.device())
        .copy(dst.device(), dst.data(), src.device(), src.data(), dst.numel() * item_size(dst.dtype()));
}

Tensor on_host(const Tensor& t, const char* op) {
    if (!is_off_host(t)) return t;
    check_has_values(t, op);
    return on_device(t, Device{});
}

bool is_any_true(const Tensor& mask) { return has_values(mask) && read_element<bool>(any(mask), "any"); }
bool are_all_true(const Tensor& mask) { return !has_values(mask) || read_element<bool>(all(mask), "all"); }

}  // namespace wengert::kernels
