#include "python/frames.h"

#include <cstring>

#include "graph/node.h"

namespace wengert::python {
namespace {

std::string& package_folder() {
    static std::string folder;  // set when the package is imported
    return folder;
}

const char* text_or(PyObject* unicode, const char* otherwise) noexcept {
    const char* text = unicode ? PyUnicode_AsUTF8(unicode) : nullptr;
    if (text) return text;
    PyErr_Clear();
    return otherwise;
}

const char* file_of(PyObject* code) noexcept {
    return text_or(reinterpret_cast<PyCodeObject*>(code)->co_filename, "<unknown>");
}

bool is_ours(PyObject* code) noexcept {
    const std::string& folder = package_folder();
    return !folder.empty() && std::strncmp(file_of(code), folder.c_str(), folder.size()) == 0;
}

Frame frame_of(PyFrameObject* f) noexcept {
    return {PyRef(reinterpret_cast<PyObject*>(PyFrame_GetCode(f))), PyFrame_GetLasti(f)};
}

PyFrameObject* innermost() noexcept { return PyThreadState_GetFrame(PyThreadState_Get()); }
PyFrameObject* outer(PyFrameObject* f) noexcept {
    PyFrameObject* back = PyFrame_GetBack(f);
    Py_DECREF(f);
    return back;
}

std::shared_ptr<const Place> place_of_user() {
    GilGuard gil;
    return std::make_shared<FramePlace>(user_frame());
}

PyObject* set_package_folder(PyObject*, PyObject* folder) {
    const char* text = PyUnicode_AsUTF8(folder);
    if (!text) return nullptr;
    return guarded([&] {
        package_folder() = text;
        return Py_NewRef(Py_None);
    });
}

PyObject* set_debug_mode(PyObject*, PyObject* enabled) {
    int on = PyObject_IsTrue(enabled);
    if (on < 0) return nullptr;
    DebugMode::set_enabled(on);
    Py_RETURN_NONE;
}
PyObject* is_debug_mode(PyObject*, PyObject*) { return PyBool_FromLong(DebugMode::is_enabled()); }

PyObject* user_place(PyObject*, PyObject*) {
    return guarded([]() -> PyObject* {
        Frame frame = user_frame();
        if (PyErr_Occurred()) throw PyException();  // no memory for an object that stands for a frame
        if (!frame.code) Py_RETURN_NONE;
        return Py_BuildValue("(Oi)", frame.code.get(), frame.offset);
    });
}
PyObject* describe_place(PyObject*, PyObject* args) {
    return guarded([&]() -> PyObject* {
        PyObject* code;
        int offset;
        if (!PyArg_ParseTuple(args, "O!i", &PyCode_Type, &code, &offset)) return nullptr;
        return PyUnicode_FromString(Frame{PyRef::share(code), offset}.describe().c_str());
    });
}

PyMethodDef functions[] = {
    {"_set_package_folder", set_package_folder, METH_O, "Frames of files below it are not the user's."},
    {"_set_debug_mode", set_debug_mode, METH_O, nullptr},
    {"_is_debug_mode", is_debug_mode, METH_NOARGS, nullptr},
    {"_user_place", user_place, METH_NOARGS, "The user's running line, as (code, offset)."},
    {"_describe_place", describe_place, METH_VARARGS, "(code, offset) in words."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int Frame::line() const noexcept {
    return code ? PyCode_Addr2Line(reinterpret_cast<PyCodeObject*>(code.get()), offset) : 0;
}

std::string Frame::describe() const {
    if (!code) return "";
    const char* function = text_or(reinterpret_cast<PyCodeObject*>(code.get())->co_name, "?");
    return std::string(file_of(code.get())) + ":" + std::to_string(line()) + " in " + function;
}

bool is_package_frame(const Frame& frame) noexcept { return frame.code && is_ours(frame.code.get()); }

Frame user_frame() {
    PyFrameObject* f = innermost();
    if (!f) return {};
    Frame first = frame_of(f);
    if (!is_ours(first.code.get())) {
        Py_DECREF(f);
        return first;
    }
    while ((f = outer(f))) {
        Frame frame = frame_of(f);
        if (is_ours(frame.code.get())) continue;
        Py_DECREF(f);
        return frame;
    }
    return first;
}

std::vector<Frame> all_frames() {
    std::vector<Frame> frames;
    for (PyFrameObject* f = innermost(); f; f = outer(f)) frames.push_back(frame_of(f));
    return frames;
}

PyObject* frames_list(const std::vector<Frame>& frames) {
    PyRef list(checked(PyList_New(0)));
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
        auto* code = reinterpret_cast<PyCodeObject*>(frame->code.get());
        PyRef entry(checked(Py_BuildValue("(OiOO)", code->co_filename, frame->line(), code->co_name, Py_None)));
        checked(PyList_Append(list.get(), entry.get()));
    }
    return list.release();
}

FramePlace::~FramePlace() {
    if (!has_interpreter()) {
        (void)frame_.code.release();
        return;
    }
    GilGuard gil;
    frame_.code = PyRef();
}

std::string FramePlace::describe() const {
    GilGuard gil;
    return frame_.describe();
}

int add_frame_functions(PyObject* module) {
    current_place = place_of_user;
    return PyModule_AddFunctions(module, functions);
}

}  // namespace wengert::python
