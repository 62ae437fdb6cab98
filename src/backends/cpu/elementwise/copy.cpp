// Copies between tensors: conversion, broadcasting, layout.
#include <cstring>
#include <type_traits>

#include "backends/cpu/choose_isa.h"
#include "backends/cpu/elementwise/casting.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "backends/cpu/products/transpose_table.h"
#include "kernels/elementwise/on_device.h"
#include "kernels/elementwise/strided_iteration.h"

namespace wengert::kernels {

WENGERT_TABLE_PER_ISA(TransposeTable, transpose_table)

namespace {

constexpr int64_t kTile = 32;  // elements; a tile of the widest type and its image fit the first-level cache

template <class Word>
void copy_tile(char* to, const char* from, int64_t rows, int64_t columns, const int64_t* row_steps,
               const int64_t* column_steps) {
    constexpr int64_t size = sizeof(Word);
    if constexpr (std::is_floating_point_v<Word>)
        if (std::abs(row_steps[0]) == size && column_steps[1] == size) {
            int64_t to_step = row_steps[1];
            if (row_steps[0] < 0) {  // from the last row on
                from += (rows - 1) * row_steps[0];
                to += (rows - 1) * to_step;
                to_step = -to_step;
            }
            return transpose_table().of<Word>()(columns, rows, reinterpret_cast<const Word*>(from),
                                                column_steps[0] / size, reinterpret_cast<Word*>(to), to_step / size);
        }
    for (int64_t r = 0; r < rows; ++r, from += row_steps[0], to += row_steps[1])
        for (int64_t c = 0; c < columns; ++c)
            std::memcpy(to + c * column_steps[1], from + c * column_steps[0], sizeof(Word));
}

// The two innermost dimensions of a transposition, tile by tile: else every element read brings in a cache line that is
// gone before its neighbour is wanted.
template <class Word>
void copy_plane(char* from, char* to, int64_t rows, int64_t columns, const int64_t* row_steps,
                const int64_t* column_steps) {
    for (int64_t r = 0; r < rows; r += kTile)
        for (int64_t c = 0; c < columns; c += kTile)
            copy_tile<Word>(to + r * row_steps[1] + c * column_steps[1], from + r * row_steps[0] + c * column_steps[0],
                            std::min(kTile, rows - r), std::min(kTile, columns - c), row_steps, column_steps);
}

void copy_plane(int64_t item, char* from, char* to, int64_t rows, int64_t columns, const int64_t* row_steps,
                const int64_t* column_steps) {
    switch (item) {
        case 1:
            return copy_plane<uint8_t>(from, to, rows, columns, row_steps, column_steps);
        case 2:
            return copy_plane<uint16_t>(from, to, rows, columns, row_steps, column_steps);
        case 4:
            return copy_plane<float>(from, to, rows, columns, row_steps, column_steps);
        case 8:
            return copy_plane<double>(from, to, rows, columns, row_steps, column_steps);
        default:
            return copy_plane<complex128>(from, to, rows, columns, row_steps, column_steps);
    }
}

// Whether the source runs along the second dimension while the destination runs along the first.
bool is_transposition(const StridedIteration& it, int64_t item) {
    if (it.dims() < 2 || it.size(0) < 4 || it.size(1) < 4) return false;
    int64_t source_inner = std::abs(it.steps(0)[0]), source_outer = std::abs(it.steps(1)[0]);
    return source_outer != 0 && source_outer < source_inner && source_inner > 2 * item;
}

// The dimension that makes better rows than the innermost, which is so short that a row costs more to begin than to copy;
// 0 if there is none.
int longer_than_innermost(const StridedIteration& it) {
    if (it.dims() < 2 || it.size(0) > 8 || it.empty()) return 0;
    int longest = 0;
    for (int d = 1; d < it.dims(); ++d)
        if (it.size(d) > it.size(longest)) longest = d;
    return it.size(longest) >= 32 ? longest : 0;
}

// Along another dimension, in pieces whose cache lines are still there when the next short dimension comes to them.
void copy_across(StridedIteration& it, int dimension, Loop cast) {
    int64_t within = 1;
    for (int d = 0; d < dimension; ++d) within *= it.size(d);
    it.exchange(0, dimension);
    const int64_t piece = std::max<int64_t>(32, 1024 / within), pieces = (it.size(0) + piece - 1) / piece;
    parallel_for(pieces, units_of(piece * within), [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p)
            it.part(0, p * piece, std::min(it.size(0), (p + 1) * piece)).for_each_row(cast);
    });
}

// Rows of so few bytes are copied by loads and stores of constant sizes, of which the last begins where it fits.
constexpr int64_t kShortRow = 64;

template <int kBytes>
void copy_short_rows(const char* from, char* to, int64_t bytes, int64_t rows, const int64_t* row_steps) {
    struct Part {
        char bytes[kBytes];
    };
    const auto part = [](const char* p) {
        Part x;
        std::memcpy(&x, p, kBytes);
        return x;
    };
    for (int64_t r = 0; r < rows; ++r, from += row_steps[0], to += row_steps[1]) {
        for (int64_t at = 0; at < bytes - kBytes; at += kBytes) {
            const Part x = part(from + at);
            std::memcpy(to + at, &x, kBytes);
        }
        const Part last = part(from + bytes - kBytes);
        std::memcpy(to + bytes - kBytes, &last, kBytes);
    }
}

void copy_short_rows(const char* from, char* to, int64_t bytes, int64_t rows, const int64_t* row_steps) {
    bytes >= 16  ? copy_short_rows<16>(from, to, bytes, rows, row_steps)
    : bytes >= 8 ? copy_short_rows<8>(from, to, bytes, rows, row_steps)
    : bytes >= 4 ? copy_short_rows<4>(from, to, bytes, rows, row_steps)
                 : copy_short_rows<1>(from, to, bytes, rows, row_steps);
}

bool has_short_rows(const StridedIteration& it, int64_t item) {
    return it.dims() > 1 && it.steps(0)[0] == item && it.steps(0)[1] == item && it.size(0) * item <= kShortRow;
}

// A dtype of so many bytes, as which elements that are only moved may be seen: `dtype` where it has them itself.
DType of_size(DType dtype, int64_t bytes) {
    if (bytes == item_size(dtype)) return dtype;
    return bytes == 2 ? DType::Int16 : bytes == 4 ? DType::Float32 : bytes == 8 ? DType::Float64 : DType::Complex128;
}

// Arrays 0 (source) and 1 (destination).
void copy_elements(StridedIteration& it, DType from, DType to) {
    it.order(1);
    it.coalesce();
    if (from == to) {
        it.join_innermost(sizeof(complex128));
        from = to = of_size(from, it.item_size(1));
    }
    const int64_t item = item_size(to);
    if (from == to && is_transposition(it, item)) {
        in_parts(it, kTile, [&](const StridedIteration& part) {
            part.for_each_plane([&](char** pointers, int64_t columns, const int64_t* column_steps, int64_t rows,
                                    const int64_t* row_steps) {
                copy_plane(item, pointers[0], pointers[1], rows, columns, row_steps, column_steps);
            });
        });
        return;
    }
    if (from == to && has_short_rows(it, item)) {
        int longest = 1;
        for (int d = 2; d < it.dims(); ++d)
            if (it.size(d) > it.size(longest)) longest = d;
        it.exchange(1, longest);
        in_parts(it, kVectors, [item](const StridedIteration& part) {
            part.for_each_plane(
                [item](char** pointers, int64_t columns, const int64_t*, int64_t rows, const int64_t* row_steps) {
                    copy_short_rows(pointers[0], pointers[1], columns * item, rows, row_steps);
                });
        });
        return;
    }
    const Loop cast = cast_loop(from, to);
    if (const int dimension = longer_than_innermost(it)) return copy_across(it, dimension, cast);
    // No tiles: to gather an operand into a buffer costs what the copy itself does.
    in_parts(it, kVectors, [cast](const StridedIteration& part) { part.for_each_row(cast); });
}

// Of memory without gaps.
void copy_bytes(const Tensor& dst, const Tensor& src) {
    std::byte* to = dst.data();
    const std::byte* from = src.data();
    const int64_t bytes = dst.numel() * item_size(dst.dtype());
    if (bytes < 2 * kParallelBytes) {
        std::memcpy(to, from, static_cast<size_t>(bytes));
        return;
    }
    parallel_for(bytes, kParallelBytes, [=](int64_t begin, int64_t end) {
        std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
    });
}

// They do not overlap.
void copy(const Tensor& dst, const Tensor& src) {
    if (dst.dtype() == src.dtype() && same_shape(dst, src) && dst.strides() == src.strides() &&
        dst.is_non_overlapping_and_dense()) {
        copy_bytes(dst, src);
        return;
    }
    StridedIteration it(dst.sizes());
    it.add(src.data(), src.sizes(), src.strides(), item_size(src.dtype()));
    it.add(dst.data(), dst.sizes(), dst.strides(), item_size(dst.dtype()));
    copy_elements(it, src.dtype(), dst.dtype());
}

void fill(const Tensor& dst, const Scalar& value) {
    alignas(16) std::byte element[16];
    store_scalar(element, dst.dtype(), value);
    if (dst.numel() == 1) {
        std::memcpy(dst.data(), element, static_cast<size_t>(item_size(dst.dtype())));
        return;
    }
    StridedIteration it(dst.sizes());
    it.add(element, {}, {}, 0);
    it.add(dst.data(), dst.sizes(), dst.strides(), item_size(dst.dtype()));
    copy_elements(it, dst.dtype(), dst.dtype());
}

}  // namespace

constinit DeviceKernel<void(Result, const Tensor&)> copy_kernel{
    "copy_", [](Result dst, const Tensor& src) { copy(dst, src); }, Elements::Stored};
constinit DeviceKernel<void(Result, const Scalar&)> fill_kernel{
    "fill_", [](Result dst, const Scalar& value) { fill(dst, value); }, Elements::Stored};

}  // namespace wengert::kernels
