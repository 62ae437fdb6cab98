#include <wengert/pybind11.h>

using wengert::Tensor;

PYBIND11_MODULE(WENGERT_EXTENSION_NAME, m) {
    wengert::python::use_in_pybind11("with_pybind11");
    m.def("twice", [](const Tensor& x) { return x + x; });
    m.def("same", [](Tensor x) { return x; });
    m.def("fails", [] { wengert::fail(wengert::ErrorKind::Index, "out of range"); });
    m.def("fails_otherwise", [] { throw std::invalid_argument("of pybind11"); });
}
