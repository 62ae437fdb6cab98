// A module of Python made of functions of C++.
//
//     WENGERT_MODULE(shop, m) {
//         m.def("scaled", scaled, "Doc.");                  shop.scaled(x, 2.0)
//         Library library = m.library("shop");
//         library.def("scaled(Tensor x, float by) -> Tensor", scaled);      wengert.ops.shop.scaled(x, 2.0)
//     }
//
// A function is anything that can be called and has one signature: a pointer, a lambda without `auto`. Arguments are positional,
// converted as convert.h says; optional ones at the end may be left out. The name of the module must be that of the file.
#pragma once

#include <Python.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "wengert/convert.h"

namespace wengert::python {

// The types of a function's arguments and result.
template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
    template <template <class, class...> class To>
    using As = To<R, A...>;
};
template <class R, class... A>
struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...)> : Signature<R (*)(A...)> {};

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

// One function, as Python's calling convention wants it.
class Callable {
public:
    Callable(std::string name, std::string doc) : name_(std::move(name)), doc_(std::move(doc)) {}
    virtual ~Callable() = default;
    virtual PyObject* call(PyObject* const* args, Py_ssize_t n) = 0;  // may throw

    // The function of Python that owns it.
    static PyObject* to_python(std::unique_ptr<Callable> callable, PyObject* module_name) {
        Callable* c = callable.get();
        c->method_ = {c->name_.c_str(), reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(run)), METH_FASTCALL,
                      c->doc_.empty() ? nullptr : c->doc_.c_str()};
        const Owned owner(PyCapsule_New(
            c, nullptr, [](PyObject* o) { delete static_cast<Callable*>(PyCapsule_GetPointer(o, nullptr)); }));
        if (!owner) return nullptr;
        callable.release();
        return PyCFunction_NewEx(&c->method_, owner.get(), module_name);
    }

protected:
    // The message of an argument that cannot be converted says which one it is.
    template <class T>
    decltype(auto) argument(PyObject* const* args, Py_ssize_t n, size_t i) const {
        PyObject* o = static_cast<Py_ssize_t>(i) < n ? args[i] : Py_None;
        try {
            return Converter<T>::from(o);
        } catch (const Error& e) {
            fail(e.kind(), name_, "(): argument ", i + 1, " ", e.what());
        }
    }
    void check_count(Py_ssize_t n, size_t required, size_t most) const {
        const auto given = static_cast<size_t>(n);
        check(given >= required && given <= most, ErrorKind::Type, name_, "() takes ", required,
              most > required ? " to " + std::to_string(most) : "", most == 1 ? " argument" : " arguments", ", but ",
              given, given == 1 ? " was given" : " were given");
    }

private:
    static PyObject* run(PyObject* self, PyObject* const* args, Py_ssize_t n) noexcept {
        try {
            return static_cast<Callable*>(PyCapsule_GetPointer(self, nullptr))->call(args, n);
        } catch (...) {
            bridge().set_error();
            return nullptr;
        }
    }

    std::string name_, doc_;
    PyMethodDef method_{};
};

template <class F>
class Bound final : public Callable {
public:
    Bound(std::string name, std::string doc, F f) : Callable(std::move(name), std::move(doc)), f_(std::move(f)) {}
    PyObject* call(PyObject* const* args, Py_ssize_t n) override {
        using Caller = typename Signature<F>::template As<Call>;
        return Caller::call(*this, args, n, std::make_index_sequence<Caller::kCount>());
    }

private:
    template <class R, class... A>
    struct Call {
        static constexpr size_t kCount = sizeof...(A);
        // Those at the end that may be left out.
        static constexpr size_t required() {
            constexpr bool optional[] = {false, is_optional<std::decay_t<A>>...};
            size_t count = kCount;
            while (count > 0 && optional[count]) --count;
            return count;
        }
        template <size_t... I>
        static PyObject* call(Bound& bound, PyObject* const* args, Py_ssize_t n, std::index_sequence<I...>) {
            bound.check_count(n, required(), kCount);
            if constexpr (std::is_void_v<R>) {
                bound.f_(bound.template argument<std::decay_t<A>>(args, n, I)...);
                return Py_NewRef(Py_None);
            } else {
                return Converter<std::decay_t<R>>::to(
                    bound.f_(bound.template argument<std::decay_t<A>>(args, n, I)...));
            }
        }
    };

    F f_;
};

template <class F>
PyObject* to_python(std::string name, F&& f, std::string doc = "", PyObject* module_name = nullptr) {
    using Function = std::decay_t<F>;
    return Callable::to_python(std::make_unique<Bound<Function>>(std::move(name), std::move(doc), std::forward<F>(f)),
                               module_name);
}

// Operations of a namespace, which Python calls as wengert.ops.<namespace>.<name>: wengert.library.Library.
class Library {
public:
    explicit Library(const char* name) {
        const Owned module(checked(PyImport_ImportModule("wengert.library")));
        library_ = Owned(checked(PyObject_CallMethod(module.get(), "Library", "ss", name, "FRAGMENT")));
    }
    // An operation, of a schema in PyTorch's notation; and what it is for any arguments, with the derivatives of what it calls.
    void def(const char* schema) { (void)Owned(checked(PyObject_CallMethod(library_.get(), "define", "s", schema))); }
    template <class F>
    void def(const char* schema, F&& f) {
        const Owned name(checked(PyObject_CallMethod(library_.get(), "define", "s", schema)));
        impl(checked_text(name.get()), std::forward<F>(f), "CompositeImplicitAutograd");
    }
    // What it is at a station of its way: "CPU", "Meta", "Autograd", ... (wengert.library.Library.impl)
    template <class F>
    void impl(const char* name, F&& f, const char* key = "CompositeExplicitAutograd") {
        const Owned function(checked(to_python(name, std::forward<F>(f))));
        (void)Owned(checked(PyObject_CallMethod(library_.get(), "impl", "sOs", name, function.get(), key)));
    }

private:
    static const char* checked_text(PyObject* o) {
        const char* text = PyUnicode_AsUTF8(o);
        if (!text) bridge().throw_error();
        return text;
    }
    Owned library_;
};

class Module {
public:
    explicit Module(PyObject* module) noexcept : module_(module) {}
    PyObject* get() const noexcept { return module_; }

    template <class F>
    Module& def(const char* name, F&& f, const char* doc = "") {
        const Owned module_name(checked(PyModule_GetNameObject(module_)));
        const Owned function(checked(to_python(name, std::forward<F>(f), doc, module_name.get())));
        if (PyModule_AddObjectRef(module_, name, function.get()) < 0) bridge().throw_error();
        return *this;
    }
    Library library(const char* name) const { return Library(name); }

private:
    PyObject* module_;
};

// For WENGERT_MODULE. An extension of another build is refused by an ImportError.
inline PyObject* make_module(PyModuleDef& definition, void (*fill)(Module&)) noexcept {
    try {
        import_wengert(definition.m_name);
    } catch (const std::exception& e) {
        PyErr_SetString(PyExc_ImportError, e.what());
        return nullptr;
    }
    Owned made(PyModule_Create(&definition));
    if (!made) return nullptr;
    try {
        Module module(made.get());
        fill(module);
        return made.release();
    } catch (...) {
        bridge().set_error();
        return nullptr;
    }
}

}  // namespace wengert::python

#define WENGERT_CONCATENATED_(a, b) a##b
#define WENGERT_CONCATENATED(a, b) WENGERT_CONCATENATED_(a, b)

// Defines the module `name`; its body gets `m`, a wengert::python::Module&.
#define WENGERT_MODULE(name, m)                                                                                    \
    static void WENGERT_CONCATENATED(fill_, name)(::wengert::python::Module&);                                     \
    PyMODINIT_FUNC WENGERT_CONCATENATED(PyInit_, name)() {                                                         \
        static PyModuleDef definition = {                                                                          \
            PyModuleDef_HEAD_INIT, WENGERT_QUOTE(name), nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr}; \
        return ::wengert::python::make_module(definition, WENGERT_CONCATENATED(fill_, name));                      \
    }                                                                                                              \
    static void WENGERT_CONCATENATED(fill_, name)([[maybe_unused]] ::wengert::python::Module & m)
