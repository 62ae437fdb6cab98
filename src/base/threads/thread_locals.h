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

    // One pass on this thread: what a node or its hooks change of the carried kinds ends with the node, or with the pass
    // however that ends. Costs nothing where nothing is changed.
    class Pass {
    public:
        Pass() noexcept;
        ~Pass();
        Pass(const Pass&) = delete;
        void undo() {
            if (before_) [[unlikely]]
                restore();
        }

    private:
        void restore();

        friend class ThreadLocals;
        std::unique_ptr<std::vector<Value>> before_;
        Pass* outer_;
    };
    // To be called before a carried kind changes.
    static void changing();

private:
    void install() const;

    ThreadState state_;
    std::vector<Value> values_;
};

}  // namespace wengert
