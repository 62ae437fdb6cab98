// x[...] and x[...] = v, as NumPy and PyTorch have it.
//
// A negative step reads a reversed copy.
//
// An index is read from left to right. Ints, slices, None and Ellipsis make views (select, slice, unsqueeze); tensors,
// arrays, lists and masks are gathered in `gathers`, one entry for each dimension of the view, and applied at the end in one
// `index` or `index_put_`. Every step is a recorded operation, so that indexing is differentiable both ways.
//
// `x[i]` with an int comes first and goes straight to `select`.
//
// The target of `x[...] = v` is seen by the write alone, so it has no history of its own: where no tensors are among the
// items, the views up to it are made by kernels, and the last one is marked as a view of x if the write is recorded.
#include <algorithm>
#include <optional>

#include "generated/ops/indexing.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/reductions/reduce.h"
#include "kernels/shape/shape.h"
#include "ops/batching/batch.h"
#include "ops/recording.h"
#include "python/arguments/arg_parser.h"
#include "python/arguments/convert.h"
#include "python/arguments/overrides.h"
#include "python/exceptions.h"
#include "python/func/batch_objects.h"
#include "python/interop/numpy_interop.h"
#include "python/objects/tensor_factory.h"
#include "python/objects/tensor_type.h"

namespace wengert::python {
namespace {

[[noreturn, gnu::cold]] void index_of_scalar() {
    fail(ErrorKind::Index,
         "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to a number");
}

void check_index(const Tensor& t, int64_t dim, int64_t i) {
    if (t.dim() <= dim) [[unlikely]]  // perhaps because `__index__` has changed the shape
        index_of_scalar();
    int64_t size = t.sizes()[static_cast<size_t>(dim)];
    if (i < -size || i >= size) [[unlikely]]
        fail(ErrorKind::Index, "index ", i, " is out of bounds for dimension ", dim, " with size ", size);
}

Tensor select(const Tensor& t, int64_t dim, int64_t i) {
    check_index(t, dim, i);
    return ops::select(t, dim, i);
}

// Whether somebody may notice how a target in `t` is made.
bool shows_target(const Tensor& t) {
    if (state.watch != 0 || state.view_replay || (t.flags() & kNotPlain)) return true;
    const ViewInfo* view = view_info(t);
    if (!view) return false;
    const uint32_t base = view->base.flags();
    // Not of its base only: a view may be a leaf of its own, or stem from one.
    const bool requires_grad_itself = (t.flags() & kRequiresGrad) && !(base & kRequiresGrad);
    return view->creation != CreationMeta::Default || (base & kHasTangent) || requires_grad_itself;
}

// `region`, an alias of part of `t`, as something to write `value` to.
Tensor target_in(const Tensor& t, Tensor region, PyObject* value) {
    const bool seen = needs_slow_path(t) || (is_tensor(value) && needs_slow_path(tensor_of(value)));
    // `__index__` may have given `t` other memory.
    return seen && region.storage() == t.storage() ? as_view(t, std::move(region)) : region;
}

Tensor target_at(const Tensor& t, int64_t i, PyObject* value) {
    if (shows_target(t)) [[unlikely]]
        return select(t, 0, i);
    check_index(t, 0, i);
    return target_in(t, kernels::select(t, 0, i), value);
}

// What an index is read into.
class IndexReader {
public:
    enum class Purpose : uint8_t { Read, Write };
    IndexReader(const Tensor& self, PyObject* index, Purpose purpose)
        : view(self), purpose_(purpose), raw_(purpose == Purpose::Write && !shows_target(self)) {
        if (PyList_Check(index) && lists_items(index)) {
            const PyRef items(checked(PyList_AsTuple(index)));
            read_items(&PyTuple_GET_ITEM(items.get(), 0), PyTuple_GET_SIZE(items.get()));
        } else if (PyTuple_Check(index)) {
            read_items(&PyTuple_GET_ITEM(index, 0), PyTuple_GET_SIZE(index));
        } else {
            read_items(&index, 1);
        }
    }

    Tensor view;
    TensorVector gathers;  // undefined: that dimension is taken whole
    Dims reversed;         // dimensions of `view` in which a value to be written runs backwards
    bool gathering() const noexcept { return !gathers.empty(); }
    // Whether `view` was made without the graph's knowing.
    bool is_raw() const noexcept { return raw_; }

private:
    // Whether a list holds one item for each dimension: as PyTorch, one with what is neither a number nor a list does.
    static bool lists_items(PyObject* list) noexcept {
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
            PyObject* item = PyList_GET_ITEM(list, i);
            if (PySlice_Check(item) || item == Py_None || item == Py_Ellipsis || is_tensor(item)) return true;
        }
        return false;
    }

    void read_items(PyObject** items, Py_ssize_t n) {
        SmallVector<Tensor, 4> tensors(static_cast<size_t>(n));  // of the items that are arrays of some kind
        int64_t consumed = 0;
        for (Py_ssize_t i = 0; i < n; ++i) {
            Tensor& tensor = tensors[static_cast<size_t>(i)];
            consumed += consumes(items[i], tensor);
            if (is_bool(items[i]) || (tensor.defined() && (tensor.dim() > 0 || is_mask(tensor)))) raw_ = false;
        }
        check(consumed <= view.dim(), ErrorKind::Index, "too many indices for tensor of dimension ", view.dim());
        if (view.dim() == 0 && consumed > 0) index_of_scalar();
        whole_ = view.dim() - consumed;
        for (Py_ssize_t i = 0; i < n; ++i) read(items[i], tensors[static_cast<size_t>(i)]);
    }

    // How many dimensions an item uses up; converts arrays and lists.
    int64_t consumes(PyObject* item, Tensor& tensor) {
        if (item == Py_None || item == Py_Ellipsis || is_bool(item)) return 0;
        if (PyLong_Check(item) || PySlice_Check(item)) return 1;
        if (is_tensor(item))
            tensor = tensor_of(item);
        else if (is_numpy_scalar(item) && PyIndex_Check(item))
            return 1;
        else if (is_numpy_array(item))
            tensor = tensor_from_array(item, false);
        else if (PyList_Check(item) || PyTuple_Check(item))
            tensor = tensor_from_list(item);
        else if (PyIndex_Check(item))
            return 1;
        else
            fail(ErrorKind::Type,
                 "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
                 "indices (got ",
                 Py_TYPE(item)->tp_name, ")");
        check(is_integral(tensor.dtype()), ErrorKind::Index,
              "tensors used as indices must be long, int, byte or bool "
              "tensors, not ",
              tensor.dtype());
        return is_mask(tensor) ? tensor.dim() : 1;
    }

    static bool is_mask(const Tensor& t) noexcept { return t.dtype() == DType::Bool || t.dtype() == DType::UInt8; }

    static Tensor tensor_from_list(PyObject* list) {
        Tensor t = tensor_from_data(list, std::nullopt);
        return t.numel() == 0 ? kernels::to_dtype(t, DType::Int64) : t;  // [] selects nothing
    }

    void read(PyObject* item, const Tensor& tensor) {
        if (tensor.defined()) {
            read_tensor(tensor);
        } else if (PySlice_Check(item)) {
            read_slice(item);
        } else if (item == Py_Ellipsis) {
            dim_ += whole_;
            whole_ = 0;
        } else if (item == Py_None) {
            view = raw_ ? kernels::unsqueeze(view, dim_) : ops::unsqueeze(view, dim_);
            ++dim_;
        } else if (is_bool(item)) {
            gather_new_dimension(scalar_tensor(PyObject_IsTrue(item) == 1, DType::Bool));
        } else {
            read_int(to_int64(item));
        }
    }

    void read_int(int64_t i) {
        check_index(view, dim_, i);
        view = raw_ ? kernels::select(view, dim_, i) : ops::select(view, dim_, i);
    }

    void read_slice(PyObject* item) {
        Py_ssize_t start, stop, step;
        checked(PySlice_Unpack(item, &start, &stop, &step));
        if (step < 0) return read_reversed(start, stop, step);
        auto* s = reinterpret_cast<PySliceObject*>(item);
        bool whole = s->start == Py_None && s->stop == Py_None && step == 1;
        if (!whole)
            view = raw_ ? kernels::slice(view, dim_, start, stop, step) : ops::slice(view, dim_, start, stop, step);
        ++dim_;
    }

    // x[9:2:-3]: the same elements in forward order, then reversed. Strides here are not negative, so what is read is a
    // copy; what is written to is the view in forward order, and the value is reversed.
    void read_reversed(Py_ssize_t start, Py_ssize_t stop, Py_ssize_t step) {
        const Py_ssize_t count = PySlice_AdjustIndices(view.sizes()[static_cast<size_t>(dim_)], &start, &stop, step);
        const int64_t first = count > 0 ? start + (count - 1) * step : 0, end = count > 0 ? start + 1 : 0;
        const int64_t forward = step == PY_SSIZE_T_MIN ? PY_SSIZE_T_MAX : -step;
        view = raw_ ? kernels::slice(view, dim_, first, end, forward) : ops::slice(view, dim_, first, end, forward);
        if (purpose_ == Purpose::Write)
            reversed.push_back(dim_);
        else
            view = ops::flip(view, Dims{dim_});
        ++dim_;
    }

    void read_tensor(const Tensor& t) {
        if (t.dim() > 0) return gather(t, is_mask(t) ? t.dim() : 1);
        if (is_mask(t)) return gather_new_dimension(t);
        if (t.flags() & kBatched) return gather(t, 1);  // each sample has its own
        read_int(item_of(t).to<int64_t>());
    }

    // A 0-dimensional mask: a new dimension of size 1 or 0.
    void gather_new_dimension(const Tensor& mask) {
        view = ops::unsqueeze(view, dim_);
        gather(ops::to_dtype(ops::unsqueeze(mask, 0), DType::Bool), 1);
    }

    void gather(const Tensor& t, int64_t dims) {
        if (t.dtype() == DType::UInt8)
            warn(WarningKind::User,
                 "indexing with dtype wengert.uint8 is now deprecated, please use a dtype wengert.bool "
                 "instead.");
        for (; gathered_dims_ < dim_; ++gathered_dims_) gathers.push_back(Tensor());
        gathers.push_back(t.dtype() == DType::UInt8 ? ops::to_dtype(t, DType::Bool) : t);
        dim_ += dims;
        gathered_dims_ = dim_;
    }

    const Purpose purpose_;
    bool raw_;
    int64_t dim_ = 0;            // of `view`, where the next item applies
    int64_t whole_ = 0;          // dimensions that an Ellipsis stands for
    int64_t gathered_dims_ = 0;  // dimensions of `view` that `gathers` accounts for
};

// Anything in an index may override, in nested lists too.
bool index_overrides(PyObject* index) noexcept {
    if (PyLong_CheckExact(index)) [[likely]]
        return false;
    return PyTuple_Check(index) || PyList_Check(index) ? any_overrides(index, Batches::Run)
                                                       : overrides(index, Batches::Run);
}

PyObject* subscript(PyObject* self, PyObject* index) noexcept {
    if (overrides(self, Batches::Run) || index_overrides(index)) [[unlikely]] {
        PyObject* args[] = {self, index};
        return call_override("__getitem__", args, Batches::Run);
    }
    return guarded([&]() -> PyObject* {
        const Tensor& t = tensor_of(self);
        if (PyLong_CheckExact(index)) [[likely]]
            return wrap(select(t, 0, to_int64(index)));
        IndexReader reader(t, index, IndexReader::Purpose::Read);
        if (reader.gathering()) return wrap(ops::index(reader.view, reader.gathers));
        // Something new in any case: a write to y = x[...] must not rebind x.
        return wrap(reader.view.is_same(t) ? ops::alias(t) : std::move(reader.view));
    });
}

// PyTorch lets the value have leading dimensions of size 1 that the target lacks.
Tensor without_leading_ones(const Tensor& value, int64_t dim) {
    Tensor v = value;
    while (v.dim() > dim && v.sizes()[0] == 1) v = needs_slow_path(v) ? ops::select(v, 0, 0) : kernels::select(v, 0, 0);
    return v;
}

Tensor value_tensor(PyObject* value, const Tensor& self) {
    if (is_tensor(value)) return tensor_of(value);
    if (is_numpy_array(value)) return tensor_from_array(value, false);
    check(!PyUnicode_Check(value) && value != Py_None, ErrorKind::Type, "can't assign a ", Py_TYPE(value)->tp_name,
          " to a wengert.", legacy_type_name(self.dtype()));
    return tensor_from_data(value, self.dtype());
}

// A value for a target that some dimensions of the index run backwards through. Where it is broadcast, nothing changes.
Tensor reversed_value(const Tensor& value, const Tensor& target, const Dims& dims) {
    const int64_t missing = target.dim() - value.dim();
    Dims own;
    for (int64_t d : dims)
        if (d >= missing && value.sizes()[static_cast<size_t>(d - missing)] > 1) own.push_back(d - missing);
    return own.empty() ? value : ops::flip(value, own);
}

void assign_reversed(const IndexReader& reader, const Tensor& target, PyObject* value) {
    check(
        !reader.gathering(), ErrorKind::Index,
        "an assignment takes no negative steps beside tensors, lists or masks; write x.flip(dim)[...] of the indices");
    const Tensor v = without_leading_ones(value_tensor(value, target), target.dim());
    ops::copy_(target, reversed_value(v, target, reader.reversed));
}

void assign(const Tensor& target, PyObject* value) {
    if (is_tensor(value) && tensor_of(value).dim() <= target.dim()) [[likely]] {
        if (!tensor_of(value).is_same(target)) ops::copy_(target, tensor_of(value));
        return;
    }
    if (!is_tensor(value) && is_number(value)) {
        ops::fill_(target, to_scalar(value));
        return;
    }
    Tensor v = value_tensor(value, target);
    ops::copy_(target, without_leading_ones(v, target.dim()));
}

// A mask over the leading dimensions of `view`, with the dimensions of size 1 that let it broadcast; undefined if
// `gathers` is anything else.
Tensor leading_mask(const Tensor& view, const TensorVector& gathers) {
    if (gathers.size() != 1 || gathers[0].dtype() != DType::Bool) return {};
    const Tensor& mask = gathers[0];
    if (mask.dim() > view.dim() || !std::equal(mask.sizes().begin(), mask.sizes().end(), view.sizes().begin()))
        return {};
    Tensor fitting = mask;
    while (fitting.dim() < view.dim()) fitting = ops::unsqueeze(fitting, fitting.dim());
    return fitting;
}

void assign_gathered(const IndexReader& reader, PyObject* value) {
    if (is_number(value)) {
        if (Tensor mask = leading_mask(reader.view, reader.gathers); mask.defined()) {
            ops::masked_fill_(reader.view, mask, to_scalar(value));
            return;
        }
    }
    Tensor v =
        is_number(value) ? scalar_tensor(to_scalar(value), reader.view.dtype()) : value_tensor(value, reader.view);
    if (v.dtype() != reader.view.dtype()) v = ops::to_dtype(v, reader.view.dtype());
    ops::index_put_(reader.view, reader.gathers, without_leading_ones(v, reader.view.dim()), false);
}

bool is_sample(PyObject* o) noexcept { return Py_IS_TYPE(o, BatchedTensorType); }
bool names_batch(PyObject* index) noexcept {
    if (!PyTuple_Check(index)) return is_sample(index);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); ++i)
        if (is_sample(PyTuple_GET_ITEM(index, i))) return true;
    return false;
}

// A tensor that is written samples of a batch, or where each sample says, must be a batch itself.
void prepare_for_batch(const Tensor& self, PyObject* index, PyObject* value) {
    SmallVector<Tensor, 4> tensors;
    const auto note = [&](PyObject* o) {
        if (is_tensor(o)) tensors.push_back(tensor_of(o));
    };
    note(value);
    if (PyTuple_Check(index))
        for_each_item(index, note);
    else
        note(index);
    if (const auto batch = ops::batching::batch_of(TensorSpan(tensors)))
        ops::batching::ensure_batched(batch, self, tensors);
}

int assign_subscript(PyObject* self, PyObject* index, PyObject* value) noexcept {
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "Tensor does not support deleting items");
        return -1;
    }
    if (overrides(self, Batches::Run) || overrides(value, Batches::Run) || index_overrides(index)) [[unlikely]] {
        PyObject* args[] = {self, index, value};
        PyRef answer(call_override("__setitem__", args, Batches::Run));
        return answer ? 0 : -1;
    }
    return guarded_status([&] {
        const Tensor& t = tensor_of(self);
        if (names_batch(index) || is_sample(value)) [[unlikely]]
            prepare_for_batch(t, index, value);
        if (PyLong_CheckExact(index)) return assign(target_at(t, to_int64(index), value), value);
        IndexReader reader(t, index, IndexReader::Purpose::Write);
        if (reader.gathering() && reader.reversed.empty()) return assign_gathered(reader, value);
        const Tensor target = reader.is_raw() ? target_in(t, std::move(reader.view), value) : reader.view;
        if (reader.reversed.empty() || is_number(value)) return assign(target, value);
        assign_reversed(reader, target, value);
    });
}

Py_ssize_t length(PyObject* self) noexcept {
    const Tensor& t = tensor_of(self);
    if (t.dim() > 0) return t.sizes()[0];
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return -1;
}

PyObject* iterate(PyObject* self) noexcept {
    if (overrides(self, Batches::Run)) [[unlikely]] {
        PyObject* args[] = {self};
        return call_override("__iter__", args, Batches::Run);
    }
    return guarded([&] {
        const Tensor& t = tensor_of(self);
        check(t.dim() > 0, ErrorKind::Type, "iteration over a 0-d tensor");
        PyRef parts(checked(wrap(ops::unbind(t, 0))));
        return PyObject_GetIter(parts.get());
    });
}

int contains(PyObject* self, PyObject* element) noexcept {
    try {
        check(is_tensor(element) || is_number(element), ErrorKind::Runtime,
              "Tensor.__contains__ only supports Tensor or scalar, but you passed in a ", Py_TYPE(element)->tp_name,
              ".");
        PyRef equal(checked(PyObject_RichCompare(element, self, Py_EQ)));
        if (!is_tensor(equal.get())) return PyObject_IsTrue(equal.get());  // an overriding type's answer
        const Tensor& found = tensor_of(equal.get());
        return item_of(is_batched(found) ? found : kernels::any(found)).to<bool>();  // samples may disagree: an error
    } catch (...) {
        set_python_error();
        return -1;
    }
}

}  // namespace

PyType_Slot tensor_sequence_slots[] = {
    {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
    {Py_mp_ass_subscript, reinterpret_cast<void*>(assign_subscript)},
    {Py_mp_length, reinterpret_cast<void*>(length)},
    {Py_sq_contains, reinterpret_cast<void*>(contains)},
    {Py_tp_iter, reinterpret_cast<void*>(iterate)},
    {0, nullptr},
};

}  // namespace wengert::python
