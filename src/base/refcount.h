// Intrusive reference counting.
//
// Every shared object of the core (TensorImpl, Storage, Node) starts with its own count and is held by `Ref<T>`. Two
// things are unusual and both are for speed:
//
//   * Counts are atomic only while they need to be. `concurrent` says whether more than one thread may run core code
//     at the same time. It starts true (a C++ program may use threads as it likes); the Python layer sets it to false
//     under the GIL and back to true, still under the GIL, before it lets a second thread run without it. The flag
//     therefore never changes while another thread is counting.
//   * The last release calls `T::dispose(T*)`, not a virtual destructor: tensors go back to a slab, nodes are freed
//     iteratively so that a graph of any depth needs no stack (see graph/node.cpp).
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/api.h"
#include "base/atomic_ref.h"

namespace wengert {

WENGERT_API extern bool concurrent_counts;

class RefCounted {
public:
    RefCounted() = default;
    RefCounted(const RefCounted&) = delete;
    RefCounted& operator=(const RefCounted&) = delete;

    [[gnu::always_inline]] void retain() const noexcept {
        if (concurrent_counts) [[unlikely]]
            AtomicRef(count_).fetch_add(1, std::memory_order_relaxed);
        else
            ++count_;
    }

    // True when this was the last reference.
    [[nodiscard, gnu::always_inline]] bool release() const noexcept {
        if (concurrent_counts) [[unlikely]]
            return AtomicRef(count_).fetch_sub(1, std::memory_order_acq_rel) == 1;
        return release_alone();
    }

    // The same where counts are known not to be concurrent.
    [[nodiscard]] bool release_alone() const noexcept { return --count_ == 0; }

    // Takes a reference unless the object is already dying; what a weak pointer needs.
    [[nodiscard]] bool try_retain() const noexcept {
        AtomicRef count(count_);
        uint32_t seen = count.load(std::memory_order_relaxed);
        while (seen != 0)
            if (count.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel)) return true;
        return false;
    }

    uint32_t use_count() const noexcept { return AtomicRef(count_).load(std::memory_order_acquire); }

    // The reference of whoever takes an object again that nobody had.
    void revive() noexcept { AtomicRef(count_).store(1, std::memory_order_relaxed); }

protected:
    ~RefCounted() = default;

private:
    mutable uint32_t count_ = 1;
};

// An owning pointer. `Ref<T>::adopt(p)` takes over the reference that `new` made.
template <class T>
class Ref {
public:
    using PlainBytes = void;  // base/small_vector.h
    constexpr Ref() noexcept = default;
    constexpr Ref(std::nullptr_t) noexcept {}
    static Ref adopt(T* p) noexcept {
        Ref r;
        r.ptr_ = p;
        return r;
    }
    static Ref share(T* p) noexcept {
        if (p) p->retain();
        return adopt(p);
    }

    Ref(const Ref& o) noexcept : ptr_(o.ptr_) {
        if (ptr_) ptr_->retain();
    }
    Ref(Ref&& o) noexcept : ptr_(std::exchange(o.ptr_, nullptr)) {}
    template <class U>
        requires std::is_convertible_v<U*, T*>
    Ref(Ref<U> o) noexcept : ptr_(o.detach()) {}

    Ref& operator=(const Ref& o) noexcept {
        Ref(o).swap(*this);
        return *this;
    }
    Ref& operator=(Ref&& o) noexcept {
        Ref(std::move(o)).swap(*this);
        return *this;
    }
    ~Ref() { reset(); }

    void reset() noexcept {
        if (T* p = std::exchange(ptr_, nullptr)) drop(p);
    }
    // Gives up a reference that no Ref stands for.
    [[gnu::always_inline]] static void drop(T* p) noexcept {
        if (concurrent_counts) [[unlikely]]
            return drop_concurrently(p);
        if (p->release_alone()) T::dispose(p);
    }
    [[nodiscard]] T* detach() noexcept { return std::exchange(ptr_, nullptr); }
    void swap(Ref& o) noexcept { std::swap(ptr_, o.ptr_); }

    T* get() const noexcept { return ptr_; }
    T* operator->() const noexcept { return ptr_; }
    T& operator*() const noexcept { return *ptr_; }
    explicit operator bool() const noexcept { return ptr_ != nullptr; }
    friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.ptr_ == b.ptr_; }

private:
    [[gnu::noinline]] static void drop_concurrently(T* p) noexcept {
        if (p->release()) T::dispose(p);
    }

    T* ptr_ = nullptr;
};

}  // namespace wengert
