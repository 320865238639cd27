// Preprocessing of feature values: binarize, sublinear damping, tf-idf and scaling to unit length.
// Each keeps the sign of a value.
#pragma once

#include <array>
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

    // Return a value before tf-idf and scaling, which does not depend on counts.
    double damped(double value) const {
        if (binarize_) return std::copysign(1.0, value);
        return sublinear_ ? sublinear(value) : value;
    }

    // True if `damped` differs under other options.
    bool damps_as(const Preprocessing& other) const {
        return binarize_ == other.binarize_ && sublinear_ == other.sublinear_;
    }

    void apply(std::vector<ActiveFeature>& active, const Tables& tables) const {
        if (binarize_) {
            for (ActiveFeature& each : active) each.value = std::copysign(1.0, each.value);
            return;
        }
        if (sublinear_)
            for (ActiveFeature& each : active) each.value = sublinear(each.value);
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
        double squares = 0;  // limits on values prevent overflow and underflow
        for (const ActiveFeature& each : active) squares += each.value * each.value;
        const double scale = 1.0 / std::sqrt(squares);
        for (ActiveFeature& each : active) each.value *= scale;
    }

private:
    static double logarithmic(double value) {
        if (value > 1) return 1 + natural_log(value);
        return value < -1 ? -1 - natural_log(-value) : value;
    }

    // The same. Most values are small counts: a look-up, and no branch that depends on the value.
    static double sublinear(double value) {
        if (const double size = std::fabs(value); size < static_cast<double>(COUNTS.size())) {
            const auto count = static_cast<std::uint32_t>(size);
            if (static_cast<double>(count) == value) return COUNTS[count];
        }
        return logarithmic(value);
    }

    inline static const std::array<double, 64> COUNTS = [] {
        std::array<double, 64> counts{};
        for (std::size_t n = 0; n < counts.size(); ++n)
            counts[n] = logarithmic(static_cast<double>(n));
        return counts;
    }();

    // Not inlined, see LinearScratch.
    [[gnu::noinline]] static Idf& idf_of_thread() {
        static thread_local Idf idf;
        return idf;
    }

    bool binarize_ = false, l2_ = true, sublinear_ = false, tfidf_ = false;
};

}  // namespace manyclass
