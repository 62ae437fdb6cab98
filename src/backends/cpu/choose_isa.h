// Chooses one of several compiled copies of a table of loops (for tables that the generator does not write).
//
// The loops' file, compiled per instruction set, defines `extern const Table name` in namespace WENGERT_ISA; then
//
//     WENGERT_TABLE_PER_ISA(ReduceTable, reduce_table)        // at namespace wengert::kernels
//
// defines `const ReduceTable& reduce_table()`.
#pragma once

#include "backends/cpu/dispatch.h"

#define WENGERT_DECLARE_IN(isa, Table, name) \
    namespace isa {                          \
    extern const Table name;                 \
    }
#define WENGERT_TAKE_IF(isa, name) \
    if (!table || instruction_set() == #isa) table = &isa::name;

#define WENGERT_TABLE_PER_ISA(Table, name)                \
    WENGERT_FOR_EACH_ISA(WENGERT_DECLARE_IN, Table, name) \
    const Table& name() {                                 \
        static const Table* const chosen = [] {           \
            const Table* table = nullptr;                 \
            WENGERT_FOR_EACH_ISA(WENGERT_TAKE_IF, name)   \
            return table;                                 \
        }();                                              \
        return *chosen;                                   \
    }
