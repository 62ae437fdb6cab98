// Random numbers in tensors. Functions that end in `_` fill `self`; a null generator is the default one.
#pragma once

#include <optional>

#include "kernels/random/generator.h"
#include "tensor/operand.h"
#include "tensor/tensor.h"

namespace wengert::kernels {

void uniform_(const Tensor& self, double low = 0, double high = 1, Generator* generator = nullptr);  // [low, high)
void uniform_real_and_imaginary_(const Tensor& self, Generator* generator);                          // [0, 1) each
void normal_(const Tensor& self, double mean = 0, double std = 1, Generator* generator = nullptr);
void log_normal_(const Tensor& self, double mean = 1, double std = 2, Generator* generator = nullptr);
void exponential_(const Tensor& self, double lambd = 1, Generator* generator = nullptr);
void cauchy_(const Tensor& self, double median = 0, double sigma = 1, Generator* generator = nullptr);
void geometric_(const Tensor& self, double p, Generator* generator = nullptr);
void bernoulli_(const Tensor& self, double p = 0.5, Generator* generator = nullptr);
// Of the probabilities `p`, which broadcast.
void bernoulli_with_(const Tensor& self, const Tensor& p, Generator* generator = nullptr);
void random_integers_(const Tensor& self, int64_t low, int64_t high, Generator* generator = nullptr);  // [low, high)
// From `low`, or 0, to the largest integer that the dtype counts up to without gaps.
void random_from_(const Tensor& self, int64_t low, std::optional<int64_t> high, Generator* generator = nullptr);
inline void random_integers_(const Tensor& self, Generator* generator) { random_from_(self, 0, {}, generator); }
// Each row, along the last dimension, becomes the integers 0, 1, ... in random order.
void random_permutations_(const Tensor& self, Generator* generator = nullptr);

Tensor normal(const Operand& mean, const Operand& std, Generator* generator = nullptr);  // which broadcast
void check_deviations(const Tensor& std);
void check_probabilities(const Tensor& p);
Tensor bernoulli(const Tensor& probabilities, Generator* generator = nullptr);
Tensor bernoulli_like(const Tensor& self, double p, Generator* generator = nullptr);
// [rows, categories] or [categories] weights -> [rows, num_samples] indices.
Tensor multinomial(const Tensor& weights, int64_t num_samples, bool replacement = false,
                   Generator* generator = nullptr);

}  // namespace wengert::kernels
