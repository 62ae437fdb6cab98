// Custom functions in C++: an operation whose derivative the user writes.
//
//     struct Cube : Function<Cube> {
//         static Tensor forward(AutogradContext* ctx, const Tensor& x) {
//             ctx->save_for_backward({x});
//             return ops::mul(x, ops::mul(x, x));
//         }
//         static TensorList backward(AutogradContext* ctx, TensorList grads) {
//             Tensor x = ctx->get_saved_variables()[0];
//             return {ops::mul(grads[0], ops::mul(ops::mul(x, x), 3.0))};
//         }
//     };
//     Tensor y = Cube::apply(x);
//
// `forward` takes tensors, lists of tensors and anything else, and returns a Tensor or a TensorList. `backward` returns
// one gradient for each tensor argument (each tensor of a list) and an undefined Tensor for every other argument; those at
// the end may be left out. A static `jvp(ctx, tangents)` gives forward mode. What outputs become is the same as for
// Python's custom Functions: ops/custom_function.h.
#pragma once

#include <any>
#include <concepts>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <vector>

#include "graph/grad_mode.h"
#include "graph/saved_variable.h"
#include "ops/custom_function.h"

namespace wengert {

// What forward leaves for backward. Owned by the node.
class AutogradContext {
public:
    AutogradContext() = default;
    AutogradContext(const AutogradContext&) = delete;

    // Inputs and outputs of forward that backward needs; other tensors too, but these are never freed early.
    void save_for_backward(TensorList tensors) { to_save_ = std::move(tensors); }
    TensorList get_saved_variables() const;  // in backward and in jvp
    // Everything else.
    std::unordered_map<std::string, std::any> saved_data;

    void mark_dirty(const TensorList& inputs) { note(dirty_, inputs); }
    void mark_non_differentiable(const TensorList& outputs) { note(non_differentiable_, outputs); }
    // Whether backward sees zeros (the default) or undefined tensors for outputs that got no gradient.
    void set_materialize_grads(bool value) noexcept { materialize_grads_ = value; }
    // Whether the gradient of the i-th tensor argument is wanted.
    bool needs_input_grad(size_t i) const noexcept;

private:
    friend class CustomNode;
    static void note(TensorSet& set, const TensorList& tensors) {
        for (const Tensor& t : tensors) set.emplace(t.impl(), t);
    }

    TensorList to_save_;
    std::vector<SavedVariable> saved_;
    bool released_ = false;
    TensorSet dirty_, non_differentiable_;
    bool materialize_grads_ = true;
    Node* node_ = nullptr;
};

// The node behind a custom function, all that does not depend on its type.
class CustomNode : public Node {
public:
    TensorList apply(TensorList&& grads) override;
    void release_variables() override;

    AutogradContext context;

protected:
    CustomNode() { context.node_ = this; }
    virtual TensorList backward(TensorList grads) = 0;
    virtual TensorList jvp(TensorList tangents) = 0;
    virtual bool has_jvp() const noexcept = 0;

    void add_argument(const Tensor& t);
    void add_argument(const TensorList& list);
    template <class T>
    void add_argument(const T&) {
        is_tensor_.push_back(false);
    }
    // Connects the node to the arguments; true if the call is recorded.
    void connect();
    // Makes outputs of what forward returned.
    TensorList finish(const TensorList& raw);

private:
    TensorList inputs_;            // during apply
    std::vector<bool> is_tensor_;  // per argument, lists unrolled
    bool recorded_ = false;
};

// "user::Cube" -> "Cube", from the name that the compiler gives the type.
std::string function_name(const char* type_name);

template <class T>
class CppNode final : public CustomNode {
public:
    std::string name() const override { return function_name(typeid(T).name()) + "Backward"; }

    template <class... Args>
    static auto run(Args&&... args) {
        Ref<CppNode> node = Ref<CppNode>::adopt(new CppNode);
        (node->add_argument(args), ...);
        node->connect();
        AutogradContext* ctx = &node->context;
        auto raw = [&] {
            AutoGradMode no_grad(false);
            AutoForwardGradMode no_tangents(false);
            return T::forward(ctx, std::forward<Args>(args)...);
        }();
        if constexpr (std::same_as<decltype(raw), Tensor>)
            return std::move(node->finish({std::move(raw)})[0]);
        else
            return node->finish(TensorList(raw.begin(), raw.end()));
    }

private:
    TensorList backward(TensorList grads) override {
        auto out = T::backward(&context, std::move(grads));
        return TensorList(out.begin(), out.end());
    }
    static constexpr bool kHasJvp = requires(AutogradContext* ctx, TensorList tangents) { T::jvp(ctx, tangents); };
    bool has_jvp() const noexcept override { return kHasJvp; }
    TensorList jvp([[maybe_unused]] TensorList tangents) override {
        if constexpr (kHasJvp) {
            auto out = T::jvp(&context, std::move(tangents));
            return TensorList(out.begin(), out.end());
        } else {
            return {};
        }
    }
};

template <class T>
struct Function {
    // Runs T::forward and records T::backward.
    template <class... Args>
    static auto apply(Args&&... args) {
        return CppNode<T>::run(std::forward<Args>(args)...);
    }
};

// Its name in older descriptions.
template <class T>
using CustomFunction = Function<T>;

namespace autograd {
using wengert::AutogradContext;
using wengert::CustomFunction;
using wengert::Function;
}  // namespace autograd

}  // namespace wengert
