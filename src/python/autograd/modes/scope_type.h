// Contexts for scopes that C++ has an object for: entered and left in one step each (mode_contexts.cpp).
//
// A Scope has a `name`, is made of the arguments of the type's constructor (and of the context itself, if it wants that)
// when the block begins, and destroyed when it ends; `leave()`, if there is one, is called before and may raise. The value
// of the block is `value()`.
#pragma once

#include <forward_list>
#include <type_traits>

#include "python/exceptions.h"
#include "python/registry.h"

namespace wengert::python {

// `__exit__`: the interpreter calls it without making a tuple, for which there may be no memory.
template <PyObject* (*leave)(PyObject*, PyObject*)>
PyMethodDef exit_method() noexcept {
    return fast_method(
        "__exit__", [](PyObject* self, PyObject* const*, Py_ssize_t, PyObject*) { return leave(self, nullptr); },
        nullptr);
}

template <class Scope>
struct ScopeType {
    struct Object {
        PyObject_HEAD PyObject* arguments;
        std::forward_list<Scope> entered;
    };
    static constexpr bool kMayBeLeftTwice = requires { Scope::kMayBeLeftTwice; };
    static Object* of(PyObject* o) noexcept { return reinterpret_cast<Object*>(o); }

    static PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
        PyObject* o = type->tp_alloc(type, 0);
        if (!o) return nullptr;
        of(o)->arguments = Py_NewRef(args);
        new (&of(o)->entered) std::forward_list<Scope>();
        return o;
    }
    static void dealloc(PyObject* o) {
        PyTypeObject* type = Py_TYPE(o);
        of(o)->entered.~forward_list();
        Py_DECREF(of(o)->arguments);
        type->tp_free(o);
        Py_DECREF(type);
    }
    static Scope& begin(Object* o) {
        if constexpr (std::is_constructible_v<Scope, PyObject*, PyObject*>)
            return o->entered.emplace_front(o->arguments, reinterpret_cast<PyObject*>(o));
        else
            return o->entered.emplace_front(o->arguments);
    }
    static PyObject* enter(PyObject* o, PyObject*) {
        return guarded([&] {
            PyObject* value = begin(of(o)).value();
            if (!value) of(o)->entered.pop_front();
            return value;
        });
    }
    static PyObject* exit(PyObject* o, PyObject*) {
        return guarded([&] {
            if (of(o)->entered.empty()) {
                check(kMayBeLeftTwice, ErrorKind::Runtime, "leaving a mode that was not entered");
                return Py_NewRef(Py_None);
            }
            if constexpr (requires(Scope& s) { s.leave(); }) of(o)->entered.front().leave();
            of(o)->entered.pop_front();
            return Py_NewRef(Py_None);
        });
    }
    static int add(PyObject* module) {
        static PyMethodDef methods[] = {
            {"__enter__", enter, METH_NOARGS, nullptr},
            exit_method<exit>(),
            {nullptr, nullptr, 0, nullptr},
        };
        static PyType_Slot slots[] = {
            {Py_tp_new, reinterpret_cast<void*>(make)},
            {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
            {Py_tp_methods, methods},
            {0, nullptr},
        };
        static PyType_Spec spec = {Scope::name, sizeof(Object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
        static PyTypeObject* type;
        return add_type(module, &spec, &type);
    }
};

}  // namespace wengert::python
