#include "graph/same_operation.h"

#include <cstring>
#include <unordered_set>

#include "graph/saved_variable.h"

namespace wengert {
namespace {

// The numbers that a node keeps, as bytes to be compared.
struct Numbers final : SavedValueVisitor {
    std::string bytes;

    template <class T>
    void add(char kind, const T& value) {
        bytes.push_back(kind);
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void none() override { bytes.push_back('-'); }
    void boolean(bool x) override { add('b', x); }
    void integer(int64_t x) override { add('i', x); }
    void real(double x) override { add('r', x); }
    void string(std::string_view x) override { bytes.append(x).push_back('\0'); }
    void scalar(const Scalar& x) override { add('s', x.to<complex128>()); }
    void integers(IntSpan xs) override {
        for (int64_t x : xs) add('i', x);
        bytes.push_back(')');
    }
    void dtype(DType x) override { add('d', x); }
};

std::string numbers_of(const Node& node) {
    Numbers numbers;
    auto* kept = const_cast<Node*>(&node);  // fields are read only
    for (const SavedField& field : node.saved_fields()) {
        if (field.value) field.value(kept, numbers);
        if (field.operand && !field.operand(kept)->is_tensor() && !field.operand(kept)->was_none())
            numbers.scalar(field.operand(kept)->scalar());
    }
    return numbers.bytes;
}

bool is_same_row(const Node& a, const Node& b) {
    return a.operation() && b.operation() && std::strcmp(a.operation(), b.operation()) == 0;
}

bool is_same_tensor(const Tensor& a, const Tensor& b) {
    return a.is_same(b) || (a.defined() && b.defined() && a.storage() == b.storage() && a.offset() == b.offset() &&
                            a.sizes() == b.sizes() && a.strides() == b.strides() && a.dtype() == b.dtype());
}
const SavedVariable* variable_of(Node* node, const SavedField& field) {
    if (field.variable) return field.variable(node);
    if (field.operand && field.operand(node)->is_tensor()) return &field.operand(node)->variable();
    return nullptr;
}

// Whether both did the same to what their edges lead to: all that they keep is the same, and there is nothing that they may
// not keep, since it has no gradient.
bool does_same(Node* a, Node* b) {
    if (!is_same_row(*a, *b) || a->next_edges().size() != b->next_edges().size() || numbers_of(*a) != numbers_of(*b))
        return false;
    for (const Edge& edge : a->next_edges())
        if (!edge.is_valid()) return false;
    for (const SavedField& field : a->saved_fields()) {
        if (field.list) return false;
        const SavedVariable *kept = variable_of(a, field), *other = variable_of(b, field);
        if (!kept != !other || (kept && !kept->is_output() && !is_same_tensor(kept->peek(), other->peek())))
            return false;
    }
    return true;
}

constexpr size_t kMostPairs = 256;

// Whether the same tensors went into both, by the same way.
bool has_same_arguments(const Node& a, const Node& b) {
    std::vector<std::pair<const Node*, const Node*>> pairs{{&a, &b}};
    for (size_t i = 0; i < pairs.size(); ++i) {
        const auto [one, other] = pairs[i];
        if (one->next_edges().size() != other->next_edges().size()) return false;
        for (size_t k = 0; k < one->next_edges().size(); ++k) {
            const Edge &x = one->next_edges()[k], &y = other->next_edges()[k];
            if (x == y) continue;
            if (!x.is_valid() || !y.is_valid() || x.input_nr != y.input_nr || pairs.size() == kMostPairs) return false;
            if (!does_same(x.function.get(), y.function.get())) return false;
            pairs.emplace_back(x.function.get(), y.function.get());
        }
    }
    return true;
}

bool repeats(const Node& n, const Node& node, const std::string& numbers) {
    return &n == &node || (is_same_row(n, node) && numbers_of(n) == numbers && has_same_arguments(n, node));
}

// f(node) for each node that `from` leads to, itself included; what is behind one for which it is false is reached by other
// ways or not at all.
template <class F>
void walk(const Ref<Node>& from, F&& f) {
    std::vector<Node*> stack{from.get()};
    std::unordered_set<Node*> seen{from.get()};
    while (!stack.empty()) {
        Node* n = stack.back();
        stack.pop_back();
        if (!f(n)) continue;
        for (const Edge& edge : n->next_edges())
            if (edge.is_valid() && seen.insert(edge.function.get()).second) stack.push_back(edge.function.get());
    }
}

}  // namespace

Repetitions repetitions_of(const Node& node, const Ref<Node>& from) {
    Repetitions found;
    const std::string numbers = numbers_of(node);
    walk(from, [&](Node* n) {
        if (repeats(*n, node, numbers))
            found.edges.emplace_back(Ref<Node>::share(n), 0);
        else if (n->is_length())
            found.others.emplace_back(Ref<Node>::share(n), 0);
        return true;
    });
    return found;
}

bool leads_past(const Node& node, const Ref<Node>& from) {
    const std::string numbers = numbers_of(node);
    bool found = false;
    walk(from, [&](Node* n) {
        found |= n->next_edges().empty();
        return !found && !repeats(*n, node, numbers);
    });
    return found;
}

}  // namespace wengert
