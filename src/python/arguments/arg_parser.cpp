#include "python/arguments/arg_parser.h"

#include <cstring>
#include <string>

#include "python/arguments/arg_display.h"
#include "python/arguments/convert.h"
#include "python/arguments/overrides.h"
#include "python/interop/numpy_interop.h"
#include "python/objects/device_object.h"
#include "python/objects/dtype_object.h"
#include "python/objects/generator_object.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

bool is_sequence(PyObject* o) noexcept { return PyTuple_Check(o) || PyList_Check(o); }

// What the check of one argument found besides yes or no.
struct Found {
    Batches batches;
    bool override = false;
};

bool accepts_tensor(PyObject* o, Found& found) noexcept {
    if (is_exact_tensor(o)) [[likely]]
        return true;
    if (overrides(o, found.batches)) {
        found.override = true;
        return true;
    }
    return PyType_IsSubtype(Py_TYPE(o), TensorType);
}

bool accepts_tensor_list(PyObject* o, bool none_allowed, Found& found) noexcept {
    if (!is_sequence(o)) return false;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) {
        PyObject* item = PySequence_Fast_GET_ITEM(o, i);
        if (is_exact_tensor(item)) [[likely]]
            continue;
        // To ask the type of anything else may run user code, which may change the list.
        const PyRef alive = PyRef::share(item);
        if (!accepts_tensor(item, found) && !(none_allowed && item == Py_None)) return false;
    }
    return true;
}

bool accepts_float_list(PyObject* o) noexcept {
    if (!is_sequence(o)) return is_real(o);
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    for (Py_ssize_t i = 0; i < n; ++i)
        if (!is_real(PySequence_Fast_GET_ITEM(o, i))) return false;
    return true;
}

bool accepts(const ArgSpec& spec, PyObject* o, Found& found) noexcept {
    if (o == Py_None && spec.nullable()) return true;
    switch (spec.kind) {
        case ArgKind::Tensor:
            return accepts_tensor(o, found);
        case ArgKind::Operand:
            return is_exact_tensor(o) || is_number(o) || accepts_tensor(o, found) || is_numpy_array(o);
        case ArgKind::TensorList:
            return accepts_tensor_list(o, false, found);
        case ArgKind::IndexList:
            return accepts_tensor_list(o, true, found);
        case ArgKind::Int:
            return is_int(o);
        case ArgKind::IntList:
            return is_sequence(o) ? is_dim_list(o) : is_int(o);
        case ArgKind::Float:
            return is_real(o);
        case ArgKind::FloatList:
            return accepts_float_list(o);
        case ArgKind::Bool:
            return is_bool(o);
        case ArgKind::Scalar:
            return is_number(o) || (is_scalar_tensor(o) && accepts_tensor(o, found));
        case ArgKind::String:
            return PyUnicode_Check(o);
        case ArgKind::DType:
            return is_dtype_like(o);
        case ArgKind::Device:
            return is_device_like(o);
        case ArgKind::Generator:
            return is_generator(o);
        case ArgKind::Layout:
            return is_strided_layout(o);
        case ArgKind::MemoryFormat:
        case ArgKind::Object:
            return true;
    }
    return false;
}

bool is_list_kind(ArgKind kind) noexcept { return kind == ArgKind::IntList || kind == ArgKind::TensorList; }

// Stands in a slot whose value is the rest of the positional arguments.
PyObject rest_marker_object;
PyObject* const rest_marker = &rest_marker_object;

bool same_name(const char* a, std::string_view b) noexcept { return b == a; }

// Whether a caller may spell the parameter `name` as `given`.
bool names(const char* name, std::string_view given) noexcept {
    if (same_name(name, given)) return true;
    static constexpr struct {
        const char* name;
        const char* alias;
    } aliases[] = {{"self", "input"},     {"self", "x"},      {"input", "self"},       {"input", "x"},
                   {"self", "a"},         {"dim", "axis"},    {"keepdim", "keepdims"}, {"other", "x2"},
                   {"dims", "axes"},      {"self", "tensor"}, {"dims", "axis"},        {"size", "shape"},
                   {"correction", "ddof"}};
    for (auto& [n, alias] : aliases)
        if (same_name(alias, given) && std::strcmp(n, name) == 0) return true;
    return false;
}

int find_parameter(const Signature& s, std::string_view given) noexcept {
    for (int i = 0; i < s.count; ++i)
        if (same_name(s.args[i].name, given)) return i;
    for (int i = 0; i < s.count; ++i)
        if (names(s.args[i].name, given)) return i;
    return -1;
}

// Whether a keyword that no parameter has asks for nothing: PyTorch's deprecated ones, `out=None` of a function that has none.
bool asks_nothing(std::string_view given, PyObject* value) noexcept {
    if (given == "as_tuple") return value == Py_False;
    if (given == "_stacklevel") return true;  // what PyTorch's own functions say to each other
    return value == Py_None && (given == "size_average" || given == "reduce" || given == "out");
}

std::string_view keyword(PyObject* kwnames, Py_ssize_t k) {
    Py_ssize_t n;
    const char* s = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(kwnames, k), &n);
    return s ? std::string_view(s, static_cast<size_t>(n)) : std::string_view();
}

// One attempt: fills `slots`, or says in `problem` (if asked) why the arguments do not fit.
struct Attempt {
    const Signature& s;
    PyObject* self;
    PyObject* const* args;
    Py_ssize_t nargs;
    PyObject* kwnames;
    PyObject** slots;
    Py_ssize_t rest_at = -1;  // args[rest_at:nargs] are the elements of the last positional parameter
    Found found;

    bool refuse(std::string* problem, std::string text) const {
        if (problem) *problem = std::move(text);
        return false;
    }

    bool match(std::string* problem) {
        std::fill_n(slots, s.count, nullptr);
        if (self) slots[s.self_index] = self;
        return place_positional(problem) && place_keywords(problem) && check_slots(problem);
    }

    bool place_positional(std::string* problem) {
        int p = 0;
        for (Py_ssize_t i = 0; i < nargs; ++i, ++p) {
            if (self && p == s.self_index) ++p;
            bool last = p + 1 + (self && p + 1 == s.self_index) >= s.positional;
            if (p < s.positional && last && s.varargs && is_list_kind(s.args[p].kind) &&
                (nargs - i > 1 || !is_sequence(args[i]))) {
                slots[p] = rest_marker;
                rest_at = i;
                return true;
            }
            if (p >= s.positional) {
                int most = s.positional - (self ? 1 : 0);
                return refuse(problem, "takes " + std::to_string(most) + " positional argument" +
                                           (most == 1 ? "" : "s") + " but " + std::to_string(nargs) +
                                           (nargs == 1 ? " was" : " were") + " given");
            }
            slots[p] = args[i];
        }
        return true;
    }

    bool place_keywords(std::string* problem) {
        Py_ssize_t n = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
        for (Py_ssize_t k = 0; k < n; ++k) {
            std::string_view given = keyword(kwnames, k);
            int p = find_parameter(s, given);
            if (p < 0 && asks_nothing(given, args[nargs + k])) continue;
            if (p < 0) return refuse(problem, "got an unexpected keyword argument '" + std::string(given) + "'");
            if (slots[p]) return refuse(problem, "got multiple values for argument '" + std::string(given) + "'");
            slots[p] = args[nargs + k];
        }
        return true;
    }

    bool check_slots(std::string* problem) {
        for (int i = 0; i < s.count; ++i) {
            const ArgSpec& a = s.args[i];
            PyObject*& slot = slots[i];
            if (!slot) {
                if (a.optional()) continue;
                return refuse(problem, std::string("missing required argument '") + display_name(a) + "'");
            }
            if (slot == rest_marker ? accepts_rest(a) : accepts(a, slot, found)) {
                if (slot == Py_None && a.nullable()) slot = nullptr;
                continue;
            }
            PyObject* bad = slot == rest_marker ? args[rest_at] : slot;
            return refuse(problem, std::string("argument '") + display_name(a) + "' must be " + display_kind(a) +
                                       ", not " + type_name(bad));
        }
        return true;
    }

    bool accepts_rest(const ArgSpec& a) {
        for (Py_ssize_t i = rest_at; i < nargs; ++i)
            if (a.kind == ArgKind::IntList ? !is_int(args[i]) : !accepts_tensor(args[i], found)) return false;
        return true;
    }
};

}  // namespace

// The path of most calls: no keywords, and the first signature fits.
int OverloadSet::parse_positional(ParsedArgs& p, PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
    const Signature& s = signatures_[0];
    int bound = self != nullptr;
    if (nargs + bound < s.required || nargs + bound > s.positional || s.varargs || s.required_keyword ||
        (bound && s.self_index != 0)) [[unlikely]]
        return parse_any(p, self, args, nargs, nullptr);
    Found found{batches_};
    if (bound) {
        p.slots_[0] = self;
        found.override = overrides(self, batches_);
    }
    for (Py_ssize_t i = 0; i < nargs; ++i) {
        if (!accepts(s.args[bound + i], args[i], found)) [[unlikely]]
            return parse_any(p, self, args, nargs, nullptr);
        p.slots_[bound + i] = args[i] == Py_None && s.args[bound + i].nullable() ? nullptr : args[i];
    }
    for (int i = static_cast<int>(nargs) + bound; i < s.count; ++i) p.slots_[i] = nullptr;
    p.specs_ = s.args;
    if (found.override) [[unlikely]]
        return call_override(p, self, args, nargs, nullptr);
    return 0;
}

int OverloadSet::parse_any(ParsedArgs& p, PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    for (int k = 0; k < count_; ++k) {
        Attempt attempt{signatures_[k], self, args, nargs, kwnames, p.slots_, -1, {batches_}};
        if (!attempt.match(nullptr)) continue;
        p.specs_ = signatures_[k].args;
        if (attempt.rest_at >= 0) {
            p.rest_ = args + attempt.rest_at;
            p.rest_count_ = nargs - attempt.rest_at;
        }
        if (attempt.found.override) [[unlikely]]
            return call_override(p, self, args, nargs, kwnames);
        return k;
    }
    return no_match(p, self, args, nargs, kwnames);
}

int OverloadSet::no_match(ParsedArgs& p, PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    const char* dot = std::strrchr(name_, '.');
    std::string message = std::string(dot ? dot + 1 : name_) + "()";
    if (count_ == 1) {
        std::string problem;
        Attempt attempt{signatures_[0], self, args, nargs, kwnames, p.slots_, -1, {batches_}};
        attempt.match(&problem);
        message += problem.starts_with("argument") ? ": " + problem : " " + problem;
        message += "; the signature is " + display_signature(signatures_[0], self != nullptr);
    } else {
        message += " received an invalid combination of arguments - got (";
        for (Py_ssize_t i = 0; i < nargs; ++i) message += (i ? ", " : "") + type_name(args[i]);
        for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); ++k)
            message += (nargs + k ? ", " : "") + std::string(keyword(kwnames, k)) + "=" + type_name(args[nargs + k]);
        message += "), but expected one of:";
        for (int k = 0; k < count_; ++k) message += "\n * " + display_signature(signatures_[k], self != nullptr);
    }
    PyErr_SetString(PyExc_TypeError, message.c_str());
    return -1;
}

int OverloadSet::call_override(ParsedArgs& p, PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                               PyObject* kwnames) {
    PyRef function(self ? PyObject_GetAttrString(reinterpret_cast<PyObject*>(TensorType), name_)
                        : registered_function(name_));
    Py_ssize_t bound = self != nullptr;
    PyRef tuple(PyTuple_New(nargs + bound));
    PyRef dict(PyDict_New());
    if (!function || !tuple || !dict) return -1;
    if (self) PyTuple_SET_ITEM(tuple.get(), 0, Py_NewRef(self));
    for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(tuple.get(), i + bound, Py_NewRef(args[i]));
    for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); ++k)
        if (PyDict_SetItem(dict.get(), PyTuple_GET_ITEM(kwnames, k), args[nargs + k]) < 0) return -1;
    p.result_ = python::call_override(function.get(), tuple.get(), dict.get(), batches_);
    return -1;
}

// --- Accessors
namespace {

// An item of a list that was checked; user code that ran since (a metaclass, a finaliser) may have changed the list.
const Tensor& tensor_item(PyObject* item) {
    check(is_tensor(item), ErrorKind::Type, "a list of tensors was changed while it was read: it holds a ",
          Py_TYPE(item)->tp_name, " now");
    return tensor_of(item);
}

}  // namespace

void ParsedArgs::drop_kept() noexcept { Py_CLEAR(kept_); }

Operand ParsedArgs::convert_operand(PyObject* o) {
    if (is_number(o)) return Operand(to_scalar(o));
    if (is_tensor(o)) return Operand(tensor_of(o).impl());
    PyRef array(checked(wrap(tensor_from_array(o))));  // wrapped, so that kept_ can hold it
    if (!kept_) kept_ = checked(PyList_New(0));
    checked(PyList_Append(kept_, array.get()));
    return Operand(tensor_of(array.get()).impl());
}

TensorVector ParsedArgs::tensors(int i) const {
    TensorVector out;
    if (slots_[i] == rest_marker)
        for (Py_ssize_t k = 0; k < rest_count_; ++k) out.push_back(tensor_of(rest_[k]));
    else if (slots_[i])
        for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(slots_[i]); ++k)
            out.push_back(tensor_item(PySequence_Fast_GET_ITEM(slots_[i], k)));
    return out;
}

TensorVector ParsedArgs::index_tensors(int i) const {
    TensorVector out;
    for (Py_ssize_t k = 0; slots_[i] && k < PySequence_Fast_GET_SIZE(slots_[i]); ++k) {
        PyObject* item = PySequence_Fast_GET_ITEM(slots_[i], k);
        out.push_back(item == Py_None ? undefined_tensor : tensor_item(item));
    }
    return out;
}

int64_t ParsedArgs::integer(int i) const { return to_int64(slots_[i]); }
std::optional<int64_t> ParsedArgs::optional_integer(int i) const {
    return has(i) ? std::optional(integer(i)) : std::nullopt;
}

Dims ParsedArgs::ints(int i) const {
    if (slots_[i] != rest_marker) return to_dims(slots_[i], specs_[i].list_size);
    if (rest_count_ == 1) return to_dims(rest_[0], specs_[i].list_size);
    Dims out;
    for (Py_ssize_t k = 0; k < rest_count_; ++k) out.push_back(to_int64(rest_[k]));
    return out;
}
std::optional<Dims> ParsedArgs::optional_ints(int i) const { return has(i) ? std::optional(ints(i)) : std::nullopt; }

double ParsedArgs::floating(int i) const { return to_double(slots_[i]); }
std::optional<double> ParsedArgs::optional_floating(int i) const {
    return has(i) ? std::optional(floating(i)) : std::nullopt;
}

SmallVector<double, 4> ParsedArgs::floats(int i) const {
    SmallVector<double, 4> out;
    PyObject* o = slots_[i];
    if (!o) return out;
    if (is_sequence(o))
        for_each_item(o, [&](PyObject* item) { out.push_back(to_double(item)); });
    else
        out.push_back(to_double(o));
    return out;
}

bool ParsedArgs::convert_bool(PyObject* o) {
    int truth = PyObject_IsTrue(o);
    checked(truth);
    return truth;
}
std::optional<bool> ParsedArgs::optional_boolean(int i) const {
    return has(i) ? std::optional(boolean(i)) : std::nullopt;
}

Scalar ParsedArgs::scalar(int i) const { return to_scalar(slots_[i]); }

std::string_view ParsedArgs::string(int i) const { return to_string_view(slots_[i]); }
std::optional<std::string_view> ParsedArgs::optional_string(int i) const {
    return has(i) ? std::optional(string(i)) : std::nullopt;
}

DType ParsedArgs::dtype(int i) const { return to_dtype(slots_[i]); }
std::optional<DType> ParsedArgs::optional_dtype(int i) const { return has(i) ? std::optional(dtype(i)) : std::nullopt; }

MemoryFormat ParsedArgs::memory_format(int i) const { return to_memory_format(slots_[i]); }
std::optional<MemoryFormat> ParsedArgs::optional_memory_format(int i) const {
    return has(i) ? std::optional(memory_format(i)) : std::nullopt;
}

std::optional<Device> ParsedArgs::device(int i) const {
    return has(i) ? std::optional(to_device(slots_[i])) : std::nullopt;
}
Generator* ParsedArgs::generator(int i) const { return has(i) ? generator_of(slots_[i]) : nullptr; }

}  // namespace wengert::python
