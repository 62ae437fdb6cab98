// The decomposition of symmetric and Hermitian matrices, and where its format has what (backends/cpu/linalg/ldl.cpp says
// what it is).
#include "kernels/linalg/common.h"
#include "kernels/linalg/linalg.h"

namespace wengert::kernels {

using namespace linalg;

std::tuple<Tensor, Tensor, Tensor> linalg_ldl_factor_ex(const Tensor& self, bool hermitian, bool check_errors) {
    const char* op = "linalg.ldl_factor";
    check_square(self, op);
    const Tensor ld = row_major_copy(self), info = zero_info(self);
    const Tensor pivots = empty(joined(batch_sizes(self), {cols(self)}), DType::Int32, self.device());
    if (ld.numel() > 0) ldl_factor_kernel(ld, pivots, info, hermitian);
    if (check_errors)
        check_info(info, op, [](int32_t at) {
            const std::string i = std::to_string(at);
            return "D[" + i + "," + i +
                   "] is zero and using it in ldl_solve would result in a division by zero; linalg.ldl_factor_ex "
                   "returns such factors";
        });
    return {ld, pivots, info};
}

LdlLayout ldl_layout(const Tensor& ld, const Tensor& pivots) {
    const char* op = "linalg.ldl_solve";
    check_square(ld, op);
    check(pivots.dtype() == DType::Int32 && pivots.dim() == ld.dim() - 1 && pivots.size(-1) == cols(ld),
          ErrorKind::Runtime, op, ": pivots must be int32 [..., n] for LD [..., n, n], got ", pivots.dtype(), " ",
          ShapeOf{pivots.sizes()}, " and ", ShapeOf{ld.sizes()});
    const Device device = ld.device();
    LdlLayout out{empty(ld.sizes(), DType::Int64, device), empty(ld.sizes(), DType::Int64, device),
                  zeros(ld.sizes(), DType::Bool, device), empty(pivots.sizes(), DType::Int64, device),
                  empty(pivots.sizes(), DType::Int64, device)};
    if (ld.numel() > 0) ldl_layout_kernel(out.rows, out.packed, out.blocks, out.order, out.inverse, pivots);
    return out;
}

}  // namespace wengert::kernels
