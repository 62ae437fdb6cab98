// An object that is never destroyed, in memory of its own: for what others still need while the process ends.
//
//     static Immortal<Pool> pool;
//     return *pool;
//
// Unlike `static auto* pool = new Pool` its first use asks for no memory, and so may be inside of `noexcept`.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace wengert {

template <class T>
class Immortal {
public:
    template <class... Args>
    explicit Immortal(Args&&... args) {
        new (place_) T(std::forward<Args>(args)...);
    }
    Immortal(const Immortal&) = delete;

    T& operator*() noexcept { return *std::launder(reinterpret_cast<T*>(place_)); }
    T* operator->() noexcept { return &**this; }

private:
    alignas(T) std::byte place_[sizeof(T)];
};

}  // namespace wengert
