// Expected taxonomic losses of ranked classes, and the temperature of their probabilities, fitted
// online.
//
//   scores -> probabilities (softmax of score / temperature) -> expected loss of each class
//
// The taxonomic loss of two classes is half the edges of the path between them. With the mass of a
// node the probability of the classes at and below it, an edge is on the path of a class with
// probability 1 - mass of the node below the edge if the class is there too, else mass. So all
// expected losses take one sweep up and one down (Seeger 2006, section 6.2).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "math/elementary.hpp"
#include "snapshot/visitor.hpp"
#include "taxonomy/class_tree.hpp"
#include "taxonomy/taxonomy.hpp"

namespace manyclass {

// The part of a taxonomy above some classes, each with a node: those without one in the taxonomy
// stand right below the root.
//
// Used again for the next ranking: it keeps its memory.
class CandidateTree {
public:
    void fill(const ClassTree& tree, const std::vector<std::string_view>& classes) {
        parents_.assign(1, 0);
        seen_.clear();
        classes_.clear();
        nodes_.clear();
        if (index_of_.size() < tree.end()) index_of_.resize(tree.end(), ROOT);
        for (const std::string_view name : classes) {
            nodes_.push_back(tree.find(name));
            classes_.push_back(index_of(tree, nodes_.back()));
        }
        for (const std::uint32_t node : seen_) index_of_[node] = ROOT;
    }

    // The node in the taxonomy of each class, NO_ID without one.
    const std::vector<std::uint32_t>& nodes() const { return nodes_; }

    // Set `losses` to the expected loss of each class times the sum of the weights, by WIDTH
    // weights of each class. `sums` is scratch memory.
    template <std::size_t WIDTH>
    void expect(const std::vector<std::array<double, WIDTH>>& weights,
                std::vector<std::array<double, WIDTH>>& sums,
                std::vector<std::array<double, WIDTH>>& losses) const {
        sums.assign(parents_.size(), {});
        for (std::size_t at = 0; at < classes_.size(); ++at)
            for (std::size_t i = 0; i < WIDTH; ++i) sums[classes_[at]][i] += weights[at][i];
        std::array<double, WIDTH> inner{};  // masses of all nodes but the root
        for (std::size_t node = parents_.size() - 1; node > 0; --node)
            for (std::size_t i = 0; i < WIDTH; ++i) {
                inner[i] += sums[node][i];
                sums[parents_[node]][i] += sums[node][i];
            }
        const std::array<double, WIDTH> total = sums[ROOT];
        for (std::size_t i = 0; i < WIDTH; ++i) sums[ROOT][i] = inner[i] / 2;
        for (std::size_t node = 1; node < parents_.size(); ++node)
            for (std::size_t i = 0; i < WIDTH; ++i)
                sums[node][i] = sums[parents_[node]][i] + (total[i] / 2 - sums[node][i]);
        losses.clear();
        for (const std::uint32_t node : classes_) losses.push_back(sums[node]);
    }

private:
    static constexpr std::uint32_t ROOT = 0;

    // The index of a node of the taxonomy; it and those above it get one if they have none.
    std::uint32_t index_of(const ClassTree& tree, std::uint32_t node) {
        if (node == NO_ID) return append(ROOT);
        path_.clear();
        for (; node != NO_ID && index_of_[node] == ROOT; node = tree.parent(node))
            path_.push_back(node);
        std::uint32_t above = node == NO_ID ? ROOT : index_of_[node];
        for (auto at = path_.rbegin(); at != path_.rend(); ++at) {
            index_of_[*at] = above = append(above);
            seen_.push_back(*at);
        }
        return above;
    }

    std::uint32_t append(std::uint32_t parent) {
        parents_.push_back(parent);
        return static_cast<std::uint32_t>(parents_.size() - 1);
    }

    std::vector<std::uint32_t> parents_;   // of each index, in front of it; the first is the root
    std::vector<std::uint32_t> classes_;   // the index of each class
    std::vector<std::uint32_t> nodes_;     // the node in the taxonomy of each class
    std::vector<std::uint32_t> index_of_;  // by node of the taxonomy; ROOT: none
    std::vector<std::uint32_t> seen_;      // nodes of the taxonomy that have an index
    std::vector<std::uint32_t> path_;
};

// Temperatures are in units of the highest score of a ranking, so they do not depend on the scale
// of a learner's scores. Of a grid, the one is used whose classes of least expected loss had the
// smallest taxonomic loss, over past rankings that were made before their event was learned.
//
// State: a decayed sum of losses for each temperature, in integers.
class ExpectedLoss {
public:
    // 1, 2^-1/4, 2^-1/2, ...: by the lowest the classes of highest scores are nearly always chosen.
    static constexpr std::size_t TEMPERATURES = 32;
    static constexpr std::size_t CANDIDATES = 50;    // classes of a ranking with a probability

    double temperature() const { return std::exp2(-static_cast<double>(best()) / PER_OCTAVE); }

    // The expected losses of ranked classes, best first.
    std::vector<double> of(const Taxonomy& taxonomy, const std::vector<std::string_view>& classes,
                           const std::vector<double>& scores) const {
        const std::size_t chosen = best();
        Scratch<1>& with = scratch<1>();
        with.weights.clear();
        double total = 0;
        for (const double score : scores) {
            with.weights.push_back({weight(scores, score, chosen)});
            total += with.weights.back()[0];
        }
        with.candidates.fill(*Taxonomy::View(taxonomy), classes);
        with.candidates.expect(with.weights, with.sums, with.losses);
        std::vector<double> expected;
        for (const auto& [loss] : with.losses)
            expected.push_back(std::max(loss / total, 0.0));  // rounding may lead below
        return expected;
    }

    // Count the losses of a ranking, best first, made before its true classes were learned. An
    // empty ranking has no effect.
    void add(const Taxonomy& taxonomy, const std::vector<std::string_view>& classes,
             const std::vector<double>& scores, const std::vector<std::string_view>& true_classes) {
        if (classes.empty()) return;
        std::array<std::uint32_t, TEMPERATURES> edges;
        {
            const Taxonomy::View tree(taxonomy);
            Scratch<TEMPERATURES>& with = scratch<TEMPERATURES>();
            with.candidates.fill(*tree, classes);
            const std::array<std::size_t, TEMPERATURES> chosen = decoded(with, scores);
            for (std::size_t i = 0; i < TEMPERATURES; ++i)
                edges[i] = i > 0 && chosen[i] == chosen[i - 1]
                               ? edges[i - 1]
                               : nearest(*tree, classes[chosen[i]],
                                         with.candidates.nodes()[chosen[i]], true_classes);
        }
        for (std::size_t i = 0; i < TEMPERATURES; ++i)
            sums_[i] += edges[i] * EDGE - sums_[i] / MEMORY;
    }

    // --- state ---------------------------------------------------------------------------------

    const std::array<std::uint64_t, TEMPERATURES>& sums() const { return sums_; }

    // Load dumped sums; throw std::invalid_argument "section: fault" if no losses can lead to them.
    void load(const std::uint64_t* sums) {
        for (std::size_t i = 0; i < TEMPERATURES; ++i) {
            need(sums[i] <= MOST_EDGES * EDGE * (MEMORY + 1), "expected_loss_sums",
                 "paths are not as long");
            sums_[i] = sums[i];
        }
    }

private:
    static constexpr std::size_t PER_OCTAVE = 4;
    static constexpr std::uint64_t MOST_EDGES = 2 * ClassTree::DEEPEST;
    static constexpr std::uint64_t EDGE = 1 << 16;    // the unit of the sums: a part of an edge
    static constexpr std::uint64_t MEMORY = 1 << 12;  // rankings that the sums remember
    // Before the first ranking; a step away from it counts as much as an edge.
    static constexpr std::size_t USUAL = 9;

    // Memory of a thread.
    template <std::size_t WIDTH>
    struct Scratch {
        CandidateTree candidates;
        std::vector<std::array<double, WIDTH>> weights, sums, losses;
    };

    // Not inlined, see LinearScratch.
    template <std::size_t WIDTH>
    [[gnu::noinline]] static Scratch<WIDTH>& scratch() {
        static thread_local Scratch<WIDTH> scratch;
        return scratch;
    }

    std::size_t best() const {
        std::size_t best = 0;
        std::uint64_t least = ~std::uint64_t{0};
        for (std::size_t i = 0; i < TEMPERATURES; ++i) {
            const std::uint64_t loss = sums_[i] + (i > USUAL ? i - USUAL : USUAL - i) * EDGE;
            if (loss < least) {
                least = loss;
                best = i;
            }
        }
        return best;
    }

    // e to the lead of the best class over this score, by a temperature; 1 for the best class.
    static double weight(const std::vector<double>& scores, double score, std::size_t temperature) {
        constexpr std::array<double, PER_OCTAVE> ROOTS{1, 1.189207115002721, 1.4142135623730951,
                                                       1.681792830507429};
        const double lead = scores.front() - score;
        if (!(lead > 0)) return 1;
        const double usual = std::fabs(scores.front() != 0 ? scores.front() : scores.back());
        const double inverse = static_cast<double>(std::uint64_t{1} << (temperature / PER_OCTAVE)) *
                               ROOTS[temperature % PER_OCTAVE];
        return natural_exp(-std::min(lead / usual * inverse, 700.0));
    }

    // The class of least expected loss by each temperature, of equal ones the first.
    static std::array<std::size_t, TEMPERATURES> decoded(Scratch<TEMPERATURES>& with,
                                                         const std::vector<double>& scores) {
        with.weights.clear();
        for (const double score : scores) {
            std::array<double, TEMPERATURES>& row = with.weights.emplace_back();
            for (std::size_t i = 0; i < PER_OCTAVE; ++i) row[i] = weight(scores, score, i);
            for (std::size_t i = PER_OCTAVE; i < TEMPERATURES; ++i)
                row[i] = row[i - PER_OCTAVE] * row[i - PER_OCTAVE];  // half the temperature
        }
        with.candidates.expect(with.weights, with.sums, with.losses);
        std::array<std::size_t, TEMPERATURES> chosen{};
        for (std::size_t at = 1; at < with.losses.size(); ++at)
            for (std::size_t i = 0; i < TEMPERATURES; ++i)
                if (with.losses[at][i] < with.losses[chosen[i]][i]) chosen[i] = at;
        return chosen;
    }

    // Edges from a class to the nearest of the true ones.
    static std::uint32_t nearest(const ClassTree& tree, std::string_view name, std::uint32_t node,
                                 const std::vector<std::string_view>& true_classes) {
        std::uint32_t least = MOST_EDGES;
        for (const std::string_view each : true_classes) {
            if (each == name) return 0;
            const std::uint32_t other = tree.find(each);
            const std::uint32_t unknown = (node == NO_ID) + (other == NO_ID);
            least = std::min(least, tree.distance(node, other) + unknown);
        }
        return least;
    }

    std::array<std::uint64_t, TEMPERATURES> sums_{};
};

}  // namespace manyclass
