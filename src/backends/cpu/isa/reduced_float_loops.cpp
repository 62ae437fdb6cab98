// Conversion between float and reduced types, once per instruction set.
#include "backends/cpu/elementwise/reduced_float_table.h"

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace wengert::kernels::WENGERT_ISA {
namespace {

// Processors that have instructions for it convert eight at once; what is left goes the long way.
void from_half(const Half* from, float* to, int64_t n) {
    int64_t i = 0;
#ifdef __F16C__
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
#endif
    for (; i < n; ++i) to[i] = reduced_float::from_half(from[i].bits);
}
void to_half(const float* from, Half* to, int64_t n) {
    int64_t i = 0;
#ifdef __F16C__
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
    for (; i < n; ++i) to[i].bits = reduced_float::to_half(from[i]);
}
void from_bfloat16(const BFloat16* from, float* to, int64_t n) {
    for (int64_t i = 0; i < n; ++i) to[i] = reduced_float::from_bfloat16(from[i].bits);
}
void to_bfloat16(const float* from, BFloat16* to, int64_t n) {
    for (int64_t i = 0; i < n; ++i) to[i].bits = reduced_float::to_bfloat16(from[i]);
}

}  // namespace

extern const ReducedFloatTable reduced_float_table;
const ReducedFloatTable reduced_float_table = {from_half, to_half, from_bfloat16, to_bfloat16};

}  // namespace wengert::kernels::WENGERT_ISA
