// Tensors in modules that pybind11 makes.
//
//     #include <wengert/pybind11.h>
//
//     PYBIND11_MODULE(example, m) {
//         wengert::python::use_in_pybind11("example");     // first: imports wengert, checks that it fits, translates errors
//         m.def("twice", [](const wengert::Tensor& x) { return x + x; });
//     }
#pragma once

#include "wengert/extension.h"
//
#include <pybind11/pybind11.h>

namespace pybind11::detail {

template <>
struct type_caster<wengert::Tensor> {
    PYBIND11_TYPE_CASTER(wengert::Tensor, const_name("wengert.Tensor"));

    bool load(handle source, bool) {
        if (!wengert::python::Converter<wengert::Tensor>::is(source.ptr())) return false;
        value = wengert::python::bridge().tensor_of(source.ptr());
        return true;
    }
    static handle cast(const wengert::Tensor& t, return_value_policy, handle) {
        PyObject* o = wengert::python::Converter<wengert::Tensor>::to(t);
        if (!o) throw error_already_set();
        return o;
    }
};

}  // namespace pybind11::detail

namespace wengert::python {

inline void use_in_pybind11(const char* module_name) {
    try {
        import_wengert(module_name);
    } catch (const std::exception& e) {
        throw pybind11::import_error(e.what());
    }
    pybind11::register_local_exception_translator([](std::exception_ptr thrown) {
        try {
            std::rethrow_exception(thrown);
        } catch (const std::exception& e) {
            if (!bridge().is_translated(e)) throw;
            bridge().set_error();
        }
    });
}

}  // namespace wengert::python
