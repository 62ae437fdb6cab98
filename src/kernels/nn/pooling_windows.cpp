#include "kernels/nn/pooling_windows.h"

#include <algorithm>

#include "base/checked_math.h"

namespace wengert::kernels {
namespace {

// Windows of one dimension: each takes memory before the result does.
constexpr int64_t kMostWindows = int64_t{1} << 28;

void check_count(const char* op, int64_t n, int64_t windows) {
    check(windows <= kMostWindows, ErrorKind::Runtime, op, n, "d: an output of size ", windows, " is too large");
}

Dims per_dimension(const char* op, const char* name, IntSpan values, int64_t n) {
    if (values.size() == 1) return Dims(static_cast<size_t>(n), values[0]);
    check(static_cast<int64_t>(values.size()) == n, ErrorKind::Runtime, op, n, "d: ", name,
          " must either be a single int, or a tuple of ", n, " ints, got ", ShapeOf{values});
    return Dims(values);
}

Windows planes_of(const char* op, IntSpan sizes, int64_t n) {
    auto dims = static_cast<int64_t>(sizes.size());
    check(n >= 1 && n <= 3, ErrorKind::Runtime, op, ": expected one to three spatial dimensions, got ", n);
    check(dims == n + 1 || dims == n + 2, ErrorKind::Runtime, op, n, "d(): Expected ", n + 1, "D or ", n + 2,
          "D (batch mode) tensor with optional 0 dim batch size for input, but got:", ShapeOf{sizes});
    Windows w{{}, {1, 1, 1}, 1, Dims(sizes.begin(), sizes.end() - n)};
    for (int64_t d = dims - n - 1; d < dims; ++d)
        check(sizes[static_cast<size_t>(d)] > 0, ErrorKind::Runtime, op, n, "d(): Expected ", n + 1, "D or ", n + 2,
              "D (batch mode) tensor with optional 0 dim batch size for input, but got:", ShapeOf{sizes},
              " with dimension ", d, " being empty");
    for (int64_t d = 0; d < dims - n; ++d) w.planes *= sizes[static_cast<size_t>(d)];
    for (int64_t i = 0; i < n; ++i) w.input[static_cast<size_t>(3 - n + i)] = sizes[static_cast<size_t>(dims - n + i)];
    for (int64_t i = 0; i < 3 - n; ++i) w.dims[static_cast<size_t>(i)] = {{0, 1, 1, 1}};
    return w;
}

}  // namespace

Windows pooling_windows(const char* op, IntSpan input_sizes, int64_t n, IntSpan kernel_size, IntSpan stride,
                        IntSpan padding, IntSpan dilation, bool ceil_mode) {
    Dims kernel = per_dimension(op, "kernel_size", kernel_size, n);
    Dims steps = stride.empty() ? kernel : per_dimension(op, "stride", stride, n);
    Dims pads = per_dimension(op, "padding", padding, n), dilations = per_dimension(op, "dilation", dilation, n);
    Windows w = planes_of(op, input_sizes, n);
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
        int64_t k = kernel[i], s = steps[i], p = pads[i], d = dilations[i],
                size = w.input[3 - static_cast<size_t>(n) + i];
        check(s != 0, ErrorKind::Runtime, op, n, "d: stride should not be zero");
        check(k > 0 && s > 0 && d > 0, ErrorKind::Runtime, op, n,
              "d: kernel size, stride and dilation should be greater than zero, got ", ShapeOf{kernel}, ", ",
              ShapeOf{steps}, " and ", ShapeOf{dilations});
        int64_t reach = checked_add(checked_mul(d, k - 1, op), 1, op);
        check(p >= 0 && p <= reach / 2, ErrorKind::Runtime, op, n,
              "d: pad should be at most half of effective kernel size, but got pad=", p, ", kernel_size=", k,
              " and dilation=", d);
        int64_t room = checked_add(size, 2 * p, op) - reach;
        s = std::min(s, std::max(size + p, reach));  // the second window would start beyond the end in any case
        int64_t out =
            (room >= 0 ? (room + (ceil_mode ? s - 1 : 0)) / s : (room + (ceil_mode ? s - 1 : 0) < 0 ? -1 : 0)) + 1;
        if (ceil_mode && (out - 1) * s >= size + p)
            --out;  // the last window must start inside the input or its padding
        check(out > 0, ErrorKind::Runtime, op, n, "d: Given input size: ", ShapeOf{input_sizes},
              ". Calculated output size: ", out, " in spatial dimension ", i, ". Output size is too small");
        check_count(op, n, out);
        auto& windows = w.dims[3 - static_cast<size_t>(n) + i];
        windows.reserve(static_cast<size_t>(out));
        for (int64_t o = 0; o < out; ++o) {
            int64_t start = o * s - p, end = std::min(start + reach, size + p);
            int64_t first = start < 0 ? start + (-start + d - 1) / d * d : start;
            windows.push_back({first, std::min(end, size), d, end - start});
        }
        w.output_sizes.push_back(out);
    }
    return w;
}

Windows adaptive_windows(const char* op, IntSpan input_sizes, IntSpan output_size) {
    auto n = static_cast<int64_t>(output_size.size());
    Windows w = planes_of(op, input_sizes, n);
    for (size_t i = 0; i < output_size.size(); ++i) {
        int64_t size = w.input[3 - output_size.size() + i], out = output_size[i];
        check(out >= 0, ErrorKind::Runtime, op, n,
              "d: elements of output_size must be greater than or equal to 0, got ", out);
        check_count(op, n, out);
        for (int64_t o = 0; o < out; ++o) {
            int64_t first = o * size / out, last = ((o + 1) * size + out - 1) / out;
            w.dims[3 - output_size.size() + i].push_back({first, last, 1, last - first});
        }
        w.output_sizes.push_back(out);
    }
    return w;
}

}  // namespace wengert::kernels
