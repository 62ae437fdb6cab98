// What works for one sample and has no meaning for a batch: an error of its own, since whoever runs a function on a
// batch for speed alone can then run it once for each sample.
#pragma once

#include <sstream>

#include "base/error.h"

namespace wengert {

class WENGERT_API NotBatchableError final : public Error {
public:
    explicit NotBatchableError(std::string message) : Error(ErrorKind::Runtime, std::move(message)) {}
};

template <class... Parts>
[[noreturn, gnu::cold]] void fail_batch(const Parts&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    throw NotBatchableError(std::move(out).str());
}

}  // namespace wengert
