// The thread-local state word.
//
// An operation asks one question before it takes its fast path: does anything about this thread or these operands ask
// for more than computing the values? The answer is one test:
//
//     (state.watch | ((a.flags | b.flags) & state.mask)) == 0
//
// `mask` selects the operand flags that matter on this thread: under no_grad the RequiresGrad bit is cleared from it.
// `watch` holds what asks for the slow path whatever the operands are: inference mode, and those who watch operations,
// such as a profiler (ops/watch.h). Anomaly mode and saved-tensor hooks do not: they matter only once something is
// recorded. The operand flags themselves live in TensorImpl.
#pragma once

#include <cstdint>

namespace wengert {

// Bits of TensorImpl::flags that an operation looks at.
enum TensorFlag : uint32_t {
    kRequiresGrad = 1u << 0,  // a leaf that asked for gradients, or a result with a grad_fn
    kHasTangent = 1u << 1,    // carries a forward-mode tangent at some level
    kIsView = 1u << 2,        // a differentiable view: its base decides as well
    kInference = 1u << 3,     // made in inference mode: no version counter
    kSubclass = 1u << 4,      // its Python type overrides operations
    kBatched = 1u << 5,       // stands for one sample of a batch (graph/batched.h)
    kOffHost = 1u << 6,       // the host cannot read it: memory of another device (tensor/backend.h), or none at all
    kDispatched = 1u << 7,    // has a mode of its own, which computes in the kernels' place (ops/watch.h)
    kReduced = 1u << 16,  // its elements are of a type that nobody computes in (tensor/dtype.h): a matter of kernels
};
// What an operation always asks about its operands; the rest depends on the modes of the thread (graph/grad_mode.h).
constexpr uint32_t kAlwaysAsked = kInference | kBatched | kDispatched;
// A gradient with one of these is for operations alone: nobody adds to its elements, or takes them over, as to those of
// plain memory.
constexpr uint32_t kNotPlain = kHasTangent | kBatched | kDispatched;

enum WatchFlag : uint32_t {
    kWatchObservers = 1u << 8,  // someone is told of every operation
    kWatchInference = 1u << 9,  // results become inference tensors
    kWatchModes = 1u << 10,     // someone computes in the kernels' place
    kWatchWrites = 1u << 11,    // someone wants to know before a tensor is written (ops/recording.h)
    kWatchAutocast = 1u << 12,  // rows with a policy cast their arguments (ops/autocast.h)
};

class OperationObserver;
class OperationMode;
struct OpenBatch;

struct ThreadState {
    uint32_t mask = kRequiresGrad | kHasTangent | kIsView | kAlwaysAsked | kOffHost;
    uint32_t watch = 0;
    bool grad_enabled = true;
    bool forward_grad_enabled = true;
    bool inference = false;
    bool multithreading = true;
    bool view_replay = false;
    bool grad_layout = true;                 // first gradients follow the layout contract (ops/accumulate_grad.h)
    bool dispatching = true;                 // the modes of tensors are asked (ops/watch.h)
    int32_t hidden_from = INT32_MAX;         // forward-mode levels from here up to that are not seen
    int32_t hidden_to = INT32_MAX;           // (LevelGuard, graph/forward_grad.h)
    uint64_t sequence_nr = 0;                // the next Node's (graph/node.h)
    uint64_t batch_level = 0;                // of the innermost `vmap`; levels only grow (tensor/storage.h)
    OperationObserver* observers = nullptr;  // the innermost of each, see ops/watch.h
    OperationMode* modes = nullptr;
    OpenBatch* open_batches = nullptr;  // the innermost, see graph/batch_level.h
};

extern constinit thread_local ThreadState state;

}  // namespace wengert
