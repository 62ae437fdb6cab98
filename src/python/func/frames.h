// The transforms that are running on a thread, as a stack of frames.
//
// Every transform of `wengert.func` is a block around the user's function: `grad`, `vjp` and their like differentiate in
// reverse mode, `jvp` in forward mode, `vmap` runs a batch. A frame is the block: entering and leaving are one step each,
// which no signal can divide. A frame knows those around it: which batches were open (`batches`, outermost first) and
// whether one differentiates in reverse mode, so that somebody may differentiate what is computed inside.
//
//     reverse    grad mode is on inside, inference mode off
//     forward    a new dual level; where forward mode was off, the levels around it stay invisible
//     vmap       its level is open, and memory made on this thread is marked with it
//
// What a backward pass computes again, later, finds the frames of its first time (`again`): as copies, since a frame of
// reverse mode may know the very graph that remembers it.
#pragma once

#include <Python.h>

namespace wengert::python {

int add_frame_objects(PyObject* module);

}  // namespace wengert::python
