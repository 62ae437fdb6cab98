// Convolution with few output positions (say a kernel as large as the image): a row of the image has no vector of them, so
// what each position sees is gathered into a row, and matrices are multiplied.
#pragma once

#include "backends/cpu/nn/convolution_image.h"

namespace wengert::kernels {

// columns [batch * positions, taps] of one group.
template <class T>
struct Gathered {
    const ConvGeometry& g;
    PaddedImage image = input_image(g);
    std::vector<int64_t> offsets = input_taps(g, image);
    std::vector<ConvSegment> seen = output_segments(g, image, 1);
    int64_t in = ConvGeometry::volume(g.input) * g.channels, positions = static_cast<int64_t>(seen.size());
    int64_t taps = g.taps(), rows = g.batch * positions;

    void columns(const T* input, int64_t group, T* padded, T* to) const {
        for (int64_t i = group; i < g.batch * g.groups; i += g.groups) {
            copy_padded(input + i * in, g.channels, g.input, g.padding, image, padded);
            for (const ConvSegment& s : seen)
                for (int64_t offset : offsets) *to++ = padded[s.input + offset];
        }
    }
    // The output's layout [batch, filters, positions] to and from a matrix [batch * positions, filters].
    template <class F>
    void for_each_output(int64_t group, F&& f) const {
        for (int64_t b = 0; b < g.batch; ++b)
            for (int64_t r = 0; r < g.filters; ++r)
                for (int64_t p = 0; p < positions; ++p)
                    f((b * positions + p) * g.filters + r, ((b * g.groups + group) * g.filters + r) * positions + p);
    }
    void forward(const T* input, const T* weight, const T* bias, T* output) const {
        Scratch<T> seen_by(rows * taps), products(rows * g.filters);
        ZeroedImages<T> padded(image.size(g.channels));
        for (int64_t group = 0; group < g.groups; ++group) {
            columns(input, group, padded.data(), seen_by);
            auto w = row_major(weight + group * g.filters * taps, g.filters, taps);
            gemm<T>(T(1), row_major<const T>(seen_by, rows, taps), w.transposed(), T(0),
                    row_major(products.data(), rows, g.filters));
            for_each_output(group, [&](int64_t at, int64_t to) {
                output[to] = products[at] + (bias ? bias[group * g.filters + at % g.filters] : T(0));
            });
        }
    }
    void input_cotangent(const T* cotangent, const T* weight, T* result) const {
        Scratch<T> given(rows * g.filters), columns(rows * taps), padded(image.size(g.channels));
        for (int64_t group = 0; group < g.groups; ++group) {
            for_each_output(group, [&](int64_t at, int64_t from) { given[at] = cotangent[from]; });
            gemm<T>(T(1), row_major<const T>(given, rows, g.filters),
                    row_major(weight + group * g.filters * taps, g.filters, taps), T(0),
                    row_major(columns.data(), rows, taps));
            for (int64_t b = 0; b < g.batch; ++b) {
                std::fill_n(padded.data(), g.channels * image.channel, T(0));
                const T* from = columns + b * positions * taps;
                for (const ConvSegment& s : seen)
                    for (int64_t offset : offsets) padded[s.input + offset] += *from++;
                take_interior(padded, result + (b * g.groups + group) * in);
            }
        }
    }
    void weight_cotangent(const T* cotangent, const T* input, T* result) const {
        Scratch<T> given(rows * g.filters), seen_by(rows * taps);
        ZeroedImages<T> padded(image.size(g.channels));
        for (int64_t group = 0; group < g.groups; ++group) {
            columns(input, group, padded.data(), seen_by);
            for_each_output(group, [&](int64_t at, int64_t from) { given[at] = cotangent[from]; });
            gemm<T>(T(1), row_major<const T>(given, rows, g.filters).transposed(),
                    row_major<const T>(seen_by, rows, taps), T(0),
                    row_major(result + group * g.filters * taps, g.filters, taps));
        }
    }

private:
    // The transpose of copy_padded.
    void take_interior(const T* padded, T* to) const {
        for (int64_t c = 0; c < g.channels; ++c)
            for (int64_t z = g.padding[0]; z < g.padding[0] + g.input[0]; ++z)
                for (int64_t y = g.padding[1]; y < g.padding[1] + g.input[1]; ++y)
                    for (int64_t x = g.padding[2]; x < g.padding[2] + g.input[2]; ++x)
                        *to++ = z < image.extent[0] && y < image.extent[1] && x < image.extent[2]
                                    ? padded[c * image.channel + image.at(z, y, x)]
                                    : T(0);
    }
};

}  // namespace wengert::kernels
