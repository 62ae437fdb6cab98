// The loops of bags of rows (backends/cpu/indexing/bags.cpp), compiled once per instruction set (isa/bag_loops.cpp).
//
// Each computes `columns` columns of a table whose rows are `width` elements apart: a share of the columns, as a thread gets.
// A column is added up in the order of the indices, so it does not matter which share it is in.
#pragma once

#include <cstdint>

namespace wengert::kernels {

template <class T>
struct Bag {
    const int64_t* indices;  // [n]
    const T* factors;        // factors[k * step]
    int64_t step, n;
    int64_t left_out;  // an index
};

template <class T>
struct BagLoops {
    // out[j] = sum over k of factor * rows[index][j]
    void (*sum)(const Bag<T>&, const T* rows, int64_t width, int64_t columns, T* out);
    // rows[index][j] += factor * x[j] for all k
    void (*add)(const Bag<T>&, const T* x, int64_t width, int64_t columns, T* rows);
    // out[k] = sum over j of x[j] * rows[index][j], 0 for those left out. Columns are all.
    void (*dots)(const Bag<T>&, const T* x, const T* rows, int64_t width, T* out);
    // out[j] = the index with the greatest rows[index][j]
    void (*maxima)(const Bag<T>&, const T* rows, int64_t width, int64_t columns, int64_t* out);
};
struct BagTable {
    BagLoops<float> of_float;
    BagLoops<double> of_double;
};
const BagTable& bag_table();

}  // namespace wengert::kernels
