// Random numbers in tensors. Functions that end in `_` fill `self`; a null generator is the default one.
#pragma once

#include "kernels/random/generator.h"
#include "tensor/tensor.h"

namespace wengert::kernels {

void uniform_(const Tensor& self, double low = 0, double high = 1, Generator* generator = nullptr);  // [low, high)
void normal_(const Tensor& self, double mean = 0, double std = 1, Generator* generator = nullptr);
void log_normal_(const Tensor& self, double mean = 1, double std = 2, Generator* generator = nullptr);
void exponential_(const Tensor& self, double lambd = 1, Generator* generator = nullptr);
void cauchy_(const Tensor& self, double median = 0, double sigma = 1, Generator* generator = nullptr);
void geometric_(const Tensor& self, double p, Generator* generator = nullptr);
void bernoulli_(const Tensor& self, double p = 0.5, Generator* generator = nullptr);
void random_integers_(const Tensor& self, int64_t low, int64_t high, Generator* generator = nullptr);  // [low, high)

Tensor bernoulli(const Tensor& probabilities, Generator* generator = nullptr);
Tensor randperm(int64_t n, DType dtype = DType::Int64, Generator* generator = nullptr);
// [rows, categories] or [categories] weights -> [rows, num_samples] indices.
Tensor multinomial(const Tensor& weights, int64_t num_samples, bool replacement = false,
                   Generator* generator = nullptr);

}  // namespace wengert::kernels
