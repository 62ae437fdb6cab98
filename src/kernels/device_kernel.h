// DeviceKernel: a kernel with one implementation for each device that has its own.
//
// A kernel is two things. What its results look like, dtype, shape, strides, device, and what is refused, is the same
// everywhere: a function of kernels/ says it, which allocates the results and then calls a DeviceKernel with them. How their
// elements come about is a function of a backend. The declaration stands beside the contract,
//
//     extern DeviceKernel<void(Result, const Tensor&, int64_t)> cumsum_kernel;         // kernels/reductions/scan_kernels.h
//
// and the CPU, which every build has, defines the object with its implementation:
//
//     constinit DeviceKernel<void(Result, const Tensor&, int64_t)> cumsum_kernel{"cumsum", cumsum};  // backends/cpu/...
//
// Another backend adds its own with `implement`, or leaves it to `Backend::run`, which gets the call as data (meta does
// nothing with it; a device whose memory the CPU's instructions reach queues the CPU's implementation).
//
// Parameters say what happens to them: a Result is filled, all other tensors are read, the rest is numbers and lists. All
// tensors are on one device, or the call is refused. The CPU's implementation sees tensors of the CPU alone, also where
// another device runs it (Call::on_cpu).
//
// Elements of a reduced type (tensor/dtype.h) are not computed with: the CPU's implementation gets the same numbers in the
// type that they are computed in, and what becomes of its results is rounded, or wraps. One that only moves elements, or converts them itself, says so
// (`Elements::Stored`) and gets them as they are.
//
// A kernel that returns a value, or `raises` for what it finds among the elements, makes the host wait. Where elements have
// no values (meta) the first is refused and the second finds nothing.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>

#include "tensor/backend.h"
#include "tensor/operand.h"
#include "tensor/tensor_list.h"

namespace wengert::kernels {

// A tensor that a kernel fills, or changes.
class Result {
public:
    Result(const Tensor& t) noexcept : tensor_(t) {}
    operator const Tensor&() const noexcept { return tensor_; }
    const Tensor& operator*() const noexcept { return tensor_; }
    const Tensor* operator->() const noexcept { return &tensor_; }

private:
    const Tensor& tensor_;
};

enum class HostWaits : uint8_t { No, ForErrors };
enum class Elements : uint8_t { Computed, Stored };

struct Kernel;

inline bool any_off_host(std::span<const Operand> operands) noexcept {
    for (const Operand& o : operands)
        if (is_off_host(o.flags())) return true;
    return false;
}

// A kind of argument: which tensors it names, what a queued call keeps of it, and what the CPU's implementation gets in its
// place, given what it gets in the place of tensors (`reach`: Call::Reach or InOpmath). Kinds that name tensors follow; all
// others are copied.
template <class T>
struct Argument {
    static_assert(!std::is_convertible_v<T, Tensor> && !std::is_convertible_v<T, TensorSpan>,
                  "a kind of argument that names tensors needs an Argument of its own");
    using Kept = std::decay_t<T>;
    static void for_each_tensor(const Kept&, auto&&) noexcept {}
    static const Kept& in_reach(const Kept& kept, auto&) { return kept; }
};
template <>
struct Argument<const Tensor&> {
    using Kept = Tensor;
    static void for_each_tensor(const Tensor& t, auto&& f) {
        if (t.defined()) f(t.impl());
    }
    static Tensor in_reach(const Tensor& t, auto& reach) { return t.defined() ? reach(t) : t; }
};
template <>
struct Argument<Result> : Argument<const Tensor&> {
    static Tensor in_reach(const Tensor& t, auto& reach) { return t.defined() ? reach(Result(t)) : t; }
};
template <>
struct Argument<const std::optional<Tensor>&> {
    using Kept = std::optional<Tensor>;
    static void for_each_tensor(const Kept& t, auto&& f) {
        if (t) Argument<const Tensor&>::for_each_tensor(*t, f);
    }
    static Kept in_reach(const Kept& t, auto& reach) { return t ? Kept(reach(*t)) : t; }
};
template <>
struct Argument<const Operand&> {
    using Kept = HeldOperand;
    static void for_each_tensor(const Operand& o, auto&& f) {
        if (o.is_tensor()) f(o.impl());
    }
    static Kept in_reach(const Operand& o, auto& reach) { return o.is_tensor() ? Kept(reach(o.tensor())) : Kept(o); }
};
template <>
struct Argument<TensorSpan> {
    using Kept = SmallVector<Tensor, 4>;
    static void for_each_tensor(TensorSpan ts, auto&& f) {
        for (const Tensor& t : ts) Argument<const Tensor&>::for_each_tensor(t, f);
    }
    static Kept in_reach(const Kept& ts, auto& reach) {
        Kept out;
        for (const Tensor& t : ts) out.push_back(Argument<const Tensor&>::in_reach(t, reach));
        return out;
    }
};
template <>
struct Argument<std::span<const Operand>> {
    using Kept = HeldOperands;
    static void for_each_tensor(std::span<const Operand> operands, auto&& f) {
        for (const Operand& o : operands) Argument<const Operand&>::for_each_tensor(o, f);
    }
    static Kept in_reach(std::span<const Operand> operands, auto& reach) {
        SmallVector<HeldOperand, 4> held;
        for (const Operand& o : operands) held.push_back(Argument<const Operand&>::in_reach(o, reach));
        return Kept(SmallVector<Operand, 4>(held.begin(), held.end()));
    }
};
template <>
struct Argument<IntSpan> {
    using Kept = Dims;
    static void for_each_tensor(IntSpan, auto&&) noexcept {}
    static const Kept& in_reach(const Kept& kept, auto&) { return kept; }
};
template <>
struct Argument<DType> {  // to compute in
    using Kept = DType;
    static void for_each_tensor(DType, auto&&) noexcept {}
    static DType in_reach(DType d, auto& reach) {
        if constexpr (requires { reach(d); }) return reach(d);
        return d;
    }
};
template <>
struct Argument<const Kernel&> {
    using Kept = std::reference_wrapper<const Kernel>;  // kernels live as long as the process
    static void for_each_tensor(const Kernel&, auto&&) noexcept {}
    static const Kept& in_reach(const Kept& kept, auto&) { return kept; }
};

// Raises where two tensors are on different devices. Each kernel does so for its own; whoever calls several, or one that has
// another name, says it first.
void check_one_device(TensorSpan tensors, const char* op);

// Builds a Call and finds the device that all its tensors are on.
class CallArguments {
public:
    explicit CallArguments(const char* kernel) { call_.kernel = kernel; }
    template <class T>
    void add(const auto& argument) {
        if constexpr (std::is_same_v<T, const Kernel&>) rename(argument);
        Argument<T>::for_each_tensor(argument, [&](TensorImpl* t) { add(t, std::is_same_v<T, Result>); });
    }

    Device device() const noexcept { return device_; }
    // The value that the call leaves behind, if it has one, is there on return if the host waits.
    void run(decltype(Call::on_cpu) on_cpu, bool host_waits, bool needs_values);

private:
    void add(TensorImpl* t, bool is_result);
    void rename(const Kernel& kernel);  // a kernel of elements, by whose name the call is known

    Call call_;
    Device device_;
    bool found_ = false;
};

// What the CPU's implementation gets in the place of tensors of reduced types.
class InOpmath {
public:
    Tensor operator()(const Tensor& t) { return computed(t, false); }
    Tensor operator()(Result t) { return computed(*t, true); }
    DType operator()(DType d) const noexcept { return opmath_dtype(d); }
    void round_results();  // what the implementation has made of them

private:
    struct Pair {
        Tensor stored, computed;
        bool is_result;
    };
    Tensor computed(const Tensor& t, bool is_result);

    SmallVector<Pair, 4> pairs_;
};

template <class Signature>
class DeviceKernel;

template <class R, class... Args>
class DeviceKernel<R(Args...)> {
public:
    using Function = R (*)(Args...);

    constexpr DeviceKernel(const char* name, Function on_cpu, HostWaits waits = HostWaits::No,
                           Elements elements = Elements::Computed) noexcept
        : name_(name), waits_(waits), elements_(elements) {
        implementations_[0] = on_cpu;
    }
    constexpr DeviceKernel(const char* name, Function on_cpu, Elements elements) noexcept
        : DeviceKernel(name, on_cpu, HostWaits::No, elements) {}
    DeviceKernel(const DeviceKernel&) = delete;

    R operator()(Args... args) const {
        const uint32_t flags = (flags_of<Args>(args) | ...);
        if (!(flags & (kOffHost | kReduced))) [[likely]]
            return implementations_[0](args...);
        return flags & kOffHost ? run_elsewhere(args...) : run_on_cpu(args...);
    }

    // Of a backend that computes on its own. Returns true, so that a constant may be initialised with it.
    bool implement(DeviceType type, Function f) noexcept {
        implementations_[static_cast<size_t>(type)] = f;
        return true;
    }

private:
    template <class T>
    static uint32_t flags_of(const auto& argument) noexcept {
        uint32_t flags = 0;
        Argument<T>::for_each_tensor(argument, [&](const TensorImpl* t) { flags |= t->flags; });
        return flags;
    }

    // On tensors of the CPU.
    [[gnu::cold, gnu::noinline]] R run_on_cpu(Args... args) const {
        const bool any_reduced = (flags_of<Args>(args) | ...) & kReduced;
        if (!any_reduced || elements_ == Elements::Stored) return implementations_[0](args...);
        InOpmath reach;
        const std::tuple<typename Argument<Args>::Kept...> computed{
            Argument<Args>::in_reach(typename Argument<Args>::Kept(args), reach)...};
        auto apply = [&] { return std::apply(implementations_[0], computed); };
        if constexpr (std::is_void_v<R>) {
            apply();
            reach.round_results();
        } else {
            R value = apply();
            reach.round_results();
            return value;
        }
    }

    [[gnu::cold, gnu::noinline]] R run_elsewhere(Args... args) const {
        CallArguments call(name_);
        (call.add<Args>(args), ...);
        if (Function own = implementations_[static_cast<size_t>(call.device().type)]) return own(args...);
        using Arguments = std::tuple<typename Argument<Args>::Kept...>;
        auto in_reach = [kept = Arguments(args...)](const Call::Reach& reach) {
            return std::apply([&](const auto&... each) { return Arguments(Argument<Args>::in_reach(each, reach)...); },
                              kept);
        };
        auto apply = [this](const Arguments& arguments) {
            return std::apply([this](const auto&... each) { return run_on_cpu(each...); }, arguments);
        };
        if constexpr (std::is_void_v<R>) {
            call.run([=](const Call::Reach& reach) { return [apply, reached = in_reach(reach)] { apply(reached); }; },
                     waits_ == HostWaits::ForErrors, false);
        } else {
            auto value = std::make_shared<R>();  // outlives the wait, should that be refused
            call.run(
                [=](const Call::Reach& reach) {
                    return [value, apply, reached = in_reach(reach)] { *value = apply(reached); };
                },
                true, true);
            return *value;
        }
    }

    const char* name_;
    HostWaits waits_;
    Elements elements_;
    std::array<Function, kDeviceTypes> implementations_{};
};

}  // namespace wengert::kernels
