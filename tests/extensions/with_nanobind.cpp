#include <wengert/nanobind.h>

#include <stdexcept>

using wengert::Tensor;

NB_MODULE(WENGERT_EXTENSION_NAME, m) {
    wengert::python::use_in_nanobind("with_nanobind");
    m.def("twice", [](const Tensor& x) { return x + x; });
    m.def("same", [](Tensor x) { return x; });
    m.def("fails", [] { wengert::fail(wengert::ErrorKind::Index, "out of range"); });
    m.def("fails_otherwise", [] { throw std::invalid_argument("of nanobind"); });
}
