// Chooses one of several compiled copies of a table of loops (for tables that the generator does not write).
//
// The loops' file, compiled per instruction set, defines `extern const Table name` in namespace WENGERT_ISA; then
//
//     WENGERT_TABLE_PER_ISA(ReduceTable, reduce_table)        // at namespace wengert::kernels
//
// defines `const ReduceTable& reduce_table()`.
#pragma once

#include "kernels/dispatch.h"

#define WENGERT_DECLARE_IN(isa, Table, name) \
    namespace isa {                          \
    extern const Table name;                 \
    }
#define WENGERT_TAKE_IF(isa, name) \
    if (!table || instruction_set() == #isa) table = &isa::name;

#ifdef WENGERT_HAVE_X86_64_LEVELS
#define WENGERT_TABLE_PER_ISA(Table, name)      \
    WENGERT_DECLARE_IN(v2, Table, name)         \
    WENGERT_DECLARE_IN(v3, Table, name)         \
    WENGERT_DECLARE_IN(v4, Table, name)         \
    const Table& name() {                       \
        static const Table* const chosen = [] { \
            const Table* table = nullptr;       \
            WENGERT_TAKE_IF(v2, name)           \
            WENGERT_TAKE_IF(v3, name)           \
            WENGERT_TAKE_IF(v4, name)           \
            return table;                       \
        }();                                    \
        return *chosen;                         \
    }
#else
#define WENGERT_TABLE_PER_ISA(Table, name)   \
    WENGERT_DECLARE_IN(generic, Table, name) \
    const Table& name() { return generic::name; }
#endif
