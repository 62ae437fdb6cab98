#include "backends/cpu/linalg/lapack.h"

#include <limits>
#include <string>

#include "kernels/linalg/error.h"
#include "kernels/linalg/linalg_kernels.h"

namespace wengert::kernels {
namespace linalg {

void conjugate_(const Tensor& t) {
    auto run = [&]<class T>(std::type_identity<T>) {
        T* data = t.data_as<T>();
        for (int64_t i = 0; i < t.numel(); ++i) data[i] = std::conj(data[i]);
    };
    if (t.dtype() == DType::Complex64) run(std::type_identity<complex64>{});
    if (t.dtype() == DType::Complex128) run(std::type_identity<complex128>{});
}

void fill_matrix_with_nan(const Tensor& t, int64_t index) {
    dispatch_inexact(t.dtype(), "linalg", [&]<class T> {
        const int64_t area = rows(t) * cols(t);
        T* at = t.data_as<T>() + index * area;
        std::fill(at, at + area, T(std::numeric_limits<real_of<T>>::quiet_NaN()));
    });
}

}  // namespace linalg

constinit DeviceKernel<void(const Tensor&, const char*, InfoMessage)> check_info_kernel{
    "check_info",
    [](const Tensor& info, const char* op, InfoMessage message) {
        const int32_t* infos = info.data_as<int32_t>();
        for (int64_t i = 0; i < info.numel(); ++i)
            if (infos[i] != 0)
                check_linalg(false, op, ": ", linalg::batch_element(info.dim() > 0, i), message(infos[i]));
    },
    HostWaits::ForErrors};

}  // namespace wengert::kernels
