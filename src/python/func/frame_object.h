// A frame, as frames.cpp and reverse.cpp see it.
#pragma once

#include <Python.h>

#include <optional>

#include "graph/batch_level.h"
#include "graph/grad_mode.h"

namespace wengert::python {

enum class Kind : uint8_t { Reverse, Forward, Vmap };

// What a thread was like before a frame began.
struct Before {
    bool grad = false, forward = false;
    std::optional<InferenceMode> no_inference;
    std::optional<int32_t> floor;  // where it was raised
};

struct FrameObject {
    PyObject_HEAD PyObject* around;  // the frame around it, while it runs
    PyObject* batches;               // the frames of the vmaps around it: a tuple, from when it began
    Ref<BatchLevel> batch;           // of a vmap
    OpenBatch opening;               // of its batch, while it runs
    std::optional<Before> before;    // while it runs
    int32_t dual_level;              // of forward mode
    Kind kind;
    bool within_reverse, was_recording;

    // Of reverse mode (reverse.cpp).
    bool tracked;       // whether somebody outside may differentiate results
    PyObject* aliases;  // lists of physical tensors: those of this frame, and with those of the frame it is inside
    PyObject* own;
    PyObject* known_for;  // outputs of which `known` tells whether somebody outside tracks them
    bool known;
};
inline FrameObject* as_frame(PyObject* o) noexcept { return reinterpret_cast<FrameObject*>(o); }

bool is_reverse_around() noexcept;  // whether a transform that is running differentiates in reverse mode

extern PyMethodDef reverse_methods[];
extern PyGetSetDef reverse_attributes[];
extern PyMethodDef forward_methods[];
extern PyGetSetDef forward_attributes[];
int reverse_init(PyObject* o, PyObject* args, PyObject* kwargs);

}  // namespace wengert::python
