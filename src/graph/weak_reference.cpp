#include "graph/weak_reference.h"

namespace wengert {

std::shared_ptr<WeakTensor> weak_of(const Tensor& t) {
    AutogradMeta& meta = materialize_meta(t);
    auto fresh = std::make_shared<WeakTensor>(t.impl());
    SharedStateLock lock(&meta);  // another thread may have been first
    if (!meta.weak) meta.weak = std::move(fresh);
    return meta.weak;
}

}  // namespace wengert
