// The last rankings with a probability of each class, and which of these classes were true: they give
// precision and recall of the classes above a limit of probability.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "lower_places.hpp"
#include "operating_points.hpp"
#include "snapshot/visitor.hpp"

namespace manyclass {

// The classes with a probability of at least `limit`, how many of these were true, and the number of
// rankings that have such a class.
struct ProbabilityPoint {
    double limit;
    std::uint64_t classes, right, rankings;
};

// The points of the kept rankings, the highest limit first. `true_classes` counts all classes of
// the events, ranked or not.
struct ProbabilityCurve {
    std::uint64_t rankings = 0, true_classes = 0;
    std::vector<ProbabilityPoint> points;
};

// Keeps rankings in the order of the log, at most MOST; 24 bytes each.
//
// Threads: one at a time; any number may call const functions at once.
class KeptPlaces {
public:
    static constexpr std::size_t PLACES = LowerPlaces::LAST, MOST = 4'000;
    static constexpr std::uint16_t UNKNOWN = 0xffff, LIMITS = LimitCounts::LIMITS;

    // A ranking: the highest limit that the probability at each place reaches, UNKNOWN for a class
    // without a probability and a place without a class; bits of the places of true classes.
    struct Kept {
        std::array<std::uint16_t, PLACES> limits;
        std::uint16_t are_true, true_classes;
    };

    // Add a ranking with the probabilities of its first classes, at most PLACES, and a bit for each
    // true one. `true_classes` counts all of its event.
    void add(const std::vector<double>& probabilities, std::uint16_t are_true,
             std::size_t true_classes) {
        Kept& kept = kept_.emplace_back();
        kept.limits.fill(UNKNOWN);
        for (std::size_t at = 0; at < probabilities.size() && probabilities[at] >= 0; ++at) {
            const auto probability = static_cast<float>(probabilities[at]);
            kept.limits[at] = static_cast<std::uint16_t>(LimitCounts::limit_of(probability));
        }
        kept.are_true = are_true;
        kept.true_classes =
            static_cast<std::uint16_t>(std::min<std::size_t>(true_classes, UNKNOWN));
        ++added_;
        if (kept_.size() > MOST) kept_.pop_front();
    }

    std::uint64_t added() const { return added_; }  // ever, also rankings that have left
    std::size_t size() const { return kept_.size(); }
    std::size_t resident_bytes() const { return kept_.size() * sizeof(Kept); }

    // Read the curve of the rankings from one position to another.
    ProbabilityCurve curve(std::size_t begin, std::size_t end) const {
        struct Bin {
            std::uint32_t classes = 0, right = 0, rankings = 0;
        };
        std::vector<Bin> bins(LIMITS + 1);
        ProbabilityCurve curve;
        curve.rankings = end - begin;
        for (std::size_t at = begin; at < end; ++at) {
            const Kept& kept = kept_[at];
            curve.true_classes += kept.true_classes;
            if (kept.limits[0] != UNKNOWN) ++bins[kept.limits[0]].rankings;
            for (std::size_t place = 0; place < PLACES && kept.limits[place] != UNKNOWN; ++place) {
                ++bins[kept.limits[place]].classes;
                bins[kept.limits[place]].right += kept.are_true >> place & 1;
            }
        }
        ProbabilityPoint point{0, 0, 0, 0};
        for (std::size_t limit = LIMITS + 1; limit-- > 0;) {
            if (bins[limit].classes == 0) continue;
            point.limit = static_cast<double>(limit) / LIMITS;
            point.classes += bins[limit].classes;
            point.right += bins[limit].right;
            point.rankings += bins[limit].rankings;
            curve.points.push_back(point);
        }
        return curve;
    }

    // --- state ---------------------------------------------------------------------------------

    struct Arrays {
        std::uint16_t* limits;  // PLACES of each ranking
        std::uint16_t* are_true;
        std::uint16_t* true_classes;
    };

    void dump(const Arrays& to) const {
        for (std::size_t at = 0; at < kept_.size(); ++at) {
            std::copy_n(kept_[at].limits.begin(), PLACES, to.limits + at * PLACES);
            to.are_true[at] = kept_[at].are_true;
            to.true_classes[at] = kept_[at].true_classes;
        }
    }

    // Load dumped rankings into new ones; throw std::invalid_argument "section: fault" if nothing can
    // lead to them.
    void load(std::uint64_t added, std::size_t count, const Arrays& from) {
        need(added <= LARGEST_COUNT && count == std::min<std::uint64_t>(added, MOST),
             "calibration_places", "not as many rankings are kept as there were");
        for (std::size_t at = 0; at < count; ++at) {
            Kept& kept = kept_.emplace_back();
            std::copy_n(from.limits + at * PLACES, PLACES, kept.limits.begin());
            kept.are_true = from.are_true[at];
            kept.true_classes = from.true_classes[at];
            int above = LIMITS;
            for (const std::uint16_t limit : kept.limits) {
                need(limit == UNKNOWN || limit <= above, "calibration_places",
                     "a probability is larger than the one above it");
                above = limit == UNKNOWN ? -1 : limit;
            }
            need(kept.are_true < 1u << PLACES && kept.true_classes > 0 &&
                     std::bitset<PLACES>(kept.are_true).count() <= kept.true_classes,
                 "calibration_places_true", "no event has such classes");
        }
        added_ = added;
    }

private:
    std::deque<Kept> kept_;
    std::uint64_t added_ = 0;
};

}  // namespace manyclass
