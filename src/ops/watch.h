// Watching operations: the one seat of everything that wants to see them.
//
// Two kinds of visitors sit on a thread, each a stack with the innermost in the ThreadState:
//
//   observers  are told when an operation or a node's body begins and ends: profilers, logs, checkpoint's note of who
//              saves a tensor;
//   modes      compute in the kernel's place: TorchDispatchMode and with it selective checkpoints. A mode stands *below*
//              recording: what it returns becomes the result, with the history that the kernel's result would have had.
//              While it computes, recording is off and the modes outside of it are the active ones.
//
// A mode may also sit on a tensor (`set_mode_of`): it computes where the tensor is an argument and no mode of the thread is
// active. Such tensors have the flag kDispatched and often no memory, only geometry; their elements are the mode's matter.
// Objects of Python classes with `__torch_dispatch__` are such tensors, and their class is the mode.
//
// Nobody of these costs anything while absent: bits in `state.watch`, or the flag, send an operation to its slow path, which
// it takes through `needs_slow_path` anyway; compositions and the like test the word once. There a WatchedCall tells the
// observers, and `computed` or `written_by_mode` asks the mode. An operation describes itself by a static OperationInfo, its
// arguments by tagged pointers: nothing is copied unless a visitor does.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "graph/grad_mode.h"
#include "graph/node.h"
#include "tensor/memory_format.h"
#include "tensor/operand.h"
#include "tensor/options.h"
#include "tensor/tensor_list.h"

namespace wengert {

class Generator;

struct OperationInfo {
    const char* name;      // "max"; "add_" of the in-place variant
    const char* overload;  // "dim", or "" for the default; "out"
    const char* row;       // its row in the table: "max_dim"; null of a custom Function, whose class is the name
};

enum class ArgumentKind : uint8_t {
    None,
    Tensor,
    Tensors,
    Operand,
    Scalar,
    Integer,
    Integers,
    Real,
    Reals,
    Boolean,
    String,
    DType,
    Device,
    MemoryFormat,
    Generator,
    Options
};

struct ArgumentRef {
    ArgumentKind kind = ArgumentKind::None;
    const void* value = nullptr;
    template <class T>
    const T& as() const noexcept {
        return *static_cast<const T*>(value);
    }
};

inline ArgumentRef refer(const Tensor& t) noexcept {
    return t.defined() ? ArgumentRef{ArgumentKind::Tensor, &t} : ArgumentRef{};
}
inline ArgumentRef refer(const TensorSpan& ts) noexcept { return {ArgumentKind::Tensors, &ts}; }
inline ArgumentRef refer(const Operand& o) noexcept { return {ArgumentKind::Operand, &o}; }
inline ArgumentRef refer(const Scalar& s) noexcept { return {ArgumentKind::Scalar, &s}; }
inline ArgumentRef refer(const int64_t& i) noexcept { return {ArgumentKind::Integer, &i}; }
inline ArgumentRef refer(const IntSpan& s) noexcept { return {ArgumentKind::Integers, &s}; }
inline ArgumentRef refer(const double& d) noexcept { return {ArgumentKind::Real, &d}; }
inline ArgumentRef refer(const std::span<const double>& s) noexcept { return {ArgumentKind::Reals, &s}; }
inline ArgumentRef refer(const bool& b) noexcept { return {ArgumentKind::Boolean, &b}; }
inline ArgumentRef refer(const std::string_view& s) noexcept { return {ArgumentKind::String, &s}; }
inline ArgumentRef refer(const DType& d) noexcept { return {ArgumentKind::DType, &d}; }
inline ArgumentRef refer(const Device& d) noexcept { return {ArgumentKind::Device, &d}; }
inline ArgumentRef refer(const MemoryFormat& f) noexcept { return {ArgumentKind::MemoryFormat, &f}; }
inline ArgumentRef refer(Generator* const& g) noexcept {
    return g ? ArgumentRef{ArgumentKind::Generator, g} : ArgumentRef{};
}
inline ArgumentRef refer(const TensorOptions& o) noexcept { return {ArgumentKind::Options, &o}; }

// Lists that are owned where an optional argument keeps them are seen as spans.
template <class T>
struct SpanOf {
    using type = T;
};
template <>
struct SpanOf<Dims> {
    using type = IntSpan;
};
template <>
struct SpanOf<std::vector<double>> {
    using type = std::span<const double>;
};
// What an ArgumentRef of an argument points to, and its keeper.
template <class T>
struct ArgumentKeeper {
    explicit ArgumentKeeper(const T& v) noexcept : ref(refer(v)) {}
    ArgumentRef ref;
};
template <class T>
struct ArgumentKeeper<std::optional<T>> {
    explicit ArgumentKeeper(const std::optional<T>& v) {
        if (!v) return;
        kept.emplace(*v);
        ref = refer(*kept);
    }
    ArgumentKeeper(const ArgumentKeeper&) = delete;
    std::optional<typename SpanOf<T>::type> kept;
    ArgumentRef ref;
};

struct OperationCall {
    const OperationInfo& operation;
    std::span<const ArgumentRef> arguments;
};

class OperationObserver {
public:
    virtual ~OperationObserver() = default;
    virtual void enter(const OperationCall& call) = 0;
    virtual void leave() noexcept = 0;
    // A pass reaches a node (`body` false), and runs its body (`body` true).
    virtual void enter_node(const Node& /*node*/, const TensorList& /*grads*/, bool /*body*/) {}
    virtual void leave_node() noexcept {}
    // A stretch of the program that the user gave a name; `token` tells it from others, also where they overlap.
    virtual void enter_stretch(const std::string& /*name*/, uint64_t /*token*/) {}
    virtual void leave_stretch(uint64_t /*token*/) noexcept {}
    virtual void memory(int64_t /*change*/) noexcept {}  // bytes taken or given back, while `memory_watch` is set

    void push() noexcept;  // on this thread
    void pop() noexcept;   // from wherever it sits in this thread's stack
    OperationObserver* outer() const noexcept { return outer_; }

private:
    OperationObserver* outer_ = nullptr;
};

class OperationMode {
public:
    virtual ~OperationMode() = default;
    // The results of the operation: tensors, one list for an operation that returns a list.
    virtual TensorList compute(const OperationCall& call) = 0;

    void push() noexcept;
    void pop() noexcept;
    OperationMode* outer() const noexcept { return outer_; }  // null of one that sits on tensors

private:
    OperationMode* outer_ = nullptr;
};

// From now on the mode, which lives as long as the process, computes in every operation on the tensor.
void set_mode_of(const Tensor& t, OperationMode* mode);

// A mode at work: the ones outside of it are active, and nothing is recorded.
class ModeAtWork {
public:
    explicit ModeAtWork(OperationMode* mode) noexcept;
    ~ModeAtWork();
    ModeAtWork(const ModeAtWork&) = delete;

private:
    OperationMode* mode_;
    AutoGradMode no_grad_;
    AutoForwardGradMode no_forward_;
};

// --- In operations
template <class Use, class... Args>
decltype(auto) with_references(Use&& use, const Args&... args) {
    return [&](const auto&... keepers) -> decltype(auto) {
        const ArgumentRef refs[sizeof...(Args) + 1] = {keepers.ref...};
        return use(std::span<const ArgumentRef>(refs, sizeof...(Args)));
    }(ArgumentKeeper<Args>(args)...);
}

// Tells the observers of one operation.
class WatchedCall {
public:
    template <class... Args>
    explicit WatchedCall(const OperationInfo& operation, const Args&... args) {
        if (state.watch & kWatchObservers) [[unlikely]]
            with_references([&](auto refs) { begin({operation, refs}); }, args...);
    }
    ~WatchedCall() {
        if (told_) [[unlikely]]
            end();
    }
    WatchedCall(const WatchedCall&) = delete;

private:
    void begin(const OperationCall& call);
    void end() noexcept;
    bool told_ = false;
};

inline uint32_t dispatched(const Tensor& t) noexcept { return t.defined() ? t.flags() & kDispatched : 0; }
inline uint32_t dispatched(const Operand& o) noexcept { return o.flags() & kDispatched; }
inline uint32_t dispatched(const TensorSpan& ts) noexcept {
    uint32_t any = 0;
    for (const Tensor& t : ts) any |= dispatched(t);
    return any;
}
template <class T>
uint32_t dispatched(const T& other) noexcept {
    if constexpr (std::is_convertible_v<T, TensorSpan>)
        return dispatched(TensorSpan(other));
    else
        return 0;  // it names no tensor
}
template <class T>
uint32_t dispatched(const std::optional<T>& o) noexcept {
    return o ? dispatched(*o) : 0;
}
// Whether a mode computes in the kernel's place.
template <class... Args>
bool has_mode(const Args&... args) noexcept {
    return ((state.watch & kWatchModes) | ((dispatched(args) | ... | 0u) & state.mask)) != 0;
}
// The one that does: the innermost of the thread, else that of the first argument that has one.
OperationMode& mode_for(const OperationCall& call);
TensorList compute_by_mode(const OperationCall& call);
// Of an operation that writes to its argument i. A tensor with a mode is written as well as what the mode has written.
void write_by_mode(const OperationCall& call, size_t i);

Scalar number_of(const Tensor& result, const OperationInfo& operation);
Tensor& nth_result(TensorList& results, size_t i, size_t expected, const OperationInfo& operation);

template <class R>
struct ResultsFrom {  // plain values are not a mode's business
    static constexpr bool possible = false;
};
template <>
struct ResultsFrom<Tensor> {
    static constexpr bool possible = true;
    static Tensor take(TensorList&& results, const OperationInfo& op) { return nth_result(results, 0, 1, op); }
};
template <>
struct ResultsFrom<Scalar> {  // a number comes as a tensor without dimensions
    static constexpr bool possible = true;
    static Scalar take(TensorList&& results, const OperationInfo& op) {
        return number_of(nth_result(results, 0, 1, op), op);
    }
};
template <>
struct ResultsFrom<TensorList> {
    static constexpr bool possible = true;
    static TensorList take(TensorList&& results, const OperationInfo&) { return std::move(results); }
};
template <class... T>
    requires(std::is_same_v<T, Tensor> && ...)
struct ResultsFrom<std::tuple<T...>> {
    static constexpr bool possible = true;
    static std::tuple<T...> take(TensorList&& results, const OperationInfo& op) {
        return [&]<size_t... I>(std::index_sequence<I...>) {
            return std::tuple<T...>{nth_result(results, I, sizeof...(T), op)...};
        }(std::index_sequence_for<T...>{});
    }
};

// The kernel's results, or those of the mode in its place.
template <class Kernel, class... Args>
auto computed(const OperationInfo& operation, Kernel&& kernel, const Args&... args) -> decltype(kernel()) {
    using Results = ResultsFrom<decltype(kernel())>;
    if constexpr (Results::possible) {
        if (has_mode(args...)) [[unlikely]]
            return Results::take(
                with_references([&](auto refs) { return compute_by_mode({operation, refs}); }, args...), operation);
    }
    return kernel();
}
// Of an operation that writes to its first argument (`out`: its last): true if a mode has done so.
template <class... Args>
bool written_by_mode(const OperationInfo& operation, const Args&... args) {
    if (!has_mode(args...)) [[likely]]
        return false;
    with_references([&](auto refs) { write_by_mode({operation, refs}, 0); }, args...);
    return true;
}
template <class... Args>
bool out_written_by_mode(const OperationInfo& operation, const Args&... args) {
    if (!has_mode(args...)) [[likely]]
        return false;
    with_references([&](auto refs) { write_by_mode({operation, refs}, sizeof...(Args) - 1); }, args...);
    return true;
}

// --- In the engine
class WatchedNode {
public:
    WatchedNode(const Node& node, const TensorList& grads, bool body) {
        if (state.watch & kWatchObservers) [[unlikely]]
            begin(node, grads, body);
    }
    ~WatchedNode() {
        if (told_) [[unlikely]]
            end();
    }
    WatchedNode(const WatchedNode&) = delete;

private:
    void begin(const Node& node, const TensorList& grads, bool body);
    void end() noexcept;
    bool told_ = false;
};

}  // namespace wengert
