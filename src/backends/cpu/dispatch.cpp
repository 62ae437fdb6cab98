#include "backends/cpu/dispatch.h"

#include <cstdlib>

namespace wengert::kernels {
namespace {

constinit std::string_view chosen = "base";

// Whether this processor can run code compiled for the instruction set.
bool can_run(std::string_view isa) {
#if defined(__x86_64__) && defined(__GNUC__)
    if (isa == "v2") return __builtin_cpu_supports("x86-64-v2");
    if (isa == "v3") return __builtin_cpu_supports("x86-64-v3");
    if (isa == "v4") return __builtin_cpu_supports("x86-64-v4");
#endif
    return isa == "generic" || isa == "base";
}

void install(const LoopSet& set) {
    for (const LoopEntry* entry : set.families)
        for (; entry->loop; ++entry) entry->kernel->loops[static_cast<int>(entry->dtype)] = entry->loop;
}

}  // namespace

// Sets come in order from the poorest to the richest; each kept one overwrites what the one before it installed.
bool install_loops(std::initializer_list<LoopSet> sets) {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();  // this may run before other constructors
#endif
    const char* wanted = std::getenv("WENGERT_ISA");
    for (const LoopSet& set : sets) {
        if (!can_run(set.isa)) continue;
        install(set);
        chosen = set.isa;
        if (wanted && set.isa == wanted && set.isa != "base") break;  // `base` alone lacks float loops
    }
    return true;
}

std::string_view instruction_set() noexcept { return chosen; }

}  // namespace wengert::kernels
