// Atomic access to a variable that is plain the rest of the time: what std::atomic_ref is, which libc++ has only since version
// 19. Two of its habits are left out: no order but the given one, no specialisation for arithmetic on pointers.
//
// The operations are the compiler's own, which gcc and clang share; libstdc++ makes std::atomic_ref of the same.
#pragma once

#include <atomic>
#include <type_traits>

namespace wengert {

template <class T>
class AtomicRef {
    static_assert(int(std::memory_order_seq_cst) == __ATOMIC_SEQ_CST);
    static_assert(std::is_trivially_copyable_v<T> && __atomic_always_lock_free(sizeof(T), 0));

public:
    explicit AtomicRef(T& value) noexcept : value_(&value) {}

    T load(std::memory_order order) const noexcept { return __atomic_load_n(value_, int(order)); }
    void store(T value, std::memory_order order) const noexcept { __atomic_store_n(value_, value, int(order)); }
    T fetch_add(T by, std::memory_order order) const noexcept { return __atomic_fetch_add(value_, by, int(order)); }
    T fetch_sub(T by, std::memory_order order) const noexcept { return __atomic_fetch_sub(value_, by, int(order)); }

    // False if the value was another one, which `expected` then has.
    bool compare_exchange_strong(T& expected, T desired, std::memory_order order) const noexcept {
        return __atomic_compare_exchange_n(value_, &expected, desired, false, int(order), on_failure(order));
    }
    // The same, which may also fail without a reason.
    bool compare_exchange_weak(T& expected, T desired, std::memory_order order) const noexcept {
        return __atomic_compare_exchange_n(value_, &expected, desired, true, int(order), on_failure(order));
    }

private:
    // Nothing is written then.
    static constexpr int on_failure(std::memory_order order) noexcept {
        if (order == std::memory_order_acq_rel) return __ATOMIC_ACQUIRE;
        return order == std::memory_order_release ? __ATOMIC_RELAXED : int(order);
    }

    T* value_;
};

}  // namespace wengert
