// The vector forms of backends/cpu/scalar/power.h, under the names that the vector function ABI prescribes for them:
// _ZGV, the instruction set (b: SSE, d: AVX2, e: AVX-512), N and the number of lanes, vv for two vector arguments.
#define WENGERT_DEFINES_VECTOR_POWER  // else the compiler makes its own vector forms of the functions below
#include "backends/cpu/scalar/config.h"
#ifdef __SSE4_1__
#include <immintrin.h>
namespace wengert::scalar {
inline namespace WENGERT_ISA {
WENGERT_INLINE __m128d root(__m128d x) { return _mm_sqrt_pd(x); }
WENGERT_INLINE __m128 root(__m128 x) { return _mm_sqrt_ps(x); }
#ifdef __AVX2__
WENGERT_INLINE __m256d root(__m256d x) { return _mm256_sqrt_pd(x); }
WENGERT_INLINE __m256 root(__m256 x) { return _mm256_sqrt_ps(x); }
#endif
#ifdef __AVX512F__
WENGERT_INLINE __m512d root(__m512d x) { return _mm512_maskz_sqrt_pd(0xff, x); }
WENGERT_INLINE __m512 root(__m512 x) { return _mm512_maskz_sqrt_ps(0xffff, x); }
#endif
}  // namespace WENGERT_ISA
}  // namespace wengert::scalar
#endif
#include "backends/cpu/scalar/power.h"

#ifdef WENGERT_HAVE_VECTOR_POWER

namespace wengert::scalar {
inline namespace WENGERT_ISA {
namespace {

bool all(__m128d a, __m128d b) { return _mm_movemask_pd(_mm_cmpeq_pd(a, b)) == 0x3; }
bool all(__m128 a, __m128 b) { return _mm_movemask_ps(_mm_cmpeq_ps(a, b)) == 0xf; }
#ifdef __AVX2__
bool all(__m256d a, __m256d b) { return _mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_EQ_OQ)) == 0xf; }
bool all(__m256 a, __m256 b) { return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)) == 0xff; }
#endif
#ifdef __AVX512F__
bool all(__m512d a, __m512d b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ) == 0xff; }
bool all(__m512 a, __m512 b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ) == 0xffff; }
#endif

template <class V, class General>
V vector_power(V x, V e, General general) {
    return power(x, [e](float n) { return all(e, V{} + n); }, general);
}

}  // namespace
}  // namespace WENGERT_ISA
}  // namespace wengert::scalar

namespace scalar = wengert::scalar;

#define WENGERT_VECTOR_POWER(V, prefix, library, name)                                          \
    V WENGERT_JOIN(prefix, library)(V, V) noexcept;                                             \
    V WENGERT_JOIN(prefix, name)(V x, V e);                                                     \
    V WENGERT_JOIN(prefix, name)(V x, V e) {                                                    \
        return scalar::vector_power(x, e, [=] { return WENGERT_JOIN(prefix, library)(x, e); }); \
    }

extern "C" {

double WENGERT_POW(double x, double e) noexcept;
float WENGERT_POWF(float x, float e) noexcept;
double WENGERT_POW(double x, double e) noexcept { return scalar::pow(x, e); }
float WENGERT_POWF(float x, float e) noexcept { return scalar::pow(x, e); }
WENGERT_VECTOR_POWER(__m128d, _ZGVbN2vv_, pow, WENGERT_POW)
WENGERT_VECTOR_POWER(__m128, _ZGVbN4vv_, powf, WENGERT_POWF)
#ifdef __AVX2__
WENGERT_VECTOR_POWER(__m256d, _ZGVdN4vv_, pow, WENGERT_POW)
WENGERT_VECTOR_POWER(__m256, _ZGVdN8vv_, powf, WENGERT_POWF)
#endif
#ifdef __AVX512F__
WENGERT_VECTOR_POWER(__m512d, _ZGVeN8vv_, pow, WENGERT_POW)
WENGERT_VECTOR_POWER(__m512, _ZGVeN16vv_, powf, WENGERT_POWF)
#endif

}  // extern "C"

#endif
