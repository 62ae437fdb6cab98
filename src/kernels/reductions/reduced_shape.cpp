#include "kernels/reductions/reduced_shape.h"

#include <algorithm>

namespace wengert::kernels {

Dims reduced_dims(const OptionalDims& dim, int64_t ndim, const char* op) {
    Dims dims;
    if (!dim || dim->empty()) {
        for (int64_t d = 0; d < ndim; ++d) dims.push_back(d);
        return dims;
    }
    for (int64_t d : *dim) dims.push_back(wrap_dim(d, ndim, op));
    std::sort(dims.begin(), dims.end());
    for (size_t i = 1; i < dims.size(); ++i)
        check(dims[i] != dims[i - 1], ErrorKind::Runtime, "[", op, "] dim ", dims[i],
              " appears multiple times in the list of dims");
    if (ndim == 0) dims.clear();
    return dims;
}

Dims reduced_sizes(IntSpan sizes, IntSpan dims, bool keepdim) {
    Dims out;
    size_t next = 0;
    for (size_t d = 0; d < sizes.size(); ++d) {
        if (next < dims.size() && dims[next] == static_cast<int64_t>(d)) {
            ++next;
            if (keepdim) out.push_back(1);
        } else {
            out.push_back(sizes[d]);
        }
    }
    return out;
}

int64_t reduced_count(IntSpan sizes, IntSpan dims) noexcept {
    int64_t count = 1;
    for (int64_t d : dims) count *= sizes[static_cast<size_t>(d)];
    return count;
}

}  // namespace wengert::kernels
