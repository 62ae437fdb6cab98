// SavedVariable: a tensor that a node keeps for its backward formula.
//
// Two cases. An *input* of the operation (or a leaf) is kept itself: it cannot own the node that saves it. An *output* of
// the very node that saves it would close a cycle node -> tensor -> node, so a detached alias is kept and `unpack` makes
// a new tensor with the node as its grad_fn. Unpacking an input gives the same object, unpacking an output a new one.
// The output of an in-place operation on a view has the node of that view behind a CopySlices as its grad_fn; nobody keeps
// that for us, so it is made again, and only where the backward pass is recorded.
//
// At unpack the elements must be what they were at save. The version counter and the storage's count of writes (which
// counts those through `.data` too) say quickly that nothing happened. If something did, the storage's log of written
// regions decides whether this tensor was touched (tensor/writes/write_log.h); for memory that is shared with other libraries it
// finds their writes as well.
//
// Saved-tensor hooks replace the data by whatever their pack function returned; the graph's metadata stays here, and so
// do tangents.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "graph/autograd_meta.h"
#include "tensor/operand.h"

namespace wengert {

// A pack/unpack pair around one saved tensor. The Python layer derives from it.
struct SavedVariableHooks {
    virtual ~SavedVariableHooks() = default;
    virtual void pack(const Tensor& t) = 0;
    virtual Tensor unpack() = 0;
};

// The innermost `saved_tensors_hooks` of this thread makes the hooks of each new SavedVariable.
using SavedHooksFactory = std::unique_ptr<SavedVariableHooks> (*)();
struct SavedTensorDefaultHooks {
    static bool active() noexcept { return factory != nullptr; }
    static constinit thread_local SavedHooksFactory factory;
};

class SavedVariable {
public:
    SavedVariable() noexcept = default;  // None
    SavedVariable(Tensor t, bool is_output, bool is_inplace_on_view = false) {
        save(std::move(t), is_output, is_inplace_on_view);
    }
    SavedVariable(SavedVariable&&) noexcept = default;
    SavedVariable& operator=(SavedVariable&&) noexcept = default;

    // What the constructor does, of one that is None.
    void save(Tensor t, bool is_output, bool is_inplace_on_view = false);
    // Likewise of an argument, the usual case.
    void save_argument(TensorImpl* t);
    // `saved_for` is the node that saved it; needed for outputs.
    Tensor unpack(Node* saved_for) const;
    void register_hooks(std::unique_ptr<SavedVariableHooks> hooks);
    void reset_data() noexcept;

    // Whether the elements cannot be had: never kept, or written since. Not whether they were released.
    bool is_lost() const { return none_ || (!is_evidently_intact() && was_written()); }

    bool was_none() const noexcept { return none_; }
    bool has_hooks() const noexcept { return extra_ && extra_->hooks; }
    SavedVariableHooks* hooks() const noexcept { return extra_ ? extra_->hooks.get() : nullptr; }
    const Edge* edge() const noexcept { return extra_ ? &extra_->edge : nullptr; }
    bool released() const noexcept { return released_; }
    // The tensor itself without any check; what the garbage collector walks.
    const Tensor& peek() const noexcept { return data_; }
    bool is_output() const noexcept { return is_output_; }
    uint32_t saved_output_nr() const noexcept { return output_nr_; }
    // Of an output, whose tangent is known only after it was saved.
    void carry_tangent(int32_t level, Tensor tangent);

private:
    [[gnu::noinline]] Tensor unpack_in_general(Node* saved_for) const;
    [[gnu::noinline]] bool was_written() const;
    // The hooks get `given`, an alias of `saved` or that itself.
    void pack_with(std::unique_ptr<SavedVariableHooks> hooks, const Tensor& given, const Tensor& saved, Edge edge);
    // No write anywhere in the storage, and no exchange.
    bool counts_agree(const Tensor& data) const noexcept {
        const TensorImpl& impl = *data.impl();
        return data.version() == version_ && impl.storage->writes == writes_ && impl.swaps == swaps_;
    }
    // So that no other thread may be changing this one, and nothing is asked of user code. Nearly always.
    bool is_evidently_intact() const noexcept {
        return !concurrent_counts && !extra_ && data_.defined() && counts_agree(data_) &&
               !data_.storage()->is_shared() && !is_detached(data_);
    }
    // By detach_(), after it was saved.
    bool is_detached(const Tensor& data) const noexcept {
        return original_ && !is_leaf_ && requires_grad_ && !meta_of(data)->grad_fn;
    }
    // What wrote it since, a sentence or nothing to say; nullopt if nothing did.
    std::optional<std::string> change_of(const Tensor& data) const;
    void check_unchanged(const Tensor& data, Node* saved_for) const;
    [[noreturn]] void raise_modified(const Tensor& data, Node* saved_for, const std::string& cause) const;

    // What few have.
    struct Extra : SlabAllocated {
        std::shared_ptr<SavedVariableHooks> hooks;
        // Where data_ is not the original: what unpack re-attaches.
        Edge edge;
        std::shared_ptr<ForwardGrad> tangents;
        void keep_tangent(int32_t level, Tensor tangent);
    };
    struct Discard {  // out of line: every node class destroys saved variables, and few of these have it
        void operator()(Extra* extra) const noexcept;
    };
    using OwnedExtra = std::unique_ptr<Extra, Discard>;

    // These two change under SharedStateLock(this): one pass may release what another one unpacks.
    Tensor data_;
    OwnedExtra extra_;
    uint32_t version_ = 0;
    uint32_t writes_ = 0;  // Storage::writes
    uint32_t swaps_ = 0;   // TensorImpl::swaps
    uint32_t output_nr_ = 0;
    bool none_ = true;
    bool is_output_ = false;
    bool is_inplace_on_view_ = false;
    bool original_ = false;
    bool is_leaf_ = false;
    bool requires_grad_ = false;
    bool released_ = false;
};

[[noreturn]] void raise_freed(const Node* node);

// A saved argument that is a tensor or a number.
class SavedOperand {
public:
    SavedOperand() noexcept {}
    SavedOperand(const SavedOperand&) = delete;
    ~SavedOperand() {
        if (is_tensor()) variable_.~SavedVariable();
    }
    void save(const Operand& o) {  // once
        if (o.is_tensor()) {
            new (&variable_) SavedVariable;
            kind_ = Kind::Tensor;
            variable_.save_argument(o.impl());
        } else {
            new (&scalar_) Scalar(o.scalar());
            kind_ = Kind::Number;
        }
    }
    bool was_none() const noexcept { return kind_ == Kind::None; }  // no formula needed it
    bool is_tensor() const noexcept { return kind_ == Kind::Tensor; }
    Scalar scalar() const noexcept { return kind_ == Kind::Number ? scalar_ : Scalar(); }
    SavedVariable& variable() noexcept { return is_tensor() ? variable_ : no_variable(); }  // of a number: None
    const SavedVariable& variable() const noexcept { return is_tensor() ? variable_ : no_variable(); }
    void reset_data() noexcept {
        if (is_tensor()) variable_.reset_data();
    }

private:
    enum class Kind : uint8_t { None, Tensor, Number };
    static SavedVariable& no_variable() noexcept;

    union {
        SavedVariable variable_;
        Scalar scalar_;
    };
    Kind kind_ = Kind::None;
};

// An unpacked operand that owns its tensor; converts to Operand where a formula needs one.
class OperandValue {
public:
    OperandValue(const SavedOperand& saved, Node* node)
        : tensor_(saved.is_tensor() ? saved.variable().unpack(node) : Tensor()), scalar_(saved.scalar()) {}
    operator Operand() const noexcept { return tensor_.defined() ? Operand(tensor_) : Operand(scalar_); }
    bool is_tensor() const noexcept { return tensor_.defined(); }
    const Tensor& tensor() const noexcept { return tensor_; }

private:
    Tensor tensor_;
    Scalar scalar_;
};

// One `_saved_<name>` getter of a node class, generated from the table. Exactly one accessor is set.
struct SavedField {
    const char* name;
    SavedVariable* (*variable)(Node*) = nullptr;
    SavedOperand* (*operand)(Node*) = nullptr;
    std::span<SavedVariable> (*list)(Node*) = nullptr;
    // Plain values: handed to the visitor in a type that the Python layer can convert.
    void (*value)(Node*, struct SavedValueVisitor&) = nullptr;
};

struct SavedValueVisitor {
    virtual ~SavedValueVisitor() = default;
    virtual void none() = 0;
    virtual void boolean(bool) = 0;
    virtual void integer(int64_t) = 0;
    virtual void real(double) = 0;
    virtual void string(std::string_view) = 0;
    virtual void scalar(const Scalar&) = 0;
    virtual void integers(IntSpan) = 0;
    virtual void dtype(DType) = 0;
};

}  // namespace wengert
