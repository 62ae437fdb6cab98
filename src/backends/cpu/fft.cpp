#include "backends/cpu/fft.h"

#include <atomic>

namespace wengert::kernels {
namespace {

std::atomic<FftProvider> provider{nullptr};

const char* name_of(FftKind kind) {
    return kind == FftKind::ComplexToComplex ? "fft_c2c" : kind == FftKind::RealToComplex ? "fft_r2c" : "fft_c2r";
}

}  // namespace

void set_fft_provider(FftProvider p) noexcept { provider.store(p, std::memory_order_release); }

constinit DeviceKernel<void(Result, const Tensor&, const FftCall&)> fft_kernel{
    "fft", [](Result out, const Tensor& self, const FftCall& call) {
        const FftProvider run = provider.load(std::memory_order_acquire);
        check(run != nullptr, ErrorKind::Runtime, "[", name_of(call.kind),
              "] no FFT is registered; give one with wengert::kernels::set_fft_provider, or use the Python package, "
              "which brings SciPy's");
        run(out, self, call);
    }};

}  // namespace wengert::kernels
