#include "python/autograd/stash.h"

#include <map>
#include <memory>
#include <string>

#include "base/threads/thread_locals.h"
#include "python/arguments/overrides.h"
#include "python/exceptions.h"

namespace wengert::python {
namespace {

// Replaced, never changed: a pass takes it along by its pointer.
using Stash = std::map<std::string, std::shared_ptr<PyObject>>;
using Held = std::shared_ptr<const Stash>;
thread_local std::unique_ptr<Held> held;  // a pointer: see slab_lists in base/memory/slab.h

Held& stash() {
    if (!held) held = std::make_unique<Held>();
    return *held;
}

std::shared_ptr<PyObject> owned(PyObject* o) {
    return {Py_NewRef(o), [](PyObject* p) {
                if (!has_interpreter()) return;
                GilGuard gil;
                Py_DECREF(p);
            }};
}

PyObject* stash_object(PyObject*, PyObject* args) {
    return guarded([&]() -> PyObject* {
        const char* key;
        PyObject* object;
        if (!PyArg_ParseTuple(args, "sO:_stash_obj_in_tls", &key, &object)) return nullptr;
        auto changed = stash() ? std::make_shared<Stash>(*stash()) : std::make_shared<Stash>();
        (*changed)[key] = owned(object);
        std::shared_ptr<const Stash> kept = std::move(changed);
        stash().swap(kept);
        Py_RETURN_NONE;
    });
}

PyObject* get_object(PyObject*, PyObject* key) {
    return guarded([&]() -> PyObject* {
        const char* name = PyUnicode_AsUTF8(key);
        if (!name) return nullptr;
        auto found = stash() ? stash()->find(name) : Stash::const_iterator();
        check(stash() && found != stash()->end(), ErrorKind::Runtime, "_get_obj_in_tls: nothing is stashed as '", name,
              "' on this thread; call _stash_obj_in_tls first");
        return Py_NewRef(found->second.get());
    });
}

PyObject* is_key(PyObject*, PyObject* key) {
    return guarded([&]() -> PyObject* {
        const char* name = PyUnicode_AsUTF8(key);
        return name ? PyBool_FromLong(stash() && stash()->contains(name)) : nullptr;
    });
}

PyMethodDef functions[] = {
    {"_stash_obj_in_tls", stash_object, METH_VARARGS, "_stash_obj_in_tls(key, object): keeps it for this thread."},
    {"_get_obj_in_tls", get_object, METH_O, "What this thread has stashed as `key`."},
    {"_is_key_in_tls", is_key, METH_O, "Whether this thread has stashed something as `key`."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int add_stash_functions(PyObject* module) {
    ThreadLocals::carry({[]() -> ThreadLocals::Value { return stash(); },
                         [](ThreadLocals::Value value) {
                             auto given = std::static_pointer_cast<const Stash>(std::move(value));
                             stash().swap(given);
                         }});
    // Whether subclasses override operations is a flag of the thread as well.
    static const bool yes = true;
    static const std::shared_ptr<const void> set(&yes, [](const void*) {});
    ThreadLocals::carry({[]() -> ThreadLocals::Value { return overrides_disabled ? set : nullptr; },
                         [](ThreadLocals::Value value) { overrides_disabled = value != nullptr; }});
    return PyModule_AddFunctions(module, functions);
}

}  // namespace wengert::python
