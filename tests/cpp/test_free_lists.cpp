// Small tensors that die are used again (tensor/memory/free_lists.h): nobody may notice.
#include <doctest/doctest.h>

#include <thread>

#include "engine/wengert.h"
#include "generated/ops/ops.h"
#include "graph/autograd_meta.h"
#include "tensor/memory/free_lists.h"
#include "tensor/writes/write_log.h"

using namespace wengert;

namespace {

// A tensor on the impl that `last` used, and `last` gone.
Tensor successor(Tensor&& last, IntSpan sizes, DType dtype = DType::Float64) {
    const TensorImpl* before = last.impl();
    last.reset();
    Tensor next = empty(sizes, dtype);
    if (TensorFreeLists::possible) CHECK(next.impl() == before);
    return next;
}

Tensor vector(int64_t n) { return full(Dims{n}, 1.0, DType::Float64); }

}  // namespace

TEST_CASE("a free tensor is used again, with nothing of its past") {
    Tensor first = vector(2);
    bump_version(first);
    note_swap(first);
    set_requires_grad(first, true);
    first.storage()->watch();
    Tensor next = successor(std::move(first), Dims{1, 2, 1}, DType::Float64);
    CHECK(next.version() == 0);
    CHECK(next.flags() == 0);
    CHECK(next.impl()->swaps == 0);
    CHECK(next.impl()->meta == nullptr);
    CHECK(next.impl()->pyobj == nullptr);
    CHECK(next.offset() == 0);
    CHECK(next.numel() == 2);
    CHECK(next.sizes() == Dims{1, 2, 1});
    CHECK(next.strides() == Dims{2, 1, 1});
    CHECK(next.storage()->writes == 0);
    CHECK(next.storage()->bytes() == 16);
    CHECK(!next.storage()->is_watched());
    CHECK(next.use_count() == 1);
}

TEST_CASE("any dtype and shape that need as much memory follow") {
    Tensor t = successor(vector(4), Dims{2, 4}, DType::Float32);
    CHECK(t.dtype() == DType::Float32);
    t = successor(std::move(t), Dims{32}, DType::Bool);
    CHECK(t.storage()->bytes() == 32);
    const TensorImpl* before = t.impl();
    t.reset();
    if (TensorFreeLists::possible)
        CHECK(empty(Dims{}, DType::Float64).impl() != before);  // less memory is on another list
}

TEST_CASE("what somebody else holds does not rest") {
    SUBCASE("a view holds the memory") {
        Tensor base = vector(2);
        std::byte* memory = base.data();
        const Tensor view = alias(base, Dims{1}, Dims{1}, 1);
        base.reset();
        for (int i = 0; i < 100; ++i) CHECK(vector(2).data() != memory);
        CHECK(*view.data_as<double>() == 1.0);
    }
    SUBCASE("the memory is lent") {
        Tensor t = vector(2);
        const Ref<Storage> storage = t.storage();
        storage->lend();
        t.reset();
        const Tensor next = vector(2);
        CHECK(next.storage() != storage);
        storage->take_back();
    }
    SUBCASE("a version counter of its own") {
        const Tensor t = vector(2);
        Tensor copy = variable_data(t);
        copy.reset();
        CHECK(empty(Dims{2}, DType::Float64).impl()->own_version.get() == nullptr);
    }
}

TEST_CASE("a log of writes dies with its tensor") {
    Tensor t = vector(2);
    t.storage()->watch();
    bump_version(t, "add_");
    t.reset();
    const Tensor next = vector(2);
    CHECK(!next.storage()->is_watched());
    CHECK(next.storage()->writes == 0);
}

TEST_CASE("more than four dimensions lie elsewhere and do not rest") {
    Tensor t = full(Dims{1, 1, 1, 1, 2}, 3.0, DType::Float64);
    t.reset();
    const Tensor next = full(Dims{1, 1, 1, 2, 1, 1}, 3.0, DType::Float64);
    CHECK(next.dim() == 6);
    CHECK(ops::add(next, next).sizes() == next.sizes());
}

TEST_CASE("tensors at rest belong to a thread, and its end frees them") {
    Tensor made_there;
    std::thread([&] {
        { const Tensor a = vector(3), b = vector(3); }
        made_there = vector(3);
    }).join();
    made_there.reset();  // rests here
    CHECK(vector(3).numel() == 3);
}

TEST_CASE("while memory is counted every tensor has a block of its own") {
    static int64_t counted;
    counted = 0;
    vector(2).reset();
    inline_limit = 0;
    memory_watch = [](int64_t change) noexcept { counted += change; };
    {
        const Tensor t = vector(2);
        CHECK(counted > 0);
    }
    CHECK(counted == 0);
    memory_watch = nullptr;
    inline_limit = kSlabLimit;
}
