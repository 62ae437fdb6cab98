#include "tensor/storage.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "tensor/block_cache.h"

namespace wengert {

Ref<Storage> Storage::allocate_block(int64_t bytes) {
    size_t actual;
    void* data = block_allocate(static_cast<size_t>(bytes), &actual);
    auto* s = new (slab_allocate(sizeof(Storage))) Storage;
    s->kind_ = Kind::Block;
    s->inline_bytes_ = sizeof(Storage);
    s->data_ = static_cast<std::byte*>(data);
    s->bytes_ = static_cast<int64_t>(actual);
    if (memory_watch) memory_watch(s->bytes_);
    return Ref<Storage>::adopt(s);
}

Ref<Storage> Storage::wrap(void* data, int64_t bytes, Deleter deleter, void* context) {
    auto* s = new (slab_allocate(sizeof(Storage))) Storage;
    s->kind_ = Kind::Foreign;
    s->inline_bytes_ = sizeof(Storage);
    s->data_ = static_cast<std::byte*>(data);
    s->bytes_ = bytes;
    s->deleter_ = deleter;
    s->context_ = context;
    return Ref<Storage>::adopt(s);
}

void Storage::free_memory() noexcept {
    if (kind_ == Kind::Block) {
        block_free(data_, static_cast<size_t>(bytes_));
        if (memory_watch) memory_watch(-bytes_);
    }
    if (kind_ == Kind::Foreign && deleter_) deleter_(context_);
}

void Storage::grow(int64_t bytes) {
    if (bytes <= bytes_) return;
    size_t actual;
    auto* fresh = static_cast<std::byte*>(block_allocate(static_cast<size_t>(bytes), &actual));
    std::memcpy(fresh, data_, static_cast<size_t>(bytes_));
    free_memory();
    kind_ = Kind::Block;
    data_ = fresh;
    bytes_ = static_cast<int64_t>(actual);
    if (memory_watch) memory_watch(bytes_);
}

}  // namespace wengert
