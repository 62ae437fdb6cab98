// The padded copy of an image that convolution's loops read, and where taps and output positions lie in it.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/elementwise/every_second.h"
#include "backends/cpu/nn/conv_loops.h"
#include "backends/cpu/products/gemm.h"
#include "kernels/nn/convolution_geometry.h"

namespace wengert::kernels {

// An image of `extent` positions per channel, stored so that a step of `stride` along the width is a step of 1: the columns
// with residue r modulo the stride stand together, `run` of them in a row of `pitch`.
struct PaddedImage {
    Space extent;
    int64_t stride, run, pitch, channel;  // channel: elements of one

    PaddedImage(const Space& extent, int64_t stride)
        : extent(extent),
          stride(stride),
          run((extent[2] + stride - 1) / stride),
          pitch(run * stride),
          channel(extent[0] * extent[1] * pitch) {}
    int64_t column(int64_t x) const { return x % stride * run + x / stride; }
    int64_t at(int64_t z, int64_t y, int64_t x) const { return (z * extent[1] + y) * pitch + column(x); }
    // Elements of an image; whole vectors may be read beyond its end.
    int64_t size(int64_t channels) const { return channels * channel + 64; }
};

// Copies channels of a contiguous image into the interior of a padded one; what falls outside is dropped. The padding
// itself was zeroed when the buffer was made and is never written.
template <class T>
void copy_padded(const T* from, int64_t channels, const Space& size, const Space& before, const PaddedImage& image,
                 T* to) {
    int64_t depth = std::min(size[0], image.extent[0] - before[0]),
            height = std::min(size[1], image.extent[1] - before[1]),
            width = std::min(size[2], image.extent[2] - before[2]);
    for (int64_t c = 0; c < channels; ++c, to += image.channel)
        for (int64_t z = 0; z < depth; ++z)
            for (int64_t y = 0; y < height; ++y) {
                const T* row = from + ((c * size[0] + z) * size[1] + y) * size[2];
                T* out = to + image.at(z + before[0], y + before[1], 0);
                if (image.stride == 1) {
                    std::memcpy(out + before[2], row, static_cast<size_t>(std::max<int64_t>(width, 0)) * sizeof(T));
                    continue;
                }
                for (int64_t first = 0; first < std::min(image.stride, width); ++first) {
                    T* at = out + image.column(first + before[2]);
                    if (image.stride == 2) {
                        take_every_second(row + first, (width - first + 1) / 2, at);
                        continue;
                    }
                    for (int64_t x = first; x < width; x += image.stride) *at++ = row[x];
                }
            }
}

template <class T>
class ZeroedImages {
public:
    explicit ZeroedImages(int64_t elements) : data_(elements) { std::fill_n(data_.data(), elements, T(0)); }
    T* data() const { return data_.data(); }

private:
    Scratch<T> data_;
};

// Along a row of `width` positions that starts at (input, output).
inline void add_segments(std::vector<ConvSegment>& to, int64_t input, int64_t output, int64_t output_step,
                         int64_t width, int lanes) {
    for (int64_t x = 0; x < width; x += lanes)
        to.push_back({input + x, output + x * output_step, static_cast<int32_t>(std::min<int64_t>(lanes, width - x))});
}

// How an input image is stored for reading by output positions.
inline PaddedImage input_image(const ConvGeometry& g) {
    Space extent;
    for (size_t i = 0; i < 3; ++i) extent[i] = (g.output[i] - 1) * g.stride[i] + (g.kernel[i] - 1) * g.dilation[i] + 1;
    return PaddedImage(extent, g.stride[2]);
}

inline std::vector<int64_t> input_taps(const ConvGeometry& g, const PaddedImage& image) {
    std::vector<int64_t> offsets;
    for (int64_t c = 0; c < g.channels; ++c)
        for (int64_t z = 0; z < g.kernel[0]; ++z)
            for (int64_t y = 0; y < g.kernel[1]; ++y)
                for (int64_t x = 0; x < g.kernel[2]; ++x)
                    offsets.push_back(c * image.channel +
                                      image.at(z * g.dilation[0], y * g.dilation[1], x * g.dilation[2]));
    return offsets;
}

inline std::vector<ConvSegment> output_segments(const ConvGeometry& g, const PaddedImage& image, int lanes) {
    std::vector<ConvSegment> segments;
    for (int64_t z = 0; z < g.output[0]; ++z)
        for (int64_t y = 0; y < g.output[1]; ++y)
            add_segments(segments, image.at(z * g.stride[0], y * g.stride[1], 0), (z * g.output[1] + y) * g.output[2],
                         1, g.output[2], lanes);
    return segments;
}

}  // namespace wengert::kernels
