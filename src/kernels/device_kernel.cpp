#include "kernels/device_kernel.h"

#include "kernels/elementwise/elementwise.h"

namespace wengert::kernels {

bool CallArguments::add_device(const Tensor& t) {
    if (!t.defined()) return false;
    check(!found_ || t.device() == device_, ErrorKind::Runtime, "[", call_.kernel,
          "] Expected all tensors to be on the same device, but found at least two devices, ", device_, " and ",
          t.device(), "! Move one of them with .to(device)");
    device_ = t.device();
    return found_ = true;
}

void CallArguments::add(const Kernel& kernel) { call_.kernel = kernel.name; }

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
