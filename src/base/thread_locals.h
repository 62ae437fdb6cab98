// What a pass takes along when it continues on another thread: grad modes, saved-tensor hooks, stashed objects.
//
// Layers above register what they keep per thread (`carry`); ThreadState is carried by itself. The values are shared
// pointers, so that taking them along needs neither a copy nor the interpreter.
#pragma once

#include <memory>
#include <vector>

#include "base/state.h"

namespace wengert {

class ThreadLocals {
public:
    using Value = std::shared_ptr<const void>;
    // One kind of state: what this thread has; and puts another value in its place.
    struct Kind {
        Value (*get)();
        void (*set)(Value);
    };
    static void carry(Kind kind);  // while the library is being initialised

    // Of this thread, now.
    static ThreadLocals capture();

    // Gives this thread captured state, and at the end its own back.
    class Scope {
    public:
        explicit Scope(const ThreadLocals& captured);
        ~Scope();
        Scope(const Scope&) = delete;

    private:
        std::unique_ptr<ThreadLocals> previous_;
    };

private:
    void install() const;

    ThreadState state_;
    std::vector<Value> values_;
};

}  // namespace wengert
