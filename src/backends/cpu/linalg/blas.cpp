#include "backends/cpu/linalg/blas.h"

#include <atomic>
#include <tuple>

#include "backends/cpu/linalg/portable_lapack.h"

namespace wengert::kernels {
namespace {

// Function-local, so that a static initialiser elsewhere may already multiply matrices.
template <class T>
Blas<T>& table() {
    static Blas<T> t = portable::routines<T>();
    return t;
}

std::atomic<BlasLoader> loader{nullptr};
std::atomic<bool> loaded{false};
std::atomic<bool> provided{false};

void load_once() {
    if (loaded.load(std::memory_order_acquire)) [[likely]]
        return;
    if (BlasLoader f = loader.load())
        if (!loaded.exchange(true)) f();
}

// --- Names and signatures, from the types of the entries

template <class T>
constexpr char type_letter() {
    if constexpr (std::is_same_v<T, char>) return 'b';
    if constexpr (std::is_same_v<T, int>) return 'i';
    if constexpr (std::is_same_v<T, float>) return 's';
    if constexpr (std::is_same_v<T, double>) return 'd';
    if constexpr (std::is_same_v<T, complex64>) return 'c';
    if constexpr (std::is_same_v<T, complex128>) return 'z';
}

template <class... Args>
std::string signature(const Routine<void(Args...)>&) {
    return {type_letter<std::remove_const_t<std::remove_pointer_t<Args>>>()...};
}

// Calls f(name, entry) for every routine of T's registry.
template <class T, class F>
void for_each_routine(F&& f) {
    Blas<T>& t = table<T>();
    const std::string letter(1, type_letter<T>());
    constexpr bool complex = is_complex_type<T>;
    f(letter + "gemm", t.gemm);
    f(letter + "trsm", t.trsm);
    f(letter + "potrf", t.potrf);
    f(letter + "potri", t.potri);
    f(letter + "getrf", t.getrf);
    f(letter + "getri", t.getri);
    f(letter + "geqrf", t.geqrf);
    f(letter + (complex ? "ungqr" : "orgqr"), t.orgqr);
    f(letter + (complex ? "unmqr" : "ormqr"), t.ormqr);
    f(letter + (complex ? "hetrf" : "sytrf"), t.hetrf);
    if constexpr (complex) f(letter + "sytrf", t.sytrf);
    f(letter + "gesdd", t.gesdd);
    f(letter + (complex ? "heevd" : "syevd"), t.heevd);
    f(letter + "geev", t.geev);
}

template <class F>
void for_every_routine(F&& f) {
    for_each_routine<float>(f);
    for_each_routine<double>(f);
    for_each_routine<complex64>(f);
    for_each_routine<complex128>(f);
}

}  // namespace

template <class T>
const Blas<T>& blas() {
    load_once();
    return table<T>();
}
template const Blas<float>& blas();
template const Blas<double>& blas();
template const Blas<complex64>& blas();
template const Blas<complex128>& blas();

std::vector<BlasRoutine> blas_routines() {
    std::vector<BlasRoutine> out;
    for_every_routine([&](const std::string& name, auto& routine) { out.push_back({name, signature(routine)}); });
    return out;
}

void set_blas_loader(BlasLoader f) noexcept { loader = f; }

bool blas_register(std::string_view wanted, void* address) {
    bool found = false;
    for_every_routine([&]<class R>(const std::string& name, R& routine) {
        if (name != wanted) return;
        routine.set(reinterpret_cast<typename R::Function>(address));
        found = true;
    });
    if (found) provided = true;
    return found;
}

bool blas_has_provider() {
    load_once();
    return provided.load(std::memory_order_relaxed);
}

}  // namespace wengert::kernels
