#include "ops/autocast.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/threads/thread_locals.h"
#include "generated/ops/storage.h"
#include "graph/autograd_meta.h"
#include "tensor/promotion.h"

namespace wengert {
namespace {

constinit thread_local AutocastSettings settings;

// Casts of leaves, with the leaves, whose addresses nobody else gets meanwhile.
struct Cast {
    Tensor leaf, result;
    uint32_t version;
};
constinit thread_local std::vector<Cast>* cache = nullptr;

size_t index_of(const Tensor& t) noexcept { return static_cast<size_t>(t.device().type); }

bool is_eligible(const Tensor& t) noexcept {
    return t.defined() && is_floating(t.dtype()) && t.dtype() != DType::Float64 && settings.enabled[index_of(t)];
}

bool is_cached(const Tensor& t, DType dtype) noexcept {
    return settings.caches && is_reduced_floating(dtype) && t.dtype() == DType::Float32 && requires_grad(t) &&
           is_leaf(t) && !is_view(t) && state.grad_enabled;
}

Tensor cast_of_leaf(const Tensor& leaf, DType dtype) {
    if (!cache) cache = new std::vector<Cast>;
    auto found =
        std::ranges::find_if(*cache, [&](const Cast& c) { return c.leaf.is_same(leaf) && c.result.dtype() == dtype; });
    if (found != cache->end() && found->version == leaf.version()) return found->result;
    Tensor result = ops::to_dtype(leaf, dtype);
    if (found != cache->end())
        *found = {leaf, result, leaf.version()};
    else
        cache->push_back({leaf, result, leaf.version()});
    return result;
}

[[maybe_unused]] const bool carried = [] {
    ThreadLocals::carry({[]() -> ThreadLocals::Value {
                             return settings == AutocastSettings() ? nullptr
                                                                   : std::make_shared<AutocastSettings>(settings);
                         },
                         [](ThreadLocals::Value value) {
                             const auto* given = static_cast<const AutocastSettings*>(value.get());
                             settings = given ? *given : AutocastSettings();
                         }});
    return true;
}();

}  // namespace

const AutocastSettings& autocast_settings() noexcept { return settings; }

void set_autocast_settings(const AutocastSettings& given) {
    ThreadLocals::changing();
    settings = given;
    const bool any = std::ranges::any_of(settings.enabled, std::identity());
    state.watch = any ? state.watch | kWatchAutocast : state.watch & ~uint32_t{kWatchAutocast};
}

void clear_autocast_cache() noexcept { delete std::exchange(cache, nullptr); }

void Autocast::begin(CastPolicy policy) {
    if (policy == CastPolicy::Float32) dtype_ = DType::Float32;
    if (policy == CastPolicy::Promote && !dtype_) return;
    state.watch &= ~uint32_t{kWatchAutocast};
    is_on_ = true;
}

void Autocast::note(const Tensor& t) {
    if (is_eligible(t)) dtype_ = dtype_ ? promote(*dtype_, t.dtype()) : t.dtype();
}

Tensor Autocast::operator()(const Tensor& t) const {
    if (!is_eligible(t)) return t;
    const DType dtype = dtype_.value_or(settings.dtypes[index_of(t)]);
    if (t.dtype() == dtype) return t;
    return is_cached(t, dtype) ? cast_of_leaf(t, dtype) : ops::to_dtype(t, dtype);
}

TensorList Autocast::operator()(TensorSpan tensors) const {
    TensorList out;
    for (const Tensor& t : tensors) out.push_back((*this)(t));
    return out;
}

}  // namespace wengert
