// Function<T>: operations with a derivative written by a C++ user.
//
//     struct Square : Function<Square> {
//         static Tensor forward(AutogradContext* ctx, const Tensor& x) {
//             ctx->save_for_backward({x});
//             return ops::mul(x, x);
//         }
//         static TensorList backward(AutogradContext* ctx, TensorList grads) {
//             Tensor x = ctx->get_saved_variables()[0];
//             return {ops::mul(ops::mul(x, 2), grads[0])};
//         }
//     };
//     Tensor y = Square::apply(x);
//
// `forward` takes any arguments behind the context and returns a Tensor or a TensorList; it runs unrecorded. `backward`
// gets one gradient for each output and returns one for each argument of forward, undefined for those that are no
// tensors (trailing ones may be left out). A static `jvp(ctx, tangents)`, where there is one, gives forward mode. What
// happens to the outputs is shared with Python's Functions (custom_function.h).
#pragma once

#include <any>
#include <map>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "graph/grad_mode.h"
#include "ops/custom_function.h"
#include "ops/recording.h"

namespace wengert {

class FunctionNode;

// What forward tells its future node, and backward reads.
class AutogradContext {
public:
    AutogradContext() = default;
    AutogradContext(const AutogradContext&) = delete;

    void save_for_backward(TensorList tensors) { to_save_ = std::move(tensors); }  // the last call wins
    TensorList get_saved_variables() const;
    std::map<std::string, std::any> saved_data;  // anything else

    void mark_dirty(const TensorList& inputs);  // forward wrote to them, and returns them
    void mark_non_differentiable(const TensorList& outputs);
    void set_materialize_grads(bool value) noexcept { materialize_grads_ = value; }  // zeros instead of undefined
    // Whether the running pass wants the gradient of an argument of forward; before a pass, whether one may.
    bool needs_input_grad(size_t argument) const;

private:
    friend class FunctionNode;
    FunctionNode* node_ = nullptr;
    TensorList to_save_;
    TensorSet dirty_;
    TensorSet non_differentiable_;
    bool materialize_grads_ = true;
};

// The node of a Function, without the types of its arguments.
class FunctionNode : public Node {
public:
    FunctionNode() { context.node_ = this; }
    TensorList apply(TensorList&& grads) final;
    void release_variables() final;
    std::string name() const final;

    // Before and after the user's forward.
    void connect(TensorList inputs, std::vector<bool> is_tensor);
    TensorList finish(const TensorList& raw);

    AutogradContext context;

private:
    friend class AutogradContext;
    virtual TensorList backward(TensorList&& grads) = 0;
    virtual bool has_jvp() const noexcept = 0;
    virtual TensorList jvp(TensorList&& tangents) = 0;
    virtual const std::type_info& type() const noexcept = 0;
    size_t edge_of(size_t argument) const;

    TensorList inputs_;  // until `finish`
    std::vector<bool> is_tensor_;
    std::vector<SavedVariable> saved_;
    bool recorded_ = false;
    bool released_ = false;
};

template <class T>
class Function {
public:
    template <class... Args>
    static auto apply(Args&&... args) {
        auto node = make_node<FunctionNodeOf>();
        TensorList inputs;
        (append_tensor(inputs, args), ...);
        node->connect(std::move(inputs), {std::is_same_v<std::remove_cvref_t<Args>, Tensor>...});
        auto raw = [&] {
            AutoGradMode no_grad(false);
            AutoForwardGradMode no_forward(false);
            return T::forward(&node->context, std::forward<Args>(args)...);
        }();
        if constexpr (std::is_same_v<decltype(raw), Tensor>)
            return node->finish({raw})[0];
        else
            return node->finish(raw);
    }

private:
    template <class A>
    static void append_tensor(TensorList& list, const A& argument) {
        if constexpr (std::is_same_v<A, Tensor>) list.push_back(argument);
    }

    struct FunctionNodeOf final : FunctionNode {
        static constexpr bool kHasJvp = requires(AutogradContext* c, TensorList t) { T::jvp(c, std::move(t)); };
        TensorList backward(TensorList&& grads) override { return T::backward(&this->context, std::move(grads)); }
        bool has_jvp() const noexcept override { return kHasJvp; }
        TensorList jvp(TensorList&& tangents) override {
            if constexpr (kHasJvp)
                return T::jvp(&this->context, std::move(tangents));
            else
                return {};
        }
        const std::type_info& type() const noexcept override { return typeid(T); }
    };
};

}  // namespace wengert
