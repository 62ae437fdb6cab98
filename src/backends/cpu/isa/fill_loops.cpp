// One element many times over, once per instruction set.
#include "backends/cpu/elementwise/fill_table.h"
#include "backends/cpu/scalar/config.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

template <class Word>
void fill(Word* memory, int64_t n, Word value) {
    using Element [[gnu::may_alias]] = Word;
    Element* to = memory;
    for (int64_t i = 0; i < n; ++i) to[i] = value;
}

}  // namespace

extern const FillTable fill_table;
const FillTable fill_table = {fill<uint8_t>, fill<uint16_t>, fill<uint32_t>, fill<uint64_t>};

}  // namespace wengert::kernels::WENGERT_ISA
