// The three products of a convolution on the CPU (kernels/nn/convolution.h).
//
// Geometry is padded to three dimensions; the image is copied with its padding, columns sorted by their residue modulo the
// stride so that neighbouring output positions read neighbouring memory; then the register-tiled loops of conv_loops.h run
// over it. 1x1 kernels are matrix products. Few output positions are gathered (convolution_gathered.h). Complex numbers are
// taken by parts.
#include <algorithm>
#include <complex>
#include <utility>
#include <vector>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/nn/conv_loops.h"
#include "backends/cpu/nn/convolution_gathered.h"
#include "backends/cpu/nn/convolution_image.h"
#include "backends/cpu/products/gemm.h"
#include "base/threads/parallel_for.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/nn/convolution_kernels.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(ConvTable, conv_table)

namespace {

template <class T>
const ConvLoops<T>& loops() {
    if constexpr (std::is_same_v<T, float>)
        return conv_table().f32;
    else
        return conv_table().f64;
}

// weights [rows, taps] given by at(row, tap), as panels.
template <class T, class F>
void pack_panels(int64_t rows, int64_t taps, int most, T* out, F&& at) {
    ConvPanels panels(rows, most);
    for (int64_t p = 0; p < panels.count; ++p)
        for (int64_t k = 0; k < taps; ++k)
            for (int64_t r = panels.start(p); r < panels.start(p + 1); ++r) *out++ = at(r, k);
}

// --- The convolution

// Narrow outputs waste lanes at the end of each row. Where rows follow each other at the image's pitch, a whole plane can
// be computed as one row instead, with a few meaningless positions between; `out` then has rows of that pitch.
struct Layout {
    std::vector<ConvSegment> segments;
    bool flat = false;
    int64_t plane = 0;  // elements of an output plane
};
Layout output_layout(const ConvGeometry& g, const PaddedImage& image, int lanes) {
    Layout l{output_segments(g, image, lanes)};
    int64_t flat_width = (g.output[1] - 1) * image.pitch + g.output[2], per_plane = (flat_width + lanes - 1) / lanes;
    if (g.stride[1] != 1 || per_plane * g.output[0] >= static_cast<int64_t>(l.segments.size())) return l;
    l.flat = true;
    l.plane = per_plane * lanes;
    l.segments.clear();
    for (int64_t z = 0; z < g.output[0]; ++z)
        add_segments(l.segments, image.at(z * g.stride[0], 0, 0), z * l.plane, 1, l.plane, lanes);
    return l;
}

template <class T>
void copy_flat(const ConvGeometry& g, const PaddedImage& image, const Layout& layout, const T* flat, T* out) {
    for (int64_t r = 0; r < g.filters; ++r)
        for (int64_t z = 0; z < g.output[0]; ++z, flat += layout.plane)
            for (int64_t y = 0; y < g.output[1]; ++y, out += g.output[2])
                std::copy_n(flat + y * image.pitch, g.output[2], out);
}

template <class T>
void strided_forward(const ConvGeometry& g, const T* input, const T* weight, const T* bias, T* output) {
    const ConvLoops<T>& l = loops<T>();
    PaddedImage image = input_image(g);
    std::vector<int64_t> offsets = input_taps(g, image);
    Layout layout = output_layout(g, image, l.lanes);
    int64_t in = ConvGeometry::volume(g.input) * g.channels, out = ConvGeometry::volume(g.output) * g.filters;
    int64_t taps = g.taps();
    Scratch<T> panels(g.groups * g.filters * taps);
    for (int64_t group = 0; group < g.groups; ++group)
        pack_panels(g.filters, taps, l.panel_rows, panels + group * g.filters * taps,
                    [&](int64_t r, int64_t k) { return weight[(group * g.filters + r) * taps + k]; });
    parallel_for(g.batch * g.groups, 1, [&](int64_t begin, int64_t end) {
        Scratch<T> flat(layout.flat ? g.filters * g.output[0] * layout.plane : 0);
        ZeroedImages<T> padded(image.size(g.channels));
        for (int64_t i = begin; i < end; ++i) {
            int64_t group = i % g.groups;
            copy_padded(input + i * in, g.channels, g.input, g.padding, image, padded.data());
            l.forward({g.filters, taps, panels + group * g.filters * taps, bias ? bias + group * g.filters : nullptr,
                       offsets.data(), padded.data(), layout.segments.data(),
                       static_cast<int64_t>(layout.segments.size()), layout.flat ? flat.data() : output + i * out,
                       layout.flat ? g.output[0] * layout.plane : ConvGeometry::volume(g.output), 1});
            if (layout.flat) copy_flat(g, image, layout, flat.data(), output + i * out);
        }
    });
}

// --- The input's cotangent

// Input positions (counted with the padding) of one residue modulo the stride, in every dimension: they meet the taps k
// with k * dilation of the same residue, and position stride * q + residue meets them at output q - shift(k). So each
// phase is a convolution of stride 1 over the cotangent, whose results stand `stride` apart.
template <class T>
struct Phase {
    std::vector<int64_t> offsets;
    std::vector<T> panels;
    std::vector<ConvSegment> segments;
};

struct Reach {
    Space before, extent;  // of the padded cotangent
};
Reach cotangent_reach(const ConvGeometry& g) {
    Reach r{};
    for (size_t i = 0; i < 3; ++i) {
        r.before[i] = g.dilation[i] * (g.kernel[i] - 1) / g.stride[i];
        r.extent[i] = r.before[i] + (g.input[i] - 1 + g.padding[i]) / g.stride[i] + 1;
    }
    return r;
}

// Taps of a residue, as (kernel position, shift).
std::vector<std::pair<int64_t, int64_t>> phase_taps(const ConvGeometry& g, size_t dim, int64_t residue) {
    std::vector<std::pair<int64_t, int64_t>> taps;
    for (int64_t k = 0; k < g.kernel[dim]; ++k)
        if (k * g.dilation[dim] % g.stride[dim] == residue)
            taps.emplace_back(k, (k * g.dilation[dim] - residue) / g.stride[dim]);
    return taps;
}

// The q for which stride * q + residue - padding is an input position: [first, second).
std::pair<int64_t, int64_t> phase_range(const ConvGeometry& g, size_t dim, int64_t residue) {
    int64_t s = g.stride[dim], p = g.padding[dim];
    return {std::max<int64_t>(0, (p - residue + s - 1) / s), (g.input[dim] - 1 + p - residue + s) / s};
}

template <class T>
Phase<T> make_phase(const ConvGeometry& g, const PaddedImage& image, const Reach& reach, const Space& residue,
                    const T* weight) {
    Phase<T> phase;
    auto tz = phase_taps(g, 0, residue[0]), ty = phase_taps(g, 1, residue[1]), tx = phase_taps(g, 2, residue[2]);
    std::vector<int64_t> positions;  // in the kernel
    for (auto [kz, sz] : tz)
        for (auto [ky, sy] : ty)
            for (auto [kx, sx] : tx) positions.push_back((kz * g.kernel[1] + ky) * g.kernel[2] + kx);
    for (int64_t f = 0; f < g.filters; ++f)
        for (auto [kz, sz] : tz)
            for (auto [ky, sy] : ty)
                for (auto [kx, sx] : tx)
                    phase.offsets.push_back(f * image.channel +
                                            image.at(reach.before[0] - sz, reach.before[1] - sy, reach.before[2] - sx));
    auto taps = static_cast<int64_t>(phase.offsets.size()), per_filter = static_cast<int64_t>(positions.size());
    int64_t volume = ConvGeometry::volume(g.kernel);
    phase.panels.resize(static_cast<size_t>(g.groups * g.channels * taps));
    for (int64_t group = 0; group < g.groups; ++group)
        pack_panels(
            g.channels, taps, loops<T>().panel_rows, phase.panels.data() + group * g.channels * taps,
            [&](int64_t c, int64_t k) {
                int64_t filter = group * g.filters + k / per_filter;
                return weight[(filter * g.channels + c) * volume + positions[static_cast<size_t>(k % per_filter)]];
            });
    auto [z0, z1] = phase_range(g, 0, residue[0]);
    auto [y0, y1] = phase_range(g, 1, residue[1]);
    auto [x0, x1] = phase_range(g, 2, residue[2]);
    auto position = [&](size_t dim, int64_t q) { return g.stride[dim] * q + residue[dim] - g.padding[dim]; };
    for (int64_t z = z0; z < z1; ++z)
        for (int64_t y = y0; y < y1; ++y)
            add_segments(phase.segments, image.at(z, y, x0),
                         (position(0, z) * g.input[1] + position(1, y)) * g.input[2] + position(2, x0), g.stride[2],
                         x1 - x0, loops<T>().lanes);
    return phase;
}

template <class T>
void strided_input_cotangent(const ConvGeometry& g, const T* cotangent, const T* weight, T* result) {
    Reach reach = cotangent_reach(g);
    PaddedImage image(reach.extent, 1);
    std::vector<Phase<T>> phases;
    for (int64_t z = 0; z < g.stride[0]; ++z)
        for (int64_t y = 0; y < g.stride[1]; ++y)
            for (int64_t x = 0; x < g.stride[2]; ++x) phases.push_back(make_phase(g, image, reach, {z, y, x}, weight));
    int64_t in = ConvGeometry::volume(g.input) * g.channels, out = ConvGeometry::volume(g.output) * g.filters;
    parallel_for(g.batch * g.groups, 1, [&](int64_t begin, int64_t end) {
        ZeroedImages<T> padded(image.size(g.filters));
        for (int64_t i = begin; i < end; ++i) {
            int64_t group = i % g.groups;
            copy_padded(cotangent + i * out, g.filters, g.output, reach.before, image, padded.data());
            for (const Phase<T>& phase : phases) {
                auto taps = static_cast<int64_t>(phase.offsets.size());
                loops<T>().forward({g.channels, taps, phase.panels.data() + group * g.channels * taps, nullptr,
                                    phase.offsets.data(), padded.data(), phase.segments.data(),
                                    static_cast<int64_t>(phase.segments.size()), result + i * in,
                                    ConvGeometry::volume(g.input), g.stride[2]});
            }
        }
    });
}

// --- The weight's cotangent: a sum over the images of a batch. Some images each have a sum of their own, and these are
// added in order: how many does not depend on the number of threads.
constexpr int64_t kWeightSums = 8;
constexpr int64_t kWeightElements = 1 << 18;  // of all of them

template <class T>
void strided_weight_cotangent(const ConvGeometry& g, const T* cotangent, const T* input, T* result) {
    const ConvLoops<T>& l = loops<T>();
    PaddedImage image = input_image(g);
    std::vector<int64_t> offsets = input_taps(g, image);
    std::vector<ConvSegment> rows = output_segments(g, image, static_cast<int>(g.output[2]));
    int64_t positions = ConvGeometry::volume(g.output), taps = g.taps();
    int64_t in = ConvGeometry::volume(g.input) * g.channels, out = positions * g.filters;
    bool few = 2 * g.filters <= l.lanes;
    int64_t width = l.weight_width, padded_filters = (g.filters + l.lanes - 1) / l.lanes * l.lanes;
    const int64_t size = taps * padded_filters;
    const int64_t sums = std::clamp<int64_t>(kWeightElements / size, 1, std::min(kWeightSums, g.batch));
    Scratch<T> gradients(sums * size);
    T* const gradient = gradients.data();
    for (int64_t group = 0; group < g.groups; ++group) {
        std::fill_n(gradient, sums * size, T(0));
        parallel_for(sums, 1, [&](int64_t begin, int64_t end) {
            ZeroedImages<T> padded(image.size(g.channels));
            Scratch<T> panel(positions * width);
            for (int64_t s = begin; s < end; ++s)
                for (int64_t n = g.batch * s / sums; n < g.batch * (s + 1) / sums; ++n) {
                    const int64_t i = n * g.groups + group;
                    copy_padded(input + i * in, g.channels, g.input, g.padding, image, padded.data());
                    (few ? l.weight_few_rows
                         : l.weight)({g.filters, taps, offsets.data(), padded.data(), cotangent + i * out, positions,
                                      rows.data(), static_cast<int64_t>(rows.size()), panel, gradient + s * size});
                }
        });
        for (int64_t s = 1; s < sums; ++s)
            for (int64_t k = 0; k < size; ++k) gradient[k] += gradient[s * size + k];
        if (few) {
            std::copy_n(gradient, g.filters * taps, result + group * g.filters * taps);
            continue;
        }
        for (int64_t r = 0; r < g.filters; ++r) {
            int64_t first = r / width * width, in_panel = std::min(width, padded_filters - first);
            const T* from = gradient + first * taps + (r - first);
            for (int64_t k = 0; k < taps; ++k) result[(group * g.filters + r) * taps + k] = from[k * in_panel];
        }
    }
}

// Up to here gathering is worth asking about.
constexpr int64_t kFewPositions = 64;

// How many lanes the loops would compute for each output position that is wanted.
template <class T>
double waste(const ConvGeometry& g) {
    int64_t lanes = loops<T>().lanes;
    auto computed = static_cast<double>(output_layout(g, input_image(g), static_cast<int>(lanes)).segments.size()) *
                    static_cast<double>(lanes);
    return computed / static_cast<double>(ConvGeometry::volume(g.output));
}

// The same for the input's cotangent, whose phases meet zeros wherever the kernel reaches over the output's edge.
template <class T>
double cotangent_waste(const ConvGeometry& g) {
    double computed = 1;
    for (size_t i = 0; i < 3; ++i) {
        int64_t width = (g.input[i] + g.stride[i] - 1) / g.stride[i], lanes = i == 2 ? loops<T>().lanes : 1;
        computed *= static_cast<double>((width + lanes - 1) / lanes * lanes) / static_cast<double>(g.output[i]);
    }
    return computed;
}

// --- Kernels of one element: products of matrices [filters, channels] and [channels, positions]

template <class T>
struct Products {
    const ConvGeometry& g;
    int64_t positions = ConvGeometry::volume(g.input);

    template <class E>
    Matrix<E> weight(E* w, int64_t i) const {
        return row_major(w + i % g.groups * g.filters * g.channels, g.filters, g.channels);
    }
    template <class E>
    Matrix<E> input(E* x, int64_t i) const {
        return row_major(x + i * g.channels * positions, g.channels, positions);
    }
    template <class E>
    Matrix<E> output(E* y, int64_t i) const {
        return row_major(y + i * g.filters * positions, g.filters, positions);
    }

    void forward(const T* x, const T* w, const T* bias, T* y) const {
        for (int64_t i = 0; i < g.batch * g.groups; ++i) {
            Matrix<T> out = output(y, i);
            for (int64_t r = 0; bias && r < g.filters; ++r)
                std::fill_n(&out(r, 0), positions, bias[i % g.groups * g.filters + r]);
            gemm<T>(T(1), weight(w, i), input(x, i), bias ? T(1) : T(0), out);
        }
    }
    void input_cotangent(const T* y, const T* w, T* x) const {
        for (int64_t i = 0; i < g.batch * g.groups; ++i)
            gemm<T>(T(1), weight(w, i).transposed(), output(y, i), T(0), input(x, i));
    }
    void weight_cotangent(const T* y, const T* x, T* w) const {
        for (int64_t i = 0; i < g.batch * g.groups; ++i)
            gemm<T>(T(1), output(y, i), input(x, i).transposed(), i < g.groups ? T(0) : T(1), weight(w, i));
    }
};

template <class T>
void conv_forward(const ConvGeometry& g, const T* input, const T* weight, const T* bias, T* output) {
    if (g.is_matrix_product())
        Products<T>{g}.forward(input, weight, bias, output);
    else if (ConvGeometry::volume(g.output) <= kFewPositions && waste<T>(g) > 2)
        Gathered<T>{g}.forward(input, weight, bias, output);
    else
        strided_forward(g, input, weight, bias, output);
}

template <class T>
void conv_input_cotangent(const ConvGeometry& g, const T* cotangent, const T* weight, T* result) {
    if (g.is_matrix_product())
        Products<T>{g}.input_cotangent(cotangent, weight, result);
    else if (ConvGeometry::volume(g.output) <= kFewPositions && cotangent_waste<T>(g) > 4)
        Gathered<T>{g}.input_cotangent(cotangent, weight, result);
    else
        strided_input_cotangent(g, cotangent, weight, result);
}

template <class T>
void conv_weight_cotangent(const ConvGeometry& g, const T* cotangent, const T* input, T* result) {
    if (g.is_matrix_product())
        Products<T>{g}.weight_cotangent(cotangent, input, result);
    else if (ConvGeometry::volume(g.output) < 8)
        Gathered<T>{g}.weight_cotangent(cotangent, input, result);
    else
        strided_weight_cotangent(g, cotangent, input, result);
}

// --- On tensors. Complex numbers by parts: both arguments are linear.

// product(a, b, out) of real tensors.
template <class F>
void by_parts(const Tensor& a, const Tensor& b, const Tensor& out, F&& product) {
    auto part = [](const Tensor& t, int64_t which) {
        Dims strides = t.strides();
        for (int64_t& s : strides) s *= 2;
        return contiguous(alias_as(t, real_dtype(t.dtype()), t.sizes(), strides, 2 * t.offset() + which));
    };
    const Tensor a_re = part(a, 0), a_im = part(a, 1), b_re = part(b, 0), b_im = part(b, 1);
    auto of = [&](const Tensor& x, const Tensor& y) {
        Tensor made = empty(out.sizes(), real_dtype(out.dtype()));
        product(x, y, made);
        return made;
    };
    const Tensor rr = of(a_re, b_re), ii = of(a_im, b_im), ri = of(a_re, b_im), ir = of(a_im, b_re);
    dispatch_floating(rr.dtype(), "convolution", [&]<class R> {
        std::complex<R>* to = out.data_as<std::complex<R>>();
        for (int64_t i = 0; i < out.numel(); ++i)
            to[i] = {rr.data_as<R>()[i] - ii.data_as<R>()[i], ri.data_as<R>()[i] + ir.data_as<R>()[i]};
    });
}

void convolution(Result out, const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvGeometry& g) {
    if (is_complex(out->dtype())) {
        by_parts(input, weight, out,
                 [&](const Tensor& x, const Tensor& w, const Tensor& y) { convolution(y, x, w, Tensor(), g); });
        if (!bias.defined()) return;
        const int64_t positions = ConvGeometry::volume(g.output), filters = bias.numel();
        dispatch_inexact(out->dtype(), "convolution", [&]<class T> {
            for (int64_t i = 0; i < out->numel(); ++i)
                out->data_as<T>()[i] += bias.data_as<T>()[i / positions % filters];
        });
        return;
    }
    dispatch_floating(out->dtype(), "convolution", [&]<class T> {
        conv_forward<T>(g, input.data_as<T>(), weight.data_as<T>(), bias.defined() ? bias.data_as<T>() : nullptr,
                        out->data_as<T>());
    });
}

void convolution_input(Result out, const Tensor& cotangent, const Tensor& weight, const ConvGeometry& g) {
    if (is_complex(out->dtype()))
        return by_parts(cotangent, weight, out,
                        [&](const Tensor& y, const Tensor& w, const Tensor& x) { convolution_input(x, y, w, g); });
    dispatch_floating(out->dtype(), "convolution_input", [&]<class T> {
        conv_input_cotangent<T>(g, cotangent.data_as<T>(), weight.data_as<T>(), out->data_as<T>());
    });
}

void convolution_weight(Result out, const Tensor& cotangent, const Tensor& input, const ConvGeometry& g) {
    if (is_complex(out->dtype()))
        return by_parts(cotangent, input, out,
                        [&](const Tensor& y, const Tensor& x, const Tensor& w) { convolution_weight(w, y, x, g); });
    dispatch_floating(out->dtype(), "convolution_weight", [&]<class T> {
        conv_weight_cotangent<T>(g, cotangent.data_as<T>(), input.data_as<T>(), out->data_as<T>());
    });
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, const Tensor&, const ConvGeometry&)>
    convolution_kernel{"convolution", convolution};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, const ConvGeometry&)> convolution_input_kernel{
    "convolution_input", convolution_input};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, const ConvGeometry&)> convolution_weight_kernel{
    "convolution_weight", convolution_weight};

}  // namespace wengert::kernels
