#include "kernels/device_kernel.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/on_host.h"

namespace wengert::kernels {

namespace {

void check_same(Device first, Device other, const char* op) {
    check(first == other, ErrorKind::Runtime, "[", op,
          "] Expected all tensors to be on the same device, but found at least two devices, ", first, " and ", other,
          "! Move one of them with .to(device)");
}

}  // namespace

void check_one_device(TensorSpan tensors, const char* op) {
    for (const Tensor& t : tensors) check_same(tensors[0].device(), t.device(), op);
}

Tensor InOpmath::computed(const Tensor& t, bool is_result) {
    if (!is_reduced(t.dtype())) return t;
    for (Pair& pair : pairs_) {
        if (!pair.stored.is_same(t)) continue;
        pair.is_result |= is_result;
        return pair.computed;
    }
    pairs_.push_back({t, to_dtype(t, opmath_dtype(t.dtype())), is_result});
    return pairs_.back().computed;
}

void InOpmath::round_results() {
    for (const Pair& pair : pairs_)
        if (pair.is_result) copy_disjoint(pair.stored, pair.computed);
}

void CallArguments::add(TensorImpl* t, bool is_result) {
    const Device device = t->storage->device();
    if (found_) check_same(device_, device, call_.kernel);
    device_ = device;
    found_ = true;
    Tensor named(Ref<TensorImpl>::share(t));
    check_has_memory(named, call_.kernel);
    if (is_result)
        call_.results.push_back(std::move(named));
    else
        call_.operands.push_back(std::move(named));
}

void CallArguments::rename(const Kernel& kernel) { call_.kernel = kernel.name; }

void CallArguments::run(decltype(Call::on_cpu) on_cpu, bool host_waits, bool needs_values) {
    Backend& backend = backend_of(device_);
    check(!needs_values || backend.has_memory(), ErrorKind::NotImplemented, "[", call_.kernel,
          "] the result depends on the values of elements, which tensors of device ", device_,
          " do not have; compute it on another device");
    call_.on_cpu = std::move(on_cpu);
    backend.run(device_, std::move(call_));
    if (host_waits) backend.synchronize_stream(backend.current_stream(device_));
}

}  // namespace wengert::kernels
