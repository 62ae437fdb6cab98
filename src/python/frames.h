// Frames of the running Python program: taken cheaply, as a code object and an offset, and described when someone asks.
#pragma once

#include <Python.h>

#include <string>
#include <vector>

#include "base/place.h"
#include "python/exceptions.h"

namespace wengert::python {

struct Frame {
    PyRef code;
    int offset = 0;
    int line() const noexcept;
    std::string describe() const;  // "model.py:12 in forward"
};

// All need the GIL.
bool is_package_frame(const Frame& frame) noexcept;
Frame user_frame();               // the innermost one outside of this package; without code if no Python runs
std::vector<Frame> all_frames();  // innermost first
PyObject* frames_list(
    const std::vector<Frame>&
        frames);  // [(filename, line, function, None)], outermost first, as module traceback takes them

class FramePlace final : public Place {
public:
    explicit FramePlace(Frame frame) noexcept : frame_(std::move(frame)) {}
    ~FramePlace() override;
    std::string describe() const override;

private:
    Frame frame_;
};

int add_frame_functions(PyObject* module);

}  // namespace wengert::python
