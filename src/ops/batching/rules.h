// Rules that arrange arguments: the operation itself then runs one level down.
//
// A rule is made of the batch, the numbers that the row gives it, and the row's tensors in order. `tensor(i)` and
// `operand(i, given)` are what stands in the place of argument i; `results` wraps what comes out.
#pragma once

#include <optional>

#include "ops/batching/batch.h"

namespace wengert::ops::batching {

using Operands = std::initializer_list<Operand>;
using Numbers = std::initializer_list<int64_t>;
inline Operand as_operand(const Tensor& t) noexcept { return Operand(t); }
inline const Operand& as_operand(const Operand& o) noexcept { return o; }
inline Operand as_operand(const std::optional<Operand>& o) noexcept { return o ? *o : Operand(0.0); }

class Arranged {
public:
    const Tensor& tensor(size_t i) const noexcept { return tensors_[i]; }
    Operand operand(size_t i, const Operand& given) const noexcept {
        return tensors_[i].defined() ? Operand(tensors_[i]) : given;
    }
    std::optional<Operand> operand(size_t i, const std::optional<Operand>& given) const noexcept {
        return given ? std::optional(operand(i, *given)) : given;
    }
    template <class T>
    T results(T values) const {
        return batch_.wrap(std::move(values));
    }

protected:
    explicit Arranged(const Batch& batch) noexcept : batch_(batch) {}
    Batch batch_;
    SmallVector<Tensor, 4> tensors_;  // undefined for numbers
};

// Elementwise operations: samples broadcast against each other as the batches do. Tensors of one sample may have
// different ranks and broadcast from the right; with the batch in front, those of lower rank get dimensions of size 1
// behind it. Where all have the same layout nothing moves.
//
// A tensor without dimensions counts less in type promotion than others; as a batch of such it has a dimension, so it
// is converted first where that would change the dtype of the result.
class Elementwise : public Arranged {
public:
    Elementwise(const Batch& batch, Numbers, Operands given);
    Tensor results(Tensor value) const;

private:
    int64_t dim_ = 0;
    Tensor first_;
};

// In-place elementwise operations: on the batch of the first argument, which becomes one if it can.
class ElementwiseInPlace : public Arranged {
public:
    ElementwiseInPlace(const Batch& batch, Operands given);
};

// Dimensions in front are a batch already; tensors broadcast over them. With a number: samples have at least so many
// dimensions, or the operation says what is wrong with one.
class Leading : public Arranged {
public:
    Leading(const Batch& batch, Numbers numbers, Operands given);
    template <class T>
    T results(T values) const {
        return batch_.wrap_given(std::move(values));
    }
};

// Every tensor ends in as many dimensions of its own as its number says; those in front broadcast.
class EndingIn : public Arranged {
public:
    EndingIn(const Batch& batch, Numbers cores, Operands given);
    template <class T>
    T results(T values) const {
        return batch_.wrap_given(std::move(values));
    }
};

// Operations along dimensions: with the batch in front, every dimension that an argument names moves back by one. Over
// all dimensions is over all but the first. A sample without dimensions is treated as one with a single dimension of
// size 1. With a number: results have so many dimensions more than samples. With a second one: samples have at least so
// many.
class Along : public Arranged {
public:
    Along(const Batch& batch, Numbers extra_and_least, Operands given);
    int64_t rank() const noexcept { return rank_; }
    bool is_scalar() const noexcept { return rank_ == 0 && extra_ == 0; }

    int64_t shift(int64_t dim);
    Dims shift(IntSpan dims);
    // None: over all dimensions.
    std::optional<int64_t> shift(const std::optional<int64_t>& dim);
    std::optional<Dims> shift(const std::optional<Dims>& dims);
    void keep(bool dimensions) noexcept { keeps_ = dimensions; }

    Tensor results(Tensor value) const;
    TensorList results(TensorList values) const;
    template <class... T>
    std::tuple<T...> results(std::tuple<T...> values) const {
        return std::apply([this](T&... value) { return std::tuple<T...>{results(std::move(value))...}; }, values);
    }

private:
    int64_t rank_, extra_;
    bool keeps_ = false;
};

// The same for tensors that broadcast against each other.
class AlignedAlong : public Arranged {
public:
    AlignedAlong(const Batch& batch, Numbers, Operands given);
    int64_t shift(int64_t dim) const { return shifted(dim, rank_); }
    std::optional<int64_t> shift(const std::optional<int64_t>& dim) const {
        return dim ? std::optional(shifted(*dim, rank_)) : dim;
    }

private:
    int64_t rank_ = 0;
};

// Operations on [N, ...] of a certain rank, or of any: the batch joins N, or is N where samples have none. Arguments
// other than the first must be the same for all samples.
class Samples : public Arranged {
public:
    Samples(const Batch& batch, Numbers rank, Operands given);
    Tensor results(Tensor value) const;
    template <class... T>
    std::tuple<T...> results(std::tuple<T...> values) const {
        return std::apply([this](T&... value) { return std::tuple<T...>{results(std::move(value))...}; }, values);
    }

private:
    int64_t inner_ = -1;  // the N of one sample; -1: it has none
};

// New tensors of a size that an argument gives.
class Sized : public Arranged {
public:
    Sized(const Batch& batch, Numbers, Operands given);
    Dims shift(IntSpan size) const { return with_batch(batch_, size); }
};

}  // namespace wengert::ops::batching
