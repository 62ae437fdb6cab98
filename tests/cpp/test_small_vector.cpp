// SmallVector where its sizes end.
#include <doctest/doctest.h>

#include "base/error.h"
#include "base/small_vector.h"

using namespace wengert;

TEST_CASE("A list of more elements than 32 bits can count is refused before any memory is asked for") {
    SmallVector<char, 4> list;
    CHECK_THROWS_AS(list.reserve(kMostElements + 1), Error);
    CHECK_THROWS_AS((SmallVector<char, 4>(kMostElements + 1)), Error);
    list.push_back('a');
    CHECK(list.size() == 1);
}
