#include "backends/cpu/elementwise/in_parallel.h"

namespace wengert::kernels {

void run_flat(Loop loop, char* const* args, int64_t n, const int64_t* steps, int arrays) {
    Notes notes;
    parallel_for(n, kParallelBlock, [&](int64_t begin, int64_t end) {
        char* from[StridedIteration::kMaxArrays];
        for (int a = 0; a < arrays; ++a) from[a] = args[a] + begin * steps[a];
        loop(from, end - begin, steps);
        notes.take();
    });
}

}  // namespace wengert::kernels
