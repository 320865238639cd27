// Preprocessing of feature values: binarize, sublinear damping, tf-idf and scaling to unit length.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "math/elementary.hpp"
#include "pipeline/example.hpp"
#include "storage/tables.hpp"

namespace manyclass {

class Preprocessing {
public:
    template <class V>
    void visit_options(V&& option) {
        option("binarize", binarize_);
        option.choice("normalize", l2_, {{"l2", true}, {"none", false}});
        option("sublinear", sublinear_);
        option("tfidf", tfidf_);
    }

    // A value but for tf-idf and scaling, so that it does not change with the counts.
    double damped(double value) const {
        if (binarize_) return 1.0;
        return sublinear_ && value > 1 ? 1 + natural_log(value) : value;
    }

    // True if `damped` differs from that of other options.
    bool damps_as(const Preprocessing& other) const {
        return binarize_ == other.binarize_ && sublinear_ == other.sublinear_;
    }

    void apply(std::vector<ActiveFeature>& active, const Tables& tables) const {
        if (binarize_) {
            for (ActiveFeature& each : active) each.value = 1.0;
            return;
        }
        if (sublinear_)
            for (ActiveFeature& each : active)
                if (each.value > 1) each.value = 1 + natural_log(each.value);
        if (tfidf_) {
            Rarities& rarities = Rarities::of_thread();
            const double instances = 1.0 + static_cast<double>(tables.counted);
            for (ActiveFeature& each : active) {
                const std::uint32_t times_seen =
                    each.feature == NO_ID ? 0 : tables.postings[each.feature].times_seen;
                each.value += each.value * rarities.of(instances, times_seen);
            }
        }
        if (!l2_) return;
        double squares = 0;  // the limits on values keep them far from overflow and from nothing
        for (const ActiveFeature& each : active) squares += each.value * each.value;
        const double scale = 1.0 / std::sqrt(squares);
        for (ActiveFeature& each : active) each.value *= scale;
    }

private:
    // The logarithms of tf-idf, each kept for features that were seen as often: most were seen a few
    // times only.
    class Rarities {
    public:
        // Not inlined, see LinearScratch.
        [[gnu::noinline]] static Rarities& of_thread() {
            static thread_local Rarities rarities;
            return rarities;
        }

        double of(double instances, std::uint32_t times_seen) {
            const double ratio = instances / (1.0 + static_cast<double>(times_seen));
            if (times_seen >= kept_.size()) return natural_log(ratio);
            Kept& kept = kept_[times_seen];
            if (kept.ratio != ratio) kept = {ratio, natural_log(ratio)};
            return kept.log;
        }

    private:
        struct Kept {
            double ratio = 0, log = 0;  // a ratio is above 0
        };
        std::array<Kept, 256> kept_;
    };

    bool binarize_ = false, l2_ = true, sublinear_ = false, tfidf_ = false;
};

}  // namespace manyclass
