// The interface between convolution's planning (convolution.cpp) and its loops (isa/conv.cpp).
//
// All three products of a convolution read an image that was copied with its padding, so that no loop tests bounds. A tap
// (input channel and kernel position) is then an offset, the same for every output position; a segment is a run of up to
// one vector of output positions along a row, given by where it starts in the padded image and in the output. Nothing is
// unfolded into columns.
#pragma once

#include <cstdint>

namespace wengert::kernels {

struct ConvSegment {
    int64_t input, output;  // offsets in elements
    int32_t count;          // output positions; at most a vector's lanes, except for the weight's gradient
};

// output[r, s] = bias[r] + sum_k weight[r, k] * input[offsets[k] + s]
template <class T>
struct ConvArgs {
    int64_t rows, taps;
    const T* weights;        // panels of conv_panel rows, each [taps, panel rows]
    const T* bias;           // [rows], or null
    const int64_t* offsets;  // [taps]
    const T* input;
    const ConvSegment* segments;
    int64_t segment_count;
    T* output;
    int64_t output_row, output_step;  // between rows; between the positions of a segment
};

// gradient[r, k] += sum over positions s of cotangent[r, s] * input[offsets[k] + s], for one image.
template <class T>
struct ConvWeightArgs {
    int64_t rows, taps;
    const int64_t* offsets;
    const T* input;
    const T* cotangent;
    int64_t positions;            // of the cotangent: elements between its rows
    const ConvSegment* segments;  // whole rows of output positions
    int64_t segment_count;
    T* panel;     // scratch, [positions, weight_width]
    T* gradient;  // panels of weight_width rows, each [taps, weight_width]
};

template <class T>
struct ConvLoops {
    int lanes, panel_rows;  // of a vector; most rows in a panel of weights
    int weight_width;       // rows in a panel of the weight's gradient
    void (*forward)(const ConvArgs<T>&);
    void (*weight)(const ConvWeightArgs<T>&);
    void (*weight_few_rows)(const ConvWeightArgs<T>&);  // no panel; gradient is [rows, taps]
};

struct ConvTable {
    ConvLoops<float> f32;
    ConvLoops<double> f64;
};

// Rows are split evenly into as few panels as possible: panel p starts at row panel_start(p).
struct ConvPanels {
    int64_t rows, count;
    [[gnu::always_inline]] ConvPanels(int64_t rows, int64_t most) : rows(rows), count((rows + most - 1) / most) {}
    [[gnu::always_inline]] int64_t start(int64_t p) const { return rows * p / count; }
};

}  // namespace wengert::kernels
