#include "kernels/products/einsum.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <optional>
#include <string>

namespace wengert::kernels {
namespace {

using Labels = std::vector<int>;
constexpr int kEllipsis = 52;  // the label of the first dimension that "..." stands for, counted from the right

std::string label_name(int label) {
    if (label >= kEllipsis) return "...";
    return std::string(1, static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26));
}

int label_of(char c) { return c <= 'Z' ? c - 'A' : c - 'a' + 26; }

// The letters of one operand or of the output; `ellipsis` is where "..." stands, or none.
struct Subscripts {
    Labels letters;
    std::optional<size_t> ellipsis;
};

Subscripts parse_subscripts(std::string_view text, const std::string& where, size_t offset) {
    Subscripts out;
    for (size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == ' ') continue;
        if (c == '.') {
            check(text.substr(i, 3) == "...", ErrorKind::Runtime, "einsum(): found '.' for ", where,
                  " that is not part of any ellipsis");
            check(!out.ellipsis, ErrorKind::Runtime, "einsum(): found '.' for ", where,
                  " for which an ellipsis was already found");
            out.ellipsis = out.letters.size();
            i += 2;
            continue;
        }
        check(std::isalpha(static_cast<unsigned char>(c)) != 0, ErrorKind::Runtime,
              "einsum(): invalid subscript given at index ", offset + i,
              " in the equation string, subscripts must be in [a-zA-Z]");
        out.letters.push_back(label_of(c));
    }
    return out;
}

// Replaces "..." by `count` numbered labels; the last is always kEllipsis, so that they align from the right.
Labels expanded(const Subscripts& s, size_t count) {
    Labels out = s.letters;
    if (s.ellipsis)
        for (size_t i = 0; i < count; ++i)
            out.insert(out.begin() + static_cast<std::ptrdiff_t>(*s.ellipsis), kEllipsis + static_cast<int>(i));
    return out;
}

struct Equation {
    std::vector<Labels> operands;
    Labels output;
};

Labels parse_output(std::string_view text, size_t offset, const std::vector<Labels>& operands, size_t ellipsis_dims) {
    Labels output = expanded(parse_subscripts(text, "the output", offset), ellipsis_dims);
    for (size_t i = 0; i < output.size(); ++i) {
        check(std::find(output.begin(), output.begin() + static_cast<std::ptrdiff_t>(i), output[i]) ==
                  output.begin() + static_cast<std::ptrdiff_t>(i),
              ErrorKind::Runtime, "einsum(): output subscript ", label_name(output[i]),
              " appears more than once in the output");
        bool known = std::any_of(operands.begin(), operands.end(),
                                 [&](const Labels& o) { return std::find(o.begin(), o.end(), output[i]) != o.end(); });
        check(known, ErrorKind::Runtime, "einsum(): output subscript ", label_name(output[i]),
              " does not appear in the equation for any input operand");
    }
    return output;
}

// Without "->": the ellipsis, then every letter that appears once, in alphabetical order (upper case first).
Labels implicit_output(const std::vector<Labels>& operands, size_t ellipsis_dims) {
    std::map<int, int> count;
    for (const Labels& o : operands)
        for (int label : o) ++count[label];
    Labels output;
    for (size_t i = ellipsis_dims; i-- > 0;) output.push_back(kEllipsis + static_cast<int>(i));
    for (auto [label, times] : count)
        if (label < kEllipsis && times == 1) output.push_back(label);
    return output;
}

Equation parse(std::string_view equation, std::span<const Dims> shapes) {
    check(!shapes.empty(), ErrorKind::Runtime, "einsum(): must provide at least one operand");
    size_t arrow = equation.find("->");
    std::string_view inputs = equation.substr(0, arrow);
    std::vector<Subscripts> subscripts;
    for (size_t start = 0;;) {
        size_t comma = std::min(inputs.find(',', start), inputs.size());
        subscripts.push_back(parse_subscripts(inputs.substr(start, comma - start),
                                              "operand " + std::to_string(subscripts.size()), start));
        if (comma == inputs.size()) break;
        start = comma + 1;
    }
    check(subscripts.size() <= shapes.size(), ErrorKind::Runtime,
          "einsum(): fewer operands were provided than specified in the equation");
    check(subscripts.size() >= shapes.size(), ErrorKind::Runtime,
          "einsum(): more operands were provided than specified in the equation");

    Equation out;
    size_t ellipsis_dims = 0;
    for (size_t i = 0; i < shapes.size(); ++i) {
        size_t letters = subscripts[i].letters.size(), dims = shapes[i].size();
        check(subscripts[i].ellipsis ? letters <= dims : letters == dims, ErrorKind::Runtime,
              "einsum(): the number of subscripts in the equation (", letters, ") ",
              subscripts[i].ellipsis ? "is more than the number of dimensions ("
                                     : "does not match the number of dimensions (",
              dims, ") for operand ", i, subscripts[i].ellipsis ? "" : " and no ellipsis was given");
        if (subscripts[i].ellipsis) ellipsis_dims = std::max(ellipsis_dims, dims - letters);
        out.operands.push_back(expanded(subscripts[i], subscripts[i].ellipsis ? dims - letters : 0));
    }
    out.output = arrow == std::string_view::npos
                     ? implicit_output(out.operands, ellipsis_dims)
                     : parse_output(equation.substr(arrow + 2), arrow + 2, out.operands, ellipsis_dims);
    return out;
}

// --- Planning

bool contains(const Labels& labels, int label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
}

int64_t position(const Labels& labels, int label) {
    return std::find(labels.begin(), labels.end(), label) - labels.begin();
}

class Planner {
public:
    Planner(const Equation& equation, std::span<const Dims> shapes) : output_(equation.output) {
        find_sizes(equation, shapes);
        for (size_t i = 0; i < shapes.size(); ++i) prepare(equation.operands[i], shapes[i]);
        while (list_.size() > 1) contract_cheapest();
        finish();
    }
    EinsumPlan take() { return std::move(plan_); }

private:
    void find_sizes(const Equation& equation, std::span<const Dims> shapes) {
        for (size_t i = 0; i < shapes.size(); ++i) {
            std::map<int, int64_t> here;
            for (size_t d = 0; d < shapes[i].size(); ++d) {
                int label = equation.operands[i][d];
                int64_t size = shapes[i][d];
                auto [seen, fresh] = here.emplace(label, size);
                check(fresh || seen->second == size, ErrorKind::Runtime, "einsum(): subscript ", label_name(label),
                      " is repeated for operand ", i, " but the sizes don't match, ", size, " != ", seen->second);
                auto [known, first] = sizes_.emplace(label, size);
                if (first || known->second == size || size == 1) continue;
                check(known->second == 1, ErrorKind::Runtime, "einsum(): subscript ", label_name(label), " has size ",
                      size, " for operand ", i, " which does not broadcast with previously seen size ", known->second);
                known->second = size;
            }
        }
    }

    // Takes diagonals of repeated labels and drops size-1 dims whose label is larger elsewhere.
    void prepare(Labels labels, Dims sizes) {
        EinsumPlan::Operand step;
        for (size_t d = 0; d < labels.size();) {
            auto again = std::find(labels.begin() + static_cast<std::ptrdiff_t>(d) + 1, labels.end(), labels[d]);
            if (again == labels.end()) {
                ++d;
                continue;
            }
            auto second = static_cast<size_t>(again - labels.begin());
            step.diagonals.push_back({static_cast<int64_t>(d), static_cast<int64_t>(second)});
            labels.push_back(labels[d]);
            sizes.push_back(sizes[d]);
            for (size_t gone : {second, d}) {
                labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(gone));
                sizes.erase(gone);
            }
        }
        Labels kept;
        for (size_t d = 0; d < labels.size(); ++d) {
            if (sizes[d] == 1 && sizes_[labels[d]] != 1) {
                step.reshaped = true;
                continue;
            }
            kept.push_back(labels[d]);
            step.shape.push_back(sizes[d]);
        }
        plan_.operands.push_back(std::move(step));
        list_.push_back(std::move(kept));
    }

    int64_t product(const Labels& labels) {
        int64_t n = 1;
        for (int label : labels) n *= sizes_[label];
        return n;
    }

    // Whether `label` is needed after operands i and j have been combined.
    bool needed(int label, size_t i, size_t j) const {
        if (contains(output_, label)) return true;
        for (size_t k = 0; k < list_.size(); ++k)
            if (k != i && k != j && contains(list_[k], label)) return true;
        return false;
    }

    double cost(size_t i, size_t j) {
        double n = 1;
        Labels seen;
        for (size_t k : {i, j})
            for (int label : list_[k])
                if (!contains(seen, label)) {
                    seen.push_back(label);
                    n *= static_cast<double>(sizes_[label]);
                }
        return n;
    }

    void contract_cheapest() {
        size_t left = 0, right = 1;
        double best = std::numeric_limits<double>::infinity();
        for (size_t i = 0; i < list_.size(); ++i)
            for (size_t j = i + 1; j < list_.size(); ++j)
                if (double c = cost(i, j); c < best) {
                    best = c;
                    left = i;
                    right = j;
                }
        contract(left, right);
    }

    // Positions of the labels that only this operand has and nobody needs; they are removed from `labels`.
    Dims drop_private(Labels& labels, const Labels& other, size_t i, size_t j) {
        Dims dims;
        Labels kept;
        for (size_t d = 0; d < labels.size(); ++d) {
            if (!contains(other, labels[d]) && !needed(labels[d], i, j))
                dims.push_back(static_cast<int64_t>(d));
            else
                kept.push_back(labels[d]);
        }
        labels = kept;
        return dims;
    }

    void contract(size_t i, size_t j) {
        EinsumPlan::Step step{};
        step.left = i;
        step.right = j;
        Labels left = list_[i], right = list_[j];
        step.sum_left = drop_private(left, list_[j], i, j);
        step.sum_right = drop_private(right, list_[i], i, j);
        Labels batch, rows, cols, summed;
        for (int label : left) (!contains(right, label) ? rows : needed(label, i, j) ? batch : summed).push_back(label);
        for (int label : right)
            if (!contains(left, label)) cols.push_back(label);

        auto permutation = [](const Labels& labels, std::initializer_list<const Labels*> groups) {
            Dims dims;
            for (const Labels* group : groups)
                for (int label : *group) dims.push_back(position(labels, label));
            return dims;
        };
        step.permute_left = permutation(left, {&batch, &rows, &summed});
        step.permute_right = permutation(right, {&batch, &summed, &cols});
        int64_t b = product(batch), m = product(rows), k = product(summed), n = product(cols);
        if (summed.empty()) {
            step.product = EinsumPlan::Product::Multiply;
            step.shape_left = Dims{b, m, 1};
            step.shape_right = Dims{b, 1, n};
        } else if (batch.empty()) {
            step.product = EinsumPlan::Product::Mm;
            step.shape_left = Dims{m, k};
            step.shape_right = Dims{k, n};
        } else {
            step.product = EinsumPlan::Product::Bmm;
            step.shape_left = Dims{b, m, k};
            step.shape_right = Dims{b, k, n};
        }
        Labels result;
        for (const Labels* group : {&batch, &rows, &cols})
            for (int label : *group) {
                result.push_back(label);
                step.shape.push_back(sizes_[label]);
            }
        plan_.steps.push_back(std::move(step));
        list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(j));
        list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(i));
        list_.push_back(std::move(result));
    }

    void finish() {
        Labels kept;
        const Labels& labels = list_.front();
        for (size_t d = 0; d < labels.size(); ++d) {
            if (contains(output_, labels[d]))
                kept.push_back(labels[d]);
            else
                plan_.sum.push_back(static_cast<int64_t>(d));
        }
        for (int label : output_) plan_.permute.push_back(position(kept, label));
    }

    Labels output_;
    std::map<int, int64_t> sizes_;
    std::vector<Labels> list_;  // of the operands that are left
    EinsumPlan plan_;
};

}  // namespace

EinsumPlan plan_einsum(std::string_view equation, std::span<const Dims> shapes) {
    return Planner(parse(equation, shapes), shapes).take();
}

}  // namespace wengert::kernels
