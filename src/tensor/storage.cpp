#include "tensor/storage.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "base/error.h"
#include "base/threads/lock.h"
#include "tensor/backend.h"
#include "tensor/memory/block_cache.h"
#include "tensor/writes/write_log.h"

namespace wengert {

constinit std::atomic<size_t> inline_limit = kSlabLimit;
constinit std::atomic<void (*)(int64_t change) noexcept> memory_watch = nullptr;

namespace {

// Another thread may stop to count meanwhile.
void tell_memory_watch(int64_t change) noexcept {
    if (auto* watch = memory_watch.load(std::memory_order_relaxed)) watch(change);
}

}  // namespace

Ref<Storage> Storage::allocate_block(int64_t bytes) {
    size_t actual;
    void* data = block_allocate(static_cast<size_t>(bytes), &actual);
    auto* s = new (slab_allocate(sizeof(Storage))) Storage;
    s->kind_ = Kind::Block;
    s->inline_bytes_ = sizeof(Storage);
    s->data_ = static_cast<std::byte*>(data);
    s->bytes_ = static_cast<int64_t>(actual);
    s->batch_level_ = state.batch_level;
    tell_memory_watch(s->bytes_);
    return Ref<Storage>::adopt(s);
}

Ref<Storage> Storage::allocate_on(Device device, int64_t bytes) {
    Backend& backend = backend_of(device);
    auto* s = new (slab_allocate(sizeof(Storage))) Storage;
    Ref<Storage> out = Ref<Storage>::adopt(s);  // it owns what it gets
    s->kind_ = Kind::OnDevice;
    s->device_ = device;
    s->inline_bytes_ = sizeof(Storage);
    s->batch_level_ = state.batch_level;
    s->data_ = backend.allocate(device, bytes);
    s->bytes_ = bytes;
    return out;
}

Ref<Storage> Storage::without_memory(Device device, int64_t bytes) {
    auto* s = new (slab_allocate(sizeof(Storage))) Storage;
    s->kind_ = Kind::None;
    s->device_ = device;
    s->inline_bytes_ = sizeof(Storage);
    s->bytes_ = bytes;
    s->batch_level_ = state.batch_level;
    return Ref<Storage>::adopt(s);
}

Ref<Storage> Storage::wrap(void* data, int64_t bytes, const Foreign& owner, void* context) {
    auto* s = new (slab_allocate(sizeof(Storage))) Storage;
    s->kind_ = Kind::Foreign;
    s->inline_bytes_ = sizeof(Storage);
    s->data_ = static_cast<std::byte*>(data);
    s->bytes_ = bytes;
    s->foreign_ = &owner;
    s->context_ = context;
    return Ref<Storage>::adopt(s);
}

void Storage::free_memory() noexcept {
    if (kind_ == Kind::Block) {
        block_free(data_, static_cast<size_t>(bytes_));
        tell_memory_watch(-bytes_);
    }
    if (kind_ == Kind::OnDevice) backend_of(device_).release(device_, data_, bytes_);
    if (kind_ == Kind::Foreign) foreign_->release(context_);
}

void Storage::grow_on_device(int64_t bytes) {
    const Ref<Storage> fresh = allocate_on(device_, bytes);
    backend_of(device_).copy(device_, fresh->data_, device_, data_, bytes_);
    std::swap(data_, fresh->data_);  // who had it releases it
    std::swap(bytes_, fresh->bytes_);
}

void Storage::grow(int64_t bytes) {
    if (bytes <= bytes_) return;
    if (kind_ == Kind::None) {
        bytes_ = bytes;
        return;
    }
    check(kind_ != Kind::Foreign && !is_lent(), ErrorKind::Runtime,
          "Trying to resize storage that is not resizable: its memory is shared with an array of another library");
    if (kind_ == Kind::OnDevice) return grow_on_device(bytes);
    size_t actual;
    auto* fresh = static_cast<std::byte*>(block_allocate(static_cast<size_t>(bytes), &actual));
    std::memcpy(fresh, data_, static_cast<size_t>(bytes_));
    free_memory();
    kind_ = Kind::Block;
    data_ = fresh;
    bytes_ = static_cast<int64_t>(actual);
    tell_memory_watch(bytes_);
}

// --- Writes
WriteLog& Storage::log() {
    if (log_ == watched()) log_ = new WriteLog(writes);
    return *log_;
}

void Storage::drop_log() noexcept {
    if (WriteLog* log = log_.load(std::memory_order_relaxed); log != watched()) delete log;
}

namespace {

// Logs are rarely written, and by one thread, unless core code runs in several.
ForkSafeMutex log_mutex{LockRank::Log};
struct LogLock {
    LogLock() {
        if (concurrent_counts) lock = std::unique_lock(log_mutex);
    }
    std::unique_lock<ForkSafeMutex> lock;
};

}  // namespace

void Storage::note_write(const Region& region, const char* operation) {
    // Taken before the lock, and what it replaces dropped after it: both may need the interpreter.
    auto place = DebugMode::is_enabled() && current_place ? current_place() : nullptr;
    Places dropped;
    LogLock lock;
    WriteLog& entries = log();
    dropped = entries.add(region, operation, ++writes, std::move(place));
    if (entries.expected && operation) entries.expected->refresh(data_, region);
}

void Storage::forget_writes(uint32_t count) noexcept {
    LogLock lock;
    writes -= std::min(count, writes);
    if (WriteLog* log = log_; log && log != watched()) log->forget_after(writes);
}

FoundWrite Storage::find_write(const Region& region, uint32_t since) {
    LogLock lock;
    return log().find(region, since);
}

void Storage::expect_memory() {
    LogLock lock;
    auto& expected = log().expected;
    if (!expected) expected = std::make_unique<ExpectedMemory>(data_, bytes_);
}

// Loans begin under the interpreter's lock, but may end on any thread while another one asks.
void Storage::lend() {
    if (is_watched()) expect_memory();
    loans_.fetch_add(1, std::memory_order_relaxed);
}

// Never raises: where there is no memory to look for changes it stays lent, so that the next one who relies on it looks.
void Storage::take_back() {
    try {
        if (is_watched()) check_outside_writes({.begin = 0, .end = bytes_});
    } catch (...) {
        return;
    }
    std::unique_ptr<ExpectedMemory> dropped;
    LogLock lock;
    if (loans_.fetch_sub(1, std::memory_order_acq_rel) != 1 || kind_ == Kind::Foreign) return;
    if (WriteLog* log = log_; log && log != watched()) dropped = std::move(log->expected);
}

void Storage::check_outside_writes(const Region& region) {
    const bool is_private = loans_.load(std::memory_order_acquire) == 0 &&
                            (!foreign_ || (foreign_->is_private && foreign_->is_private(context_)));
    if (!is_private) expect_memory();
    Places dropped;
    LogLock lock;
    WriteLog& entries = log();
    if (!entries.expected) return;
    Region changes = entries.expected->take_changes(data_, region);
    if (!changes.empty()) dropped = entries.add(changes, nullptr, ++writes);
}

}  // namespace wengert
