#include "kernels/products/matmul.h"

#include <string>
#include <string_view>

#include "kernels/elementwise/elementwise.h"
#include "kernels/products/matmul_kernels.h"

namespace wengert::kernels {
namespace {

// "Float": the name that PyTorch's messages use.
std::string_view type_name(const Tensor& t) {
    std::string_view name = legacy_type_name(t.dtype());
    return name.substr(0, name.size() - std::string_view("Tensor").size());
}

// Prints a matrix's shape as 3x4.
struct ByShape {
    int64_t rows, cols;
    friend std::ostream& operator<<(std::ostream& out, ByShape s) { return out << s.rows << 'x' << s.cols; }
};

void check_numbers(DType dtype, const char* op) {
    check(dtype != DType::Bool, ErrorKind::NotImplemented, "[", op, "] \"", op,
          "\" not implemented for 'Bool'; convert to an integer dtype first");
}

void check_same_dtype(const char* op, const Tensor& a, const Tensor& b) {
    check(a.dtype() == b.dtype(), ErrorKind::Runtime, "[", op,
          "] expected m1 and m2 to have the same dtype, but got: ", a.dtype(), " != ", b.dtype(),
          "; convert one of them");
}

[[gnu::cold, gnu::noinline, noreturn]] void fail_inner(const char* op, const Tensor& a, const Tensor& b, ByShape m1,
                                                       ByShape m2) {
    fail(ErrorKind::Runtime, "[", op, "] last dim of ", ShapeOf{a.sizes()}, " must equal ",
         b.dim() > 1 ? "second-to-last of " : "the length of ", ShapeOf{b.sizes()},
         ": mat1 and mat2 shapes cannot be multiplied (", m1, " and ", m2, ")");
}

// out = alpha a b + beta out, two-dimensional.
void multiply_into(const char* op, const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& beta = 0,
                   const Scalar& alpha = 1) {
    check_numbers(out.dtype(), op);
    matrix_product_kernel(out, a, b, beta, alpha);
}

// The same for every matrix of a batch; all have the same leading sizes, strides may be 0.
void multiply_batch(const char* op, const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& beta = 0,
                    const Scalar& alpha = 1) {
    check_numbers(out.dtype(), op);
    batched_product_kernel(out, a, b, beta, alpha);
}

Tensor with_shape(const Tensor& t, IntSpan sizes, IntSpan strides) { return alias(t, sizes, strides, t.offset()); }

Tensor product_mm(const char* op, const Tensor& a, const Tensor& b) {
    if (a.sizes()[1] != b.sizes()[0]) [[unlikely]]
        fail_inner(op, a, b, {a.sizes()[0], a.sizes()[1]}, {b.sizes()[0], b.sizes()[1]});
    check_same_dtype(op, a, b);
    Tensor out = empty(Dims{a.sizes()[0], b.sizes()[1]}, a.dtype(), a.device());
    multiply_into(op, out, a, b);
    return out;
}

Tensor product_mv(const char* op, const Tensor& mat, const Tensor& vec) {
    check(mat.sizes()[1] == vec.sizes()[0], ErrorKind::Runtime, "[", op, "] last dim of ", ShapeOf{mat.sizes()},
          " must equal the length of ", ShapeOf{vec.sizes()}, ": size mismatch, got input (", mat.sizes()[0],
          "), mat (", ByShape{mat.sizes()[0], mat.sizes()[1]}, "), vec (", vec.sizes()[0], ")");
    check_same_dtype(op, mat, vec);
    Tensor out = empty(Dims{mat.sizes()[0]}, mat.dtype(), mat.device());
    multiply_into(op, with_shape(out, Dims{out.numel(), 1}, Dims{1, 1}), mat,
                  with_shape(vec, Dims{vec.numel(), 1}, Dims{vec.strides()[0], 1}));
    return out;
}

Tensor product_dot(const char* op, const Tensor& a, const Tensor& b, bool conjugate) {
    check(a.dim() == 1 && b.dim() == 1, ErrorKind::Runtime, "[", op, "] 1D tensors expected, but got ", a.dim(),
          "D and ", b.dim(), "D tensors");
    check(a.dtype() == b.dtype(), ErrorKind::Runtime, "[", op,
          "] dot : expected both vectors to have same dtype, but found ", type_name(a), " and ", type_name(b));
    check(a.numel() == b.numel(), ErrorKind::Runtime, "[", op, "] inconsistent tensor size, expected tensor [",
          a.numel(), "] and src [", b.numel(), "] to have the same number of elements, but got ", a.numel(), " and ",
          b.numel(), " elements respectively");
    Tensor out = empty({}, a.dtype(), a.device());
    check_numbers(a.dtype(), op);
    dot_kernel(out, a, b, conjugate);
    return out;
}

void check_batches(const char* op, const Tensor& a, const Tensor& b) {
    check(a.dim() == 3, ErrorKind::Runtime, "[", op, "] batch1 must be a 3D tensor, got ", ShapeOf{a.sizes()});
    check(b.dim() == 3, ErrorKind::Runtime, "[", op, "] batch2 must be a 3D tensor, got ", ShapeOf{b.sizes()});
    check(a.sizes()[0] == b.sizes()[0] && a.sizes()[2] == b.sizes()[1], ErrorKind::Runtime, "[", op,
          "] Expected size for first two dimensions of batch2 tensor to be: [", a.sizes()[0], ", ", a.sizes()[2],
          "] but got: [", b.sizes()[0], ", ", b.sizes()[1], "].");
    check(a.dtype() == b.dtype(), ErrorKind::Runtime, "[", op, "] expected scalar type ", type_name(a), " but found ",
          type_name(b));
}

// A new tensor of `sizes` holding `self` broadcast, unless beta says that nobody will read it.
Tensor expanded_copy(const char* op, const Tensor& self, IntSpan sizes, const Scalar& beta) {
    check(is_broadcastable_to(self.sizes(), sizes), ErrorKind::Runtime, "[", op, "] The expanded size of the tensor ",
          ShapeOf{sizes}, " must match the existing size ", ShapeOf{self.sizes()},
          " at every non-singleton dimension: self must broadcast to the product's shape");
    Tensor out = empty(sizes, self.dtype(), self.device());
    if (beta != Scalar(0)) copy_into(out, self);
    return out;
}

// --- matmul

// The shape of a product: batch sizes, then the rows and columns that are there.
Dims matmul_batch(const Tensor& a, const Tensor& b) {
    IntSpan batch_a = IntSpan(a.sizes()).first(a.sizes().size() - 2);
    IntSpan batch_b = IntSpan(b.sizes()).first(b.sizes().size() - 2);
    return broadcast_shapes(batch_a, batch_b, "matmul");
}

Tensor expand_batch(const Tensor& t, Dims sizes, IntSpan matrix_sizes) {
    sizes.push_back(matrix_sizes[0]);
    sizes.push_back(matrix_sizes[1]);
    return with_shape(t, sizes, broadcast_strides(t, sizes));
}

// At least one operand has more than two dimensions; both have at least two. [...,m,k] x [...,k,n]
Tensor matmul_batched(const Tensor& a, const Tensor& b) {
    IntSpan ma = IntSpan(a.sizes()).last(2), mb = IntSpan(b.sizes()).last(2);
    int64_t rows = 1;
    for (size_t d = 0; d + 1 < a.sizes().size(); ++d) rows *= a.sizes()[d];
    if (ma[1] != mb[0]) [[unlikely]]
        fail_inner("matmul", a, b, {b.dim() == 2 ? rows : ma[0], ma[1]}, {mb[0], mb[1]});
    check_same_dtype("matmul", a, b);
    Dims batch = matmul_batch(a, b), sizes = batch;
    sizes.push_back(ma[0]);
    sizes.push_back(mb[1]);
    Tensor out = empty(sizes, a.dtype(), a.device());
    Dims strides;
    Dims rows_shape{rows, ma[1]};
    if (b.dim() == 2 && view_strides(a.sizes(), a.strides(), rows_shape, &strides)) {
        // One matrix on the right: the batch is more rows.
        multiply_into("matmul", with_shape(out, Dims{rows, mb[1]}, Dims{mb[1], 1}), with_shape(a, rows_shape, strides),
                      b);
    } else {
        multiply_batch("matmul", out, expand_batch(a, batch, ma), expand_batch(b, batch, mb));
    }
    return out;
}

Tensor drop_dim(const Tensor& t, size_t d) {
    Dims sizes = t.sizes(), strides = t.strides();
    sizes.erase(d);
    strides.erase(d);
    return with_shape(t, sizes, strides);
}

}  // namespace

Tensor mm(const Tensor& self, const Tensor& mat2) {
    check(self.dim() == 2, ErrorKind::Runtime, "[mm] self must be a matrix, got ", ShapeOf{self.sizes()});
    check(mat2.dim() == 2, ErrorKind::Runtime, "[mm] mat2 must be a matrix, got ", ShapeOf{mat2.sizes()});
    return product_mm("mm", self, mat2);
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
    check_batches("bmm", self, mat2);
    Tensor out = empty(Dims{self.sizes()[0], self.sizes()[1], mat2.sizes()[2]}, self.dtype(), self.device());
    multiply_batch("bmm", out, self, mat2);
    return out;
}

Tensor mv(const Tensor& self, const Tensor& vec) {
    check(self.dim() == 2 && vec.dim() == 1, ErrorKind::Runtime, "[mv] vector + matrix @ vector expected, got 1, ",
          self.dim(), ", ", vec.dim());
    return product_mv("mv", self, vec);
}

Tensor dot(const Tensor& self, const Tensor& tensor) { return product_dot("dot", self, tensor, false); }
Tensor vdot(const Tensor& self, const Tensor& other) { return product_dot("vdot", self, other, true); }

Tensor matmul(const Tensor& self, const Tensor& other) {
    int64_t da = self.dim(), db = other.dim();
    if (da == 2 && db == 2) return product_mm("matmul", self, other);
    check(da >= 1 && db >= 1, ErrorKind::Runtime,
          "[matmul] both arguments to matmul need to be at least 1D, but they are ", da, "D and ", db, "D");
    if (da == 1 && db == 1) return product_dot("matmul", self, other, false);
    if (da == 2 && db == 1) return product_mv("matmul", self, other);
    if (da == 1) {
        Tensor row = with_shape(self, Dims{1, self.numel()}, Dims{self.numel(), self.strides()[0]});
        Tensor out = db == 2 ? product_mm("matmul", row, other) : matmul_batched(row, other);
        return drop_dim(out, out.sizes().size() - 2);
    }
    if (db == 1) {
        Tensor out = matmul_batched(self, with_shape(other, Dims{other.numel(), 1}, Dims{other.strides()[0], 1}));
        return drop_dim(out, out.sizes().size() - 1);
    }
    return matmul_batched(self, other);
}

void check_factors(std::string_view op, const Tensor& self, const Tensor& product, const Scalar& beta,
                   const Scalar& alpha) {
    check(self.dtype() == product.dtype(), ErrorKind::Runtime, "[", op,
          "] self and mat2 must have the same dtype, but got ", type_name(self), " and ", type_name(product));
    check(is_complex(self.dtype()) || (!beta.is_complex() && !alpha.is_complex()), ErrorKind::Runtime, "[", op,
          "] value cannot be converted to type ", self.dtype(), " without overflow: beta and alpha must be real");
}

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
    check(mat1.dim() == 2 && mat2.dim() == 2, ErrorKind::Runtime, "[addmm] mat1 and mat2 must be matrices, got ",
          ShapeOf{mat1.sizes()}, " and ", ShapeOf{mat2.sizes()});
    if (mat1.sizes()[1] != mat2.sizes()[0]) [[unlikely]]
        fail_inner("addmm", mat1, mat2, {mat1.sizes()[0], mat1.sizes()[1]}, {mat2.sizes()[0], mat2.sizes()[1]});
    check_same_dtype("addmm", mat1, mat2);
    check_factors("addmm", self, mat2, beta, alpha);
    Tensor out = expanded_copy("addmm", self, Dims{mat1.sizes()[0], mat2.sizes()[1]}, beta);
    multiply_into("addmm", out, mat1, mat2, beta, alpha);
    return out;
}

Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
    check(mat.dim() == 2 && vec.dim() == 1 && self.dim() <= 1, ErrorKind::Runtime,
          "[addmv] vector + matrix @ vector expected, got ", self.dim(), ", ", mat.dim(), ", ", vec.dim());
    check(mat.sizes()[1] == vec.numel() && is_broadcastable_to(self.sizes(), Dims{mat.sizes()[0]}), ErrorKind::Runtime,
          "[addmv] size mismatch, got input (", self.numel(), "), mat (", ByShape{mat.sizes()[0], mat.sizes()[1]},
          "), vec (", vec.numel(), ")");
    check_same_dtype("addmv", mat, vec);
    check_factors("addmv", self, vec, beta, alpha);
    Tensor out = expanded_copy("addmv", self, Dims{mat.sizes()[0]}, beta);
    multiply_into("addmv", with_shape(out, Dims{out.numel(), 1}, Dims{1, 1}), mat,
                  with_shape(vec, Dims{vec.numel(), 1}, Dims{vec.strides()[0], 1}), beta, alpha);
    return out;
}

// [m] x [n]: a product of [m,1] and [1,n].
Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
    check(vec1.dim() == 1 && vec2.dim() == 1, ErrorKind::Runtime, "[addr] vec1 and vec2 must be vectors, got ",
          ShapeOf{vec1.sizes()}, " and ", ShapeOf{vec2.sizes()});
    check_same_dtype("addr", vec1, vec2);
    check_factors("addr", self, vec2, beta, alpha);
    const int64_t m = vec1.numel(), n = vec2.numel();
    Tensor out = expanded_copy("addr", self, Dims{m, n}, beta);
    multiply_into("addr", out, with_shape(vec1, Dims{m, 1}, Dims{vec1.strides()[0], 1}),
                  with_shape(vec2, Dims{1, n}, Dims{1, vec2.strides()[0]}), beta, alpha);
    return out;
}

Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
    check_batches("addbmm", batch1, batch2);
    check_factors("addbmm", self, batch2, beta, alpha);
    Tensor out = expanded_copy("addbmm", self, Dims{batch1.sizes()[1], batch2.sizes()[2]}, beta);
    auto at = [](const Tensor& t, int64_t i) {
        return alias(t, IntSpan(t.sizes()).last(2), IntSpan(t.strides()).last(2), t.offset() + i * t.strides()[0]);
    };
    for (int64_t i = 0; i < batch1.sizes()[0]; ++i)
        multiply_into("addbmm", out, at(batch1, i), at(batch2, i), i == 0 ? beta : Scalar(1), alpha);
    if (batch1.sizes()[0] == 0)
        multiply_into("addbmm", out, empty(Dims{out.sizes()[0], 0}, out.dtype(), out.device()),
                      empty(Dims{0, out.sizes()[1]}, out.dtype(), out.device()), beta, alpha);
    return out;
}

Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
               const Scalar& alpha) {
    check_batches("baddbmm", batch1, batch2);
    check_factors("baddbmm", self, batch2, beta, alpha);
    Tensor out = expanded_copy("baddbmm", self, Dims{batch1.sizes()[0], batch1.sizes()[1], batch2.sizes()[2]}, beta);
    multiply_batch("baddbmm", out, batch1, batch2, beta, alpha);
    return out;
}

}  // namespace wengert::kernels
