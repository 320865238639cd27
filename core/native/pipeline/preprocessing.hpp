// Preprocessing of feature values: binarize, sublinear damping, tf-idf and scaling to unit length.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "math/elementary.hpp"
#include "math/idf.hpp"
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
            Idf& idf = idf_of_thread();
            const auto instances = static_cast<double>(tables.counted);
            for (ActiveFeature& each : active) {
                const std::uint32_t times_seen =
                    each.feature == NO_ID ? 0 : tables.postings[each.feature].times_seen;
                each.value += each.value * idf.of(instances, times_seen);
            }
        }
        if (!l2_) return;
        double squares = 0;  // the limits on values keep them far from overflow and from nothing
        for (const ActiveFeature& each : active) squares += each.value * each.value;
        const double scale = 1.0 / std::sqrt(squares);
        for (ActiveFeature& each : active) each.value *= scale;
    }

private:
    // Not inlined, see LinearScratch.
    [[gnu::noinline]] static Idf& idf_of_thread() {
        static thread_local Idf idf;
        return idf;
    }

    bool binarize_ = false, l2_ = true, sublinear_ = false, tfidf_ = false;
};

}  // namespace manyclass
