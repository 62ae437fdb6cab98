#include "backends/cpu/elementwise/tiles.h"

#include "backends/cpu/elementwise/row_table.h"
#include "backends/cpu/products/transpose_table.h"

namespace wengert::kernels {

Tiles::Tiles(const StridedIteration& iteration) : it_(iteration) {
    if (it_.empty() || it_.dims() < 2) return;
    const int64_t columns = it_.size(0), rows = it_.size(1);
    for (int d = 2; d < it_.dims(); ++d) planes_ *= it_.size(d);
    if (planes_ * rows * columns < kFewest) return;
    const int arrays = it_.arrays(), out = arrays - 1;
    int64_t widest = 1;
    bool any_elsewhere = false, any_across = false, any_repeated = false;
    for (int a = 0; a < arrays; ++a) {
        const int64_t item = it_.item_size(a), along = it_.steps(0)[a], down = it_.steps(1)[a];
        widest = std::max(widest, item);
        lies_[a] = along != item ? Lies::Elsewhere : down == columns * item ? Lies::AsTile : Lies::AsRows;
        any_elsewhere |= along != item;
        any_repeated |= along == 0;
        any_across |= along != item && along != 0 && std::abs(down) < std::abs(along);
    }
    const int64_t room = kBytes / widest;
    // A loop over a row of few elements costs more than to move them.
    const bool scattered = lies_[out] != Lies::AsTile && columns < kRun;
    const int64_t longest = any_repeated ? kRepeatedRow : any_elsewhere ? kShortRow : kShortest;
    if (scattered || (columns <= longest && lies_[out] == Lies::AsTile)) {
        whole_ = true;
        columns_ = columns;
        for (; row_dim_ + 1 < it_.dims() && columns_ * it_.size(row_dim_) <= kShortRow &&
               (scattered || is_dense(out, row_dim_ + 1));
             ++row_dim_) {
            columns_ *= it_.size(row_dim_);
            planes_ /= it_.size(row_dim_ + 1);
        }
        rows_ = std::max<int64_t>(1, room / columns_);
        for (int a = 0; a < arrays; ++a) lies_[a] = is_dense(a, row_dim_) ? Lies::AsTile : Lies::Elsewhere;
    } else if (any_across && lies_[out] != Lies::Elsewhere && rows >= kAcross / 2) {
        columns_ = kColumns;
        rows_ = std::min(kAcross, room / kColumns);
    }
}

bool Tiles::is_dense(int a, int last) const noexcept {
    int64_t step = it_.item_size(a);
    for (int d = 0; d <= last; step *= it_.size(d++))
        if (it_.steps(d)[a] != step) return false;
    return true;
}

void Tiles::gather(char* buffer, const char* from, int array, int64_t rows, int64_t columns) const {
    const int64_t item = it_.item_size(array);
    if (row_dim_ == 1 && (!whole_ || columns >= kRun)) return gather_plane(buffer, from, array, rows, columns);
    const int64_t down = it_.steps(row_dim_)[array];
    if (row_dim_ > 1 && it_.size(0) >= kRun) {  // plane by plane
        const int64_t part = it_.size(0) * it_.size(1);
        for (int64_t c = 0; c < columns; c += part) {
            const char* first = from;
            int64_t left = c / part;
            for (int d = 2; d < row_dim_; left /= it_.size(d++)) first += left % it_.size(d) * it_.steps(d)[array];
            for (int64_t r = 0; r < rows; ++r)
                gather_plane(buffer + (r * columns + c) * item, first + r * down, array, it_.size(1), it_.size(0));
        }
        return;
    }
    each_of_row(array, columns, [&](int64_t offset, int64_t place) {
        dispatch_size(item, [&]<class Word> {
            constexpr int64_t kSize = sizeof(Word);
            for (int64_t r = 0; r < rows; ++r)
                std::memcpy(buffer + place + r * columns * kSize, from + offset + r * down, kSize);
        });
    });
}

void Tiles::scatter(const char* buffer, char* to, int array, int64_t rows, int64_t columns) const {
    const int64_t item = it_.item_size(array), down = it_.steps(row_dim_)[array];
    if (row_dim_ == 1 && columns >= kRun && it_.steps(0)[array] == item) {
        for (int64_t r = 0; r < rows; ++r)
            std::memcpy(to + r * down, buffer + r * columns * item, static_cast<size_t>(columns * item));
        return;
    }
    each_of_row(array, columns, [&](int64_t offset, int64_t place) {
        dispatch_size(item, [&]<class Word> {
            constexpr int64_t kSize = sizeof(Word);
            for (int64_t r = 0; r < rows; ++r)
                std::memcpy(to + offset + r * down, buffer + place + r * columns * kSize, kSize);
        });
    });
}

void Tiles::gather_plane(char* buffer, const char* from, int array, int64_t rows, int64_t columns) const {
    const int64_t item = it_.item_size(array), along = it_.steps(0)[array], down = it_.steps(1)[array];
    dispatch_size(item, [&]<class Word> {
        constexpr int64_t kSize = sizeof(Word);
        if (along == 0) {
            spread_rows(reinterpret_cast<Word*>(buffer), rows, columns, from, down);
        } else if (along == kSize) {
            row_table().copy(buffer, rows, columns * kSize, from, down);
        } else if (std::abs(down) < std::abs(along)) {
            if constexpr (kSize == 4 || kSize == 8) {
                using Number = std::conditional_t<kSize == 4, float, double>;
                if (down == kSize && along % kSize == 0)
                    return transpose_table().of<Number>()(columns, rows, reinterpret_cast<const Number*>(from),
                                                          along / kSize, reinterpret_cast<Number*>(buffer), columns);
            }
            for (int64_t c = 0; c < columns; ++c)
                for (int64_t r = 0; r < rows; ++r)
                    std::memcpy(buffer + (r * columns + c) * kSize, from + r * down + c * along, kSize);
        } else {
            for (int64_t r = 0; r < rows; ++r)
                for (int64_t c = 0; c < columns; ++c)
                    std::memcpy(buffer + (r * columns + c) * kSize, from + r * down + c * along, kSize);
        }
    });
}

}  // namespace wengert::kernels
