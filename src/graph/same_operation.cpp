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

}  // namespace

Repetitions repetitions_of(const Node& node, const Ref<Node>& from) {
    Repetitions found;
    const std::string numbers = numbers_of(node);
    std::vector<Node*> stack{from.get()};
    std::unordered_set<Node*> seen{from.get()};
    while (!stack.empty()) {
        Node* n = stack.back();
        stack.pop_back();
        if (n == &node || (is_same_row(*n, node) && std::ranges::equal(n->next_edges(), node.next_edges()) &&
                           numbers_of(*n) == numbers))
            found.edges.emplace_back(Ref<Node>::share(n), 0);
        else if (n->is_length())
            found.others = true;
        for (const Edge& edge : n->next_edges())
            if (edge.is_valid() && seen.insert(edge.function.get()).second) stack.push_back(edge.function.get());
    }
    return found;
}

}  // namespace wengert
