// WriteLog: which parts of a storage were written, and by what.
//
// A version counter says that something was written; the log says where, so that a tensor saved for backward conflicts
// only with writes that overlap it, and the error names the operation. Most storages have none: saving a tensor asks for
// one (Storage::watch), the first write after that makes it. From then on every write is entered with the storage's
// count of writes as its number; a saved tensor remembers the count and asks about the writes since.
//
// Entries are kept in order, in blocks of 64 with a summary each, so that asking is quick after thousands of writes
// (`o[i] = f(o[i - 1])` in a loop). A write that covers all earlier ones makes them irrelevant; beyond 65,536
// entries the older half is forgotten and counts as overlapping everything.
//
// Memory that is lent to others (NumPy, DLPack, a buffer) may be written without anybody telling us. For it the log keeps
// what the memory should hold (tensor/memory/expected_memory.h), compares when a tensor is saved or used for backward, and
// enters what differs as a write from outside.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/place.h"
#include "tensor/memory/expected_memory.h"
#include "tensor/writes/region.h"

namespace wengert {

struct Write {
    Region region;
    const char* operation;  // its name; null for a write from outside
    uint32_t number;        // Storage::writes after it
    uint32_t place;         // index into `places`, 0: unknown
};

using Places = std::vector<std::shared_ptr<const Place>>;  // kept in debug mode

struct FoundWrite {
    bool any = false;
    bool outside = false;
    const char* operation = nullptr;  // null: unknown
    std::shared_ptr<const Place> place;
};

class WriteLog : public SlabAllocated {
public:
    explicit WriteLog(uint32_t writes_before) noexcept : known_from_(writes_before) {}

    // Returns places that are of no use any more: they may own Python objects, so let them go where no lock is held.
    [[nodiscard]] Places add(const Region& region, const char* operation, uint32_t number,
                             std::shared_ptr<const Place> place = nullptr);
    // The latest write after number `since` that may overlap `region`. One that was forgotten has no operation.
    FoundWrite find(const Region& region, uint32_t since) const;
    void forget_after(uint32_t number);

    std::unique_ptr<ExpectedMemory> expected;

private:
    static constexpr size_t kBlock = 64;
    static constexpr size_t kLimit = size_t{1} << 16;

    uint32_t known_from_;  // writes up to this number may be missing
    Region all_;           // holds every entry
    std::vector<Write> writes_;
    std::vector<Region> summaries_;  // of each full block
    Places places_;
};

}  // namespace wengert
