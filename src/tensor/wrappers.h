// What happens to Python wrappers of objects of the core.
//
// Objects that own their wrapper may be about to die. Python can get hold of such a wrapper behind the owner's back, through a weak reference or the collector. Then the owner
// must not go: the Python layer turns ownership around, and the object lives on.
#pragma once

namespace wengert {

// Called with the wrapper of a dying object that owns it. True: the wrapper owns the object from now on.
inline bool (*tensor_wrapper_takes_over)(void* pyobj) noexcept = nullptr;
inline bool (*node_wrapper_takes_over)(void* pyobj) noexcept = nullptr;

// Called with the wrapper of a tensor that stands for a sample of a batch from now on (graph/batched.h).
inline void (*tensor_wrapper_becomes_batched)(void* pyobj) noexcept = nullptr;

}  // namespace wengert
