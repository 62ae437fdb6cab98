// Python objects that stand for objects of the core.
//
// A tensor or a node has one, made when Python first sees it, and owns it where it has to outlive Python's last
// reference (owns_pyobj). Then three things happen down here that the object must hear of, and this is how: its owner
// is about to die, has died, or has become something else. A core without Python has no such objects and registers
// nothing.
#pragma once

#include <string>

#include "base/api.h"

namespace wengert {

class Wrappers {
public:
    // The owner is about to die. Python can have got hold of the object behind its back, through a weak reference or the
    // collector: then ownership turns around (true), and the owner lives on.
    virtual bool tensor_takes_over(void* pyobj) const noexcept = 0;
    virtual bool node_takes_over(void* pyobj) const noexcept = 0;
    // It did not; the owner lets go of it.
    virtual void release_tensor(void* pyobj) const noexcept = 0;
    virtual void release_node(void* pyobj) const noexcept = 0;
    // The tensor stands for a sample of a batch from now on (graph/batched.h).
    virtual void tensor_becomes_batched(void* pyobj) const noexcept = 0;
    // The name of its type, for messages.
    virtual std::string type_name(void* pyobj) const = 0;

protected:
    ~Wrappers() = default;
};

WENGERT_API extern const Wrappers* wrappers;  // set by the Python layer before it makes the first one

}  // namespace wengert
