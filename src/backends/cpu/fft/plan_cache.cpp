// Plans that were used lately. To make one takes as long as some transforms, and as much memory as a line or two: a few are kept.
#include <algorithm>
#include <utility>

#include "backends/cpu/fft/plan.h"
#include "backends/cpu/fft/roots.h"
#include "base/memory/immortal.h"
#include "base/threads/lock.h"

namespace wengert::kernels {
namespace {

constexpr size_t kKept = 16;
constexpr int64_t kPointsKept = 1 << 23;  // of all plans together, unless the last one has more

// The last one used stands in front. Two threads that miss the same plan both make it: plans that are equal compute the same.
template <class Plan>
class PlanCache {
public:
    template <class Make>
    std::shared_ptr<const Plan> get(int64_t n, bool few, Make make) {
        if (auto plan = find(n, few)) return plan;
        std::shared_ptr<const Plan> plan = make();
        std::vector<Kept> dropped;  // nothing is freed, and no other lock taken, under this one
        {
            const std::lock_guard lock(mutex_);
            points_ += n;
            while (!kept_.empty() && (kept_.size() == kKept || points_ > kPointsKept)) {
                points_ -= kept_.back().n;
                dropped.push_back(std::move(kept_.back()));
                kept_.pop_back();
            }
            kept_.insert(kept_.begin(), {n, few, plan});
        }
        return plan;
    }

private:
    struct Kept {
        int64_t n;
        bool few;
        std::shared_ptr<const Plan> plan;
    };

    std::shared_ptr<const Plan> find(int64_t n, bool few) {
        const std::lock_guard lock(mutex_);
        for (auto it = kept_.begin(); it != kept_.end(); ++it) {
            if (it->n != n || it->few != few) continue;
            std::rotate(kept_.begin(), it, it + 1);
            return kept_.front().plan;
        }
        return nullptr;
    }

    ForkSafeMutex mutex_{LockRank::Memory};
    std::vector<Kept> kept_;
    int64_t points_ = 0;
};

template <class Plan>
PlanCache<Plan>& cache() {
    static Immortal<PlanCache<Plan>> plans;
    return *plans;
}

}  // namespace

template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t n, bool few) {
    return cache<FftPlan<T>>().get(n, few, [&] { return make_fft_plan<T>(n, few); });
}

template <class T>
std::shared_ptr<const RealFftPlan<T>> real_fft_plan(int64_t n, bool few) {
    return cache<RealFftPlan<T>>().get(n, few, [&] {
        auto plan = std::make_shared<RealFftPlan<T>>();
        plan->points = n;
        plan->complex = fft_plan<T>(n % 2 == 0 ? n / 2 : n, few);
        const RootsOfUnity roots(n);
        for (int64_t k = 0; n % 2 == 0 && 4 * k <= n; ++k) {
            const WideComplex w = roots(k);
            plan->roots.push_back(static_cast<T>(w.re));
            plan->roots.push_back(static_cast<T>(w.im));
        }
        return std::shared_ptr<const RealFftPlan<T>>(std::move(plan));
    });
}

template std::shared_ptr<const FftPlan<float>> fft_plan<float>(int64_t, bool);
template std::shared_ptr<const FftPlan<double>> fft_plan<double>(int64_t, bool);
template std::shared_ptr<const RealFftPlan<float>> real_fft_plan<float>(int64_t, bool);
template std::shared_ptr<const RealFftPlan<double>> real_fft_plan<double>(int64_t, bool);

}  // namespace wengert::kernels
