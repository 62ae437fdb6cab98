#include "base/small_vector.h"

#include "base/error.h"

namespace wengert {

void too_many_elements(size_t n) {
    fail(ErrorKind::Runtime, "a list of ", n, " elements: at most ", kMostElements, " are possible");
}

}  // namespace wengert
