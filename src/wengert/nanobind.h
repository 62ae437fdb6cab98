// Tensors in modules that nanobind makes.
//
//     #include <wengert/nanobind.h>
//
//     NB_MODULE(example, m) {
//         wengert::python::use_in_nanobind("example");     // first: imports wengert, checks that it fits, translates errors
//         m.def("twice", [](const wengert::Tensor& x) { return x + x; });
//     }
#pragma once

#include "wengert/extension.h"
//
#include <nanobind/nanobind.h>

namespace nanobind::detail {

template <>
struct type_caster<wengert::Tensor> {
    NB_TYPE_CASTER(wengert::Tensor, const_name("wengert.Tensor"))

    bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
        if (!wengert::python::Converter<wengert::Tensor>::is(source.ptr())) return false;
        value = wengert::python::bridge().tensor_of(source.ptr());
        return true;
    }
    static handle from_cpp(const wengert::Tensor& t, rv_policy, cleanup_list*) noexcept {
        return wengert::python::Converter<wengert::Tensor>::to(t);
    }
};

}  // namespace nanobind::detail

namespace wengert::python {

inline void use_in_nanobind(const char* module_name) {
    try {
        import_wengert(module_name);
    } catch (const std::exception& e) {
        throw nanobind::import_error(e.what());
    }
    nanobind::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const std::exception& e) {
            if (!bridge().is_translated(e)) throw;
            bridge().set_error();
        }
    });
}

}  // namespace wengert::python
