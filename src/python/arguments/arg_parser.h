// Arguments of bound functions: from METH_FASTCALL's vector to C++ values.
//
// A binding describes its signatures as constant tables and asks for them in order, as PyTorch does:
//
//     constexpr ArgSpec max_0[] = {{"self", ArgKind::Tensor}};
//     constexpr ArgSpec max_1[] = {{"self", ArgKind::Tensor}, {"dim", ArgKind::Int},
//                                  {"keepdim", ArgKind::Bool, kOptional}};
//     constexpr Signature max_signatures[] = {max_0, max_1};
//     constinit OverloadSet max_overloads{"max", max_signatures};
//
//     PyObject* tensor_max(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
//         return guarded([&]() -> PyObject* {
//             ParsedArgs p;
//             switch (max_overloads.parse(p, self, args, nargs, kwnames)) {
//                 case 0: return wrap(ops::max(p.tensor(0)));
//                 case 1: return wrap(ops::max_dim(p.tensor(0), p.integer(1), p.boolean(2, false)));
//             }
//             return p.finish();
//         });
//     }
//
// `self` is the bound tensor for methods and nullptr for functions (not the module). Parsing only checks the kinds of
// the arguments and leaves borrowed pointers in `slots`: no tuple or dict is made, nothing is converted. The accessors
// convert. A negative result means that `finish()` has the answer: nullptr with an exception set, or what a subclass's
// `__wengert_function__` / `__torch_function__` returned instead.
//
// Names: `self` is spelled `input` by callers of functions; NumPy's `axis`, `keepdims`, `x`, `x2` are accepted for
// `dim`, `keepdim`, `self`/`input`, `other`. A last positional parameter that is a list of ints or tensors also
// takes its elements one by one: `x.view(2, 3)`. Keywords that PyTorch has for what is no more, or is the default, are
// accepted with the value that says so: `size_average=None`, `out=None`, `as_tuple=False`.
#pragma once

#include <Python.h>

#include <optional>
#include <string_view>

#include "python/arguments/overrides.h"
#include "python/exceptions.h"
#include "python/objects/tensor_object.h"
#include "tensor/memory_format.h"
#include "tensor/operand.h"
#include "tensor/tensor_list.h"

namespace wengert {
class Generator;
}

namespace wengert::python {

enum class ArgKind : uint8_t {
    Tensor,
    Operand,     // a Tensor, a Python or NumPy number, or a NumPy array
    TensorList,  // list or tuple of Tensors
    IndexList,   // list or tuple of Tensors and Nones
    Int,         // int, NumPy integer, 0-dim integral tensor; not bool
    IntList,     // list or tuple of ints, or one int
    Float,
    FloatList,
    Bool,
    Scalar,  // bool, int, float, complex, NumPy scalar, 0-dim tensor
    String,
    DType,   // wengert.dtype, Python's bool/int/float/complex, NumPy dtype
    Device,  // "cpu" or wengert.device
    Generator,
    Layout,
    MemoryFormat,
    Object,  // anything
};

enum ArgFlag : uint8_t {
    kOptional = 1,  // may be left out
    kNullable = 2,  // may be None; accessors then answer as if it were left out
    kKeywordOnly = 4,
};

struct ArgSpec {
    const char* name;
    ArgKind kind;
    uint8_t flags = 0;
    uint8_t list_size = 0;  // int[2]: one int stands for two

    constexpr bool optional() const { return flags & kOptional; }
    constexpr bool nullable() const { return flags & kNullable; }
    constexpr bool keyword_only() const { return flags & kKeywordOnly; }
};

inline constexpr int kMaxArgs = 20;

struct Signature {
    const ArgSpec* args = nullptr;
    uint8_t count = 0;
    uint8_t positional = 0;  // parameters that are not keyword-only
    uint8_t required = 0;    // leading positional parameters without default
    int8_t self_index = 0;   // which parameter the bound self of a method is
    bool varargs = false;    // the last positional parameter collects
    bool required_keyword = false;

    constexpr Signature() = default;
    template <size_t N>
    constexpr Signature(const ArgSpec (&specs)[N], int self_index = 0)
        : args(specs), count(N), self_index(static_cast<int8_t>(self_index)) {
        static_assert(N <= kMaxArgs);
        for (const ArgSpec& a : specs) {
            if (a.keyword_only()) {
                required_keyword |= !a.optional();
                continue;
            }
            ++positional;
            if (!a.optional()) ++required;
        }
        if (positional > 0) {
            const ArgSpec& last = specs[positional - 1];
            varargs = last.kind == ArgKind::TensorList || (last.kind == ArgKind::IntList && !last.optional());
        }
    }
};

using TensorVector = SmallVector<Tensor, 4>;

class ParsedArgs {
public:
    ParsedArgs() noexcept {}
    ~ParsedArgs() {
        if (kept_) [[unlikely]]
            drop_kept();
    }
    ParsedArgs(const ParsedArgs&) = delete;

    // The borrowed argument; nullptr where it was left out or is None.
    PyObject* object(int i) const noexcept { return slots_[i]; }
    bool has(int i) const noexcept { return slots_[i] != nullptr; }

    const Tensor& tensor(int i) const noexcept { return slots_[i] ? tensor_of(slots_[i]) : undefined_tensor; }
    Operand operand(int i) {
        PyObject* o = slots_[i];
        if (Py_IS_TYPE(o, TensorType)) [[likely]]
            return Operand(tensor_of(o).impl());
        return convert_operand(o);
    }
    Operand operand(int i, const Scalar& otherwise) { return has(i) ? operand(i) : Operand(otherwise); }
    std::optional<Operand> optional_operand(int i) { return has(i) ? std::optional(operand(i)) : std::nullopt; }

    TensorVector tensors(int i) const;        // empty where left out
    TensorVector index_tensors(int i) const;  // None becomes an undefined tensor

    int64_t integer(int i) const;
    int64_t integer(int i, int64_t otherwise) const { return has(i) ? integer(i) : otherwise; }
    std::optional<int64_t> optional_integer(int i) const;
    Dims ints(int i) const;
    Dims ints(int i, std::initializer_list<int64_t> otherwise) const { return has(i) ? ints(i) : Dims(otherwise); }
    std::optional<Dims> optional_ints(int i) const;

    double floating(int i) const;
    double floating(int i, double otherwise) const { return has(i) ? floating(i) : otherwise; }
    std::optional<double> optional_floating(int i) const;
    SmallVector<double, 4> floats(int i) const;
    bool boolean(int i) const { return slots_[i] == Py_True || (slots_[i] != Py_False && convert_bool(slots_[i])); }
    bool boolean(int i, bool otherwise) const { return has(i) ? boolean(i) : otherwise; }
    std::optional<bool> optional_boolean(int i) const;

    Scalar scalar(int i) const;
    Scalar scalar(int i, const Scalar& otherwise) const { return has(i) ? scalar(i) : otherwise; }

    std::string_view string(int i) const;
    std::string_view string(int i, std::string_view otherwise) const { return has(i) ? string(i) : otherwise; }
    std::optional<std::string_view> optional_string(int i) const;

    DType dtype(int i) const;
    DType dtype(int i, DType otherwise) const { return has(i) ? dtype(i) : otherwise; }
    std::optional<DType> optional_dtype(int i) const;
    MemoryFormat memory_format(int i) const;
    std::optional<MemoryFormat> optional_memory_format(int i) const;
    std::optional<Device> device(int i) const;
    Generator* generator(int i) const;  // nullptr where left out: the default generator

    // What to return when `parse` gave a negative number.
    PyObject* finish() noexcept { return std::exchange(result_, nullptr); }

private:
    friend class OverloadSet;
    Operand convert_operand(PyObject* o);
    static bool convert_bool(PyObject* o);
    void drop_kept() noexcept;

    const ArgSpec* specs_ = nullptr;
    PyObject* const* rest_ = nullptr;  // elements given one by one
    Py_ssize_t rest_count_ = 0;
    PyObject* kept_ = nullptr;  // a list of converted arguments that must outlive the call
    PyObject* result_ = nullptr;
    PyObject* slots_[kMaxArgs];
};

class OverloadSet {
public:
    template <size_t N>
    constexpr OverloadSet(const char* name, const Signature (&signatures)[N], Batches batches = Batches::Override)
        : name_(name), signatures_(signatures), count_(N), batches_(batches) {}

    // The index of the first signature that takes these arguments.
    int parse(ParsedArgs& p, PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
        return kwnames == nullptr ? parse_positional(p, self, args, nargs) : parse_any(p, self, args, nargs, kwnames);
    }
    const char* name() const noexcept { return name_; }

private:
    int parse_positional(ParsedArgs& p, PyObject* self, PyObject* const* args, Py_ssize_t nargs);
    int parse_any(ParsedArgs& p, PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
    int no_match(ParsedArgs& p, PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
    int call_override(ParsedArgs& p, PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

    const char* name_;
    const Signature* signatures_;
    int count_;
    Batches batches_;
};

}  // namespace wengert::python
