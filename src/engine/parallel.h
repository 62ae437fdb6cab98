// Several threads for one pass.
//
// Each thread has its own ready nodes and works its way down from them, so that a chain stays where its data is warm; it
// gives nodes away only while another thread has none. A gradient that arrives at a node waits there until those have
// been added that one thread would have added before it (engine/plan.h): so the results are those of one thread, bit for
// bit. Nodes recorded during the pass (create_graph) get sequence numbers by the same rule.
//
// The caller is one of the threads. Helpers come from the pool and have left when `run` returns; the first error stops
// all of them. Python nodes and hooks take the interpreter's lock, as always.
//
// A pass does so only if somebody has set the number of threads: operations use all cores by themselves
// (base/threads/parallel_for.h), and hooks may expect the thread that called. While several nodes run, each runs on one
// thread; a node that nobody could run beside uses all of them.
#pragma once

#include "engine/engine.h"
#include "engine/plan.h"

namespace wengert {

// Whether a pass started now may use several threads: never one inside of such a pass, nor one that is watched
// (ops/watch.h).
bool may_run_parallel() noexcept;

// Runs the nodes of the pass if a plan finds it worthwhile; false if not.
bool try_run_parallel(const EngineHooks& hooks, GraphTask& task);

}  // namespace wengert
