// ExpectedMemory: what memory that is lent to others should hold if they leave it alone.
//
// A copy, brought up to date after each write of our own. It is exact up to 4 MiB; of larger memory every k-th page of
// 4 KiB is kept, k as small as 4 MiB allow, and writes from outside that touch none of these pages go unnoticed.
// Comparing costs what memcmp costs on the bytes of the region that is asked about.
#pragma once

#include <vector>

#include "tensor/writes/region.h"

namespace wengert {

class ExpectedMemory {
public:
    ExpectedMemory(const std::byte* memory, int64_t bytes);

    void refresh(const std::byte* memory, const Region& region);
    // The part of `region` that is not as expected, as one range; empty if all is well. Expected from now on.
    Region take_changes(const std::byte* memory, const Region& region);

private:
    static constexpr int64_t kPage = 4096;
    static constexpr int64_t kLimit = int64_t{4} << 20;
    template <class F>
    void for_each_piece(const Region& region, F&& f);

    int64_t bytes_;
    int64_t every_;  // one page of so many is kept
    std::vector<std::byte> copy_;
};

}  // namespace wengert
