// A vector whose first N elements live inside it. Shapes, edges and gradient lists are nearly always that short, so
// the heap stays out of the path of an operation.
//
// What is moved most (lists of tensors, edges) consists of pointers that own: a type may say `using PlainBytes = void`, and
// then is moved by copying its bytes, and made by default as zero bytes, a whole inline buffer at a time. A loop over
// one or two elements, or a call of memcpy for them, costs more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace wengert {

template <class T>
inline constexpr bool is_plain_bytes = std::is_arithmetic_v<T> || requires { typename T::PlainBytes; };

// Sizes are counted in 32 bits.
inline constexpr size_t kMostElements = UINT32_MAX;
[[noreturn, gnu::cold]] void too_many_elements(size_t n);  // raises

template <class T, uint32_t N>
class SmallVector {
public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    SmallVector() noexcept = default;
    explicit SmallVector(size_t n) { resize(n); }
    SmallVector(size_t n, const T& value) {
        reserve(n);
        std::uninitialized_fill_n(data_, n, value);
        size_ = static_cast<uint32_t>(n);
    }
    SmallVector(std::initializer_list<T> items) : SmallVector(items.begin(), items.end()) {}
    template <class It>
        requires(!std::is_integral_v<It>)
    SmallVector(It first, It last) {
        reserve(static_cast<size_t>(std::distance(first, last)));
        for (; first != last; ++first) new (data_ + size_++) T(*first);
    }
    explicit SmallVector(std::span<const T> items) : SmallVector(items.begin(), items.end()) {}
    SmallVector(const SmallVector& o) {
        if constexpr (kCopiedWhole) {
            if (o.size_ <= N) [[likely]] {  // there is always room for N behind data_: a fixed-size copy, no loop
                std::memcpy(inline_, o.data_, sizeof inline_);
                size_ = o.size_;
                return;
            }
        }
        copy_long(o);
    }
    SmallVector(SmallVector&& o) noexcept { take(o); }
    SmallVector& operator=(const SmallVector& o) {
        if (this == &o) return *this;
        if constexpr (kCopiedWhole) {
            if (o.size_ <= N) [[likely]] {
                copy_short(o);
                return *this;
            }
        }
        clear();
        copy_long(o);
        return *this;
    }
    SmallVector& operator=(SmallVector&& o) noexcept {
        if (this != &o) {
            drop();
            take(o);
        }
        return *this;
    }
    ~SmallVector() {
        std::destroy_n(data_, size_);
        free_heap();
    }

    T* data() noexcept { return data_; }
    const T* data() const noexcept { return data_; }
    size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    bool is_inline() const noexcept { return capacity_ == N; }  // the heap is only asked for more
    T* begin() noexcept { return data_; }
    T* end() noexcept { return data_ + size_; }
    const T* begin() const noexcept { return data_; }
    const T* end() const noexcept { return data_ + size_; }
    T& operator[](size_t i) noexcept { return at(i); }
    const T& operator[](size_t i) const noexcept { return at(i); }
    T& front() noexcept { return at(0); }
    const T& front() const noexcept { return at(0); }
    T& back() noexcept { return at(size_ - 1); }
    const T& back() const noexcept { return at(size_ - 1); }
    operator std::span<const T>() const noexcept { return {data_, size_}; }

    void push_back(const T& value) { emplace_back(value); }
    void push_back(T&& value) { emplace_back(std::move(value)); }
    template <class... Args>
    T& emplace_back(Args&&... args) {
        if (size_ == capacity_) [[unlikely]] {
            T kept(std::forward<Args>(args)...);  // the argument may live in this vector
            grow(size_ + 1);
            return *new (data_ + size_++) T(std::move(kept));
        }
        return *new (data_ + size_++) T(std::forward<Args>(args)...);
    }
    size_t capacity() const noexcept { return capacity_; }
    // For those who have made sure of the room.
    bool has_room() const noexcept { return size_ < capacity_; }
    template <class... Args>
    T& emplace_in_room(Args&&... args) {
        return *new (data_ + size_++) T(std::forward<Args>(args)...);
    }
    template <class... Args>
    T& emplace_first(Args&&... args) {  // into an empty vector
        size_ = 1;
        return *new (data_) T(std::forward<Args>(args)...);
    }
    // Copies what fits inline, over anything.
    bool is_short() const noexcept { return size_ <= N; }
    void copy_short(const SmallVector& o) noexcept
        requires(std::is_trivially_copyable_v<T>) {
        std::memcpy(data_, o.data_, sizeof inline_);
        size_ = o.size_;
    }
    void pop_back() noexcept { data_[--size_].~T(); }
    void clear() noexcept {
        std::destroy_n(data_, size_);
        size_ = 0;
    }
    void reserve(size_t n) {
        if (n > capacity_) grow(n);
    }
    void resize(size_t n) {
        if (kMovedWhole && size_ == 0 && n <= N) [[likely]] {
            std::memset(static_cast<void*>(data_), 0, sizeof inline_);  // there is always room for N
            size_ = static_cast<uint32_t>(n);
        } else {
            resize_long(n);
        }
    }
    void insert(size_t at, T value) {
        emplace_back(std::move(value));
        std::rotate(begin() + at, end() - 1, end());
    }
    void erase(size_t at) {
        std::move(begin() + at + 1, end(), begin() + at);
        pop_back();
    }
    friend bool operator==(const SmallVector& a, const SmallVector& b) {
        if (a.size_ != b.size_) return false;
        for (uint32_t i = 0; i < a.size_; ++i)  // not std::equal: a call of memcmp costs more than three dimensions
            if (!(a.data_[i] == b.data_[i])) return false;
        return true;
    }

private:
    T& at(size_t i) const noexcept {
#ifdef WENGERT_SANITIZE
        if (i >= size_)
            std::abort();  // the unused rest of the inline elements is memory that no sanitizer complains of
#endif
        return data_[i];
    }

    static constexpr bool kCopiedWhole = std::is_trivially_copyable_v<T> && N * sizeof(T) <= 64;
    static constexpr bool kMovedWhole = is_plain_bytes<T> && N * sizeof(T) <= 64;
    T* inline_data() noexcept { return reinterpret_cast<T*>(inline_); }
    void grow(size_t n) {
        if (n > kMostElements) [[unlikely]]
            too_many_elements(n);
        const size_t capacity = std::min(std::max<size_t>(n, 2 * size_t{capacity_}), kMostElements);
        T* fresh = static_cast<T*>(::operator new(capacity * sizeof(T), std::align_val_t{alignof(T)}));
        std::uninitialized_move(begin(), end(), fresh);
        std::destroy(begin(), end());
        free_heap();
        data_ = fresh;
        capacity_ = static_cast<uint32_t>(capacity);
    }
    [[gnu::noinline]] void resize_long(size_t n) {
        if (n < size_) {
            std::destroy_n(data_ + n, size_ - n);
        } else {
            reserve(n);
            std::uninitialized_value_construct_n(data_ + size_, n - size_);
        }
        size_ = static_cast<uint32_t>(n);
    }
    [[gnu::noinline]] void copy_long(const SmallVector& o) {
        reserve(o.size_);
        std::uninitialized_copy(o.begin(), o.end(), data_);
        size_ = o.size_;
    }
    void free_heap() noexcept {
        if (data_ != inline_data()) ::operator delete(data_, std::align_val_t{alignof(T)});
    }
    void drop() noexcept {
        std::destroy_n(data_, size_);
        free_heap();
        data_ = inline_data();
        size_ = 0;
        capacity_ = N;
    }
    void take(SmallVector& o) noexcept {
        if (kMovedWhole && o.data_ == o.inline_data()) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // behind the last element
            std::memcpy(inline_, o.inline_, sizeof inline_);
#pragma GCC diagnostic pop
            size_ = std::exchange(o.size_, 0);
        } else if (o.data_ == o.inline_data()) {
            std::uninitialized_move(o.begin(), o.end(), data_);
            size_ = o.size_;
            o.clear();
        } else {
            data_ = std::exchange(o.data_, o.inline_data());
            size_ = std::exchange(o.size_, 0);
            capacity_ = std::exchange(o.capacity_, N);
        }
    }

    T* data_ = inline_data();
    uint32_t size_ = 0;
    uint32_t capacity_ = N;
    alignas(T) std::byte inline_[N * sizeof(T)];
};

}  // namespace wengert
