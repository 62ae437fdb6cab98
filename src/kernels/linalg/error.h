// The error of linear algebra that has no result: a singular matrix, no convergence. In Python it is
// `wengert.linalg.LinAlgError`, a RuntimeError.
#pragma once

#include "base/error.h"

namespace wengert {

class WENGERT_API LinAlgError final : public Error {
public:
    explicit LinAlgError(std::string message) : Error(ErrorKind::Runtime, std::move(message)) {}
};

template <class... Parts>
void check_linalg(bool ok, const Parts&... parts) {
    if (ok) [[likely]]
        return;
    std::ostringstream out;
    (out << ... << parts);
    throw LinAlgError(std::move(out).str());
}

}  // namespace wengert
