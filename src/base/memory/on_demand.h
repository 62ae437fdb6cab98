// A part of an object that few objects have: made when first needed, by whichever thread is first, and owned from then on.
#pragma once

#include <atomic>
#include <memory>

namespace wengert {

template <class T>
class OnDemand {
public:
    OnDemand() noexcept = default;
    OnDemand(const OnDemand&) = delete;
    ~OnDemand() { delete part_.load(std::memory_order_relaxed); }

    T* get() const noexcept { return part_.load(std::memory_order_acquire); }  // null: not made yet
    T& make() {
        if (T* made = get()) return *made;
        std::unique_ptr<T> fresh(new T);  // make_unique would fill it with zeros first
        T* none = nullptr;
        return part_.compare_exchange_strong(none, fresh.get()) ? *fresh.release() : *none;
    }

private:
    std::atomic<T*> part_{nullptr};
};

}  // namespace wengert
