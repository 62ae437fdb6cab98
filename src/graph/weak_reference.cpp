#include "graph/weak_reference.h"

namespace wengert {

std::shared_ptr<WeakTensor> weak_of(const Tensor& t) {
    AutogradMeta& meta = materialize_meta(t);
    auto fresh = std::make_shared<WeakTensor>(t.impl());
    std::shared_ptr<WeakTensor>& weak = meta.extras.make().weak;
    SharedStateLock lock(&meta);  // another thread may have been first
    if (!weak) weak = std::move(fresh);
    return weak;
}

}  // namespace wengert
