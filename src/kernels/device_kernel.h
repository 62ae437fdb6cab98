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
// A kernel that returns a value, or `raises` for what it finds among the elements, makes the host wait. Where elements have
// no values (meta) the first is refused and the second finds nothing.
#pragma once

#include <array>
#include <optional>
#include <tuple>

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

struct Kernel;

// What a queued call keeps of an argument, and what the CPU's implementation gets of it.
template <class T>
struct Kept {
    using Type = std::decay_t<T>;
    static const Type& in_reach(const Type& kept, const Call::Reach&) { return kept; }
};
template <>
struct Kept<const Tensor&> {
    using Type = Tensor;
    static Tensor in_reach(const Tensor& t, const Call::Reach& reach) { return t.defined() ? reach(t) : t; }
};
template <>
struct Kept<Result> : Kept<const Tensor&> {};
template <>
struct Kept<const std::optional<Tensor>&> {
    using Type = std::optional<Tensor>;
    static Type in_reach(const Type& t, const Call::Reach& reach) { return t ? Type(reach(*t)) : t; }
};
template <>
struct Kept<const Operand&> {
    using Type = HeldOperand;
    static Type in_reach(const Type& o, const Call::Reach& reach) {
        const Operand operand = o;
        return operand.is_tensor() ? Type(reach(operand.tensor())) : o;
    }
};
template <>
struct Kept<IntSpan> {
    using Type = Dims;
    static const Type& in_reach(const Type& kept, const Call::Reach&) { return kept; }
};
template <>
struct Kept<TensorSpan> {
    using Type = SmallVector<Tensor, 4>;
    static Type in_reach(const Type& ts, const Call::Reach& reach) {
        Type out;
        for (const Tensor& t : ts) out.push_back(t.defined() ? reach(t) : t);
        return out;
    }
};
template <>
struct Kept<std::span<const Operand>> {
    using Type = HeldOperands;
    static Type in_reach(const Type& operands, const Call::Reach& reach) {
        SmallVector<HeldOperand, 4> held;
        SmallVector<Operand, 4> out;
        for (const Operand& o : std::span<const Operand>(operands)) {
            held.push_back(o.is_tensor() ? HeldOperand(reach(o.tensor())) : HeldOperand(o));
            out.push_back(held.back());
        }
        return HeldOperands(out);
    }
};

template <>
struct Kept<const Kernel&> {
    using Type = std::reference_wrapper<const Kernel>;  // kernels live as long as the process
    static const Type& in_reach(const Type& kept, const Call::Reach&) { return kept; }
};

// Builds a Call and finds the device that all its tensors are on.
class CallArguments {
public:
    explicit CallArguments(const char* kernel) { call_.kernel = kernel; }
    void add(const Result& t) {
        if (add_device(*t)) call_.results.push_back(*t);
    }
    void add(const Tensor& t) {
        if (add_device(t)) call_.operands.push_back(t);
    }
    void add(const Operand& o) {
        if (o.is_tensor()) add(o.tensor());
    }
    void add(TensorSpan ts) {
        for (const Tensor& t : ts) add(t);
    }
    void add(std::span<const Operand> operands) {
        for (const Operand& o : operands) add(o);
    }
    void add(const std::optional<Tensor>& t) {
        if (t) add(*t);
    }
    void add(const Kernel& kernel);  // of elements, by whose name the call is known
    template <class T>
    void add(const T&) {}

    Device device() const noexcept { return device_; }
    // The value that the call leaves behind, if it has one, is there on return if the host waits.
    void run(decltype(Call::on_cpu) on_cpu, bool host_waits, bool needs_values);

private:
    bool add_device(const Tensor& t);  // false where there is no tensor

    Call call_;
    Device device_;
    bool found_ = false;
};

template <class Signature>
class DeviceKernel;

template <class R, class... Args>
class DeviceKernel<R(Args...)> {
public:
    using Function = R (*)(Args...);

    constexpr DeviceKernel(const char* name, Function on_cpu, HostWaits waits = HostWaits::No) noexcept
        : name_(name), waits_(waits) {
        implementations_[0] = on_cpu;
    }
    DeviceKernel(const DeviceKernel&) = delete;

    R operator()(Args... args) const {
        if (!(is_anywhere_else(args) || ...)) [[likely]]
            return implementations_[0](args...);
        return run_elsewhere(args...);
    }

    // Of a backend that computes on its own. Returns true, so that a constant may be initialised with it.
    bool implement(DeviceType type, Function f) noexcept {
        implementations_[static_cast<size_t>(type)] = f;
        return true;
    }

private:
    static bool is_anywhere_else(const Tensor& t) noexcept { return is_off_host(t); }
    static bool is_anywhere_else(const Result& t) noexcept { return is_off_host(*t); }
    static bool is_anywhere_else(const Operand& o) noexcept { return is_off_host(o.flags()); }
    static bool is_anywhere_else(const std::optional<Tensor>& t) noexcept { return t && is_off_host(*t); }
    static bool is_anywhere_else(TensorSpan ts) noexcept {
        for (const Tensor& t : ts)
            if (is_off_host(t)) return true;
        return false;
    }
    static bool is_anywhere_else(std::span<const Operand> operands) noexcept {
        for (const Operand& o : operands)
            if (is_off_host(o.flags())) return true;
        return false;
    }
    template <class T>
    static bool is_anywhere_else(const T&) noexcept {
        return false;
    }

    [[gnu::cold, gnu::noinline]] R run_elsewhere(Args... args) const {
        CallArguments call(name_);
        (call.add(args), ...);
        if (Function own = implementations_[static_cast<size_t>(call.device().type)]) return own(args...);
        using Arguments = std::tuple<typename Kept<Args>::Type...>;
        auto in_reach = [kept = Arguments(args...)](const Call::Reach& reach) {
            return std::apply([&](const auto&... each) { return Arguments(Kept<Args>::in_reach(each, reach)...); },
                              kept);
        };
        auto apply = [f = implementations_[0]](const Arguments& arguments) {
            return std::apply([&](const auto&... each) { return f(each...); }, arguments);
        };
        if constexpr (std::is_void_v<R>) {
            call.run([=](const Call::Reach& reach) { return [apply, reached = in_reach(reach)] { apply(reached); }; },
                     waits_ == HostWaits::ForErrors, false);
        } else {
            R value{};
            call.run(
                [&value, in_reach, apply](const Call::Reach& reach) {
                    return [&value, apply, reached = in_reach(reach)] { value = apply(reached); };
                },
                true, true);
            return value;
        }
    }

    const char* name_;
    HostWaits waits_;
    std::array<Function, kDeviceTypes> implementations_{};
};

}  // namespace wengert::kernels
