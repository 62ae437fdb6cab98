#include "ops/overwrite.h"

#include "ops/generated_support.h"

namespace wengert {
namespace {

// Hands on zeros.
class OverwriteNode final : public Node {
public:
    explicit OverwriteNode(const char* name) : name_(name) {}
    TensorList apply(TensorList&& grads) override {
        TensorList grad_inputs(num_outputs());
        if (!grad_inputs.empty() && grads[0].defined() && task_should_compute_output(0))
            grad_inputs[0] = zeros(grads[0].sizes(), grads[0].dtype(), grads[0].device());
        return grad_inputs;
    }
    std::string name() const override { return name_; }

private:
    const char* name_;
};

}  // namespace

void overwrite(const Tensor& self, const char* operation, const char* node_name, const std::function<void()>& write) {
    if (const int32_t level = ops::forward_level(self); level >= 0) {
        {
            const LevelGuard hide(level);
            overwrite(self, operation, node_name, write);
        }
        ops::replace_tangent(self, level, Tensor());
        return;
    }
    const bool recorded = records(self);
    check_inplace(self, recorded);
    Ref<Node> node;
    if (recorded) {
        node = Ref<Node>::adopt(new OverwriteNode(node_name));
        connect(*node, ops::overwritten(self));
    }
    write();
    bump_version(self, operation);
    if (node) rebase_history(self, node, true);
}

}  // namespace wengert
