// The toy: an example of a new learner, with an option and sections of its own. Each feature
// remembers the last few classes that it was learned with, and divides its value among them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "learners/algorithm.hpp"

namespace manyclass {

class Toy final : public Algorithm {
public:
    Toy(Tables& tables, std::uint64_t seed, const OptionValues& options) : Algorithm(tables, seed) {
        configure(options);
    }

    // --- options -------------------------------------------------------------------------------

    template <class V>
    static void visit_options(V&& option, std::uint32_t& memory) {
        option("memory", memory);
    }
    static void visit_options(OptionNames& names) {
        std::uint32_t memory = 0;
        visit_options(names, memory);
    }
    void configure(const OptionValues& options) override { visit_options(options, memory_); }

    // --- ranking -------------------------------------------------------------------------------

    void rank(const Example& example, std::uint32_t k, double threshold,
              std::vector<Ranked>& best) const override {
        best.clear();
        for (const Ranked& each : retrieve(example))
            if (best.size() < k && each.score > threshold) best.push_back(each);
    }

    void rank_among(const Example& example, const std::vector<std::uint32_t>& classes,
                    std::uint32_t k, double threshold, std::vector<Ranked>& best) const override {
        best.clear();
        for (const Ranked& each : retrieve(example))
            if (best.size() < k && each.score > threshold &&
                std::find(classes.begin(), classes.end(), each.cls) != classes.end())
                best.push_back(each);
    }

    void explain(const Example& example, std::uint32_t cls,
                 Contributions& contributions) const override {
        for (const ActiveFeature& each : example.active)
            if (const double share = weight(each.feature, cls); share > 0)
                contributions.emplace_back(each.name, each.value * share);
    }

    // --- learning ------------------------------------------------------------------------------

    Outcome learn(Example& example, bool) override {
        const Outcome outcome = outcome_of(retrieve(example), example.classes);
        for (const ActiveFeature& each : example.active) {
            if (each.feature == NO_ID) continue;  // there was no room for it
            if (each.feature >= remembered_.size()) remembered_.resize(each.feature + 1);
            change(each.feature, [&](Classes& last) {
                for (const std::uint32_t cls : example.classes) {
                    if (cls == NO_ID) continue;
                    forget(last, cls);
                    last.push_back(cls);
                }
                if (last.size() > memory_) last.erase(last.begin(), last.end() - memory_);
            });
        }
        return outcome;
    }

    // --- forgetting ----------------------------------------------------------------------------

    void forget_feature(std::uint32_t feature) override {
        if (feature < remembered_.size()) change(feature, [](Classes& last) { last.clear(); });
    }

    // Every feature is visited: good enough for an example. Learners with many classes keep their
    // edges in the postings, where they are swept little by little.
    void forget_class(std::uint32_t cls) override {
        for (std::uint32_t feature = 0; feature < remembered_.size(); ++feature)
            change(feature, [&](Classes& last) { forget(last, cls); });
    }

    // --- looking inside ------------------------------------------------------------------------

    double weight(std::uint32_t feature, std::uint32_t cls) const override {
        const Classes& last = last_of(feature);
        const bool is_there = std::find(last.begin(), last.end(), cls) != last.end();
        return is_there ? 1.0 / static_cast<double>(last.size()) : 0.0;
    }
    void each_weight(std::uint32_t feature,
                     const std::function<void(std::uint32_t, double)>& visit) const override {
        for (const std::uint32_t cls : last_of(feature)) visit(cls, weight(feature, cls));
    }
    std::uint64_t weights() const override { return weights_; }
    const Outdegrees& outdegrees() const override { return outdegrees_; }

    // --- sizes and state -----------------------------------------------------------------------

    std::uint64_t bytes() const override { return weights_ * sizeof(std::uint32_t); }
    std::size_t resident_bytes() const override {
        return remembered_.capacity() * sizeof(Classes) + bytes();
    }

    // The sections begin with the learner's name, so that no other part of a snapshot has them.
    void visit(SnapshotVisitor& visitor) override {
        Algorithm::visit(visitor);
        const std::uint32_t features = tables_.features.end();
        const auto sizes = visitor.matching<std::uint32_t>("toy_sizes", features);
        const auto classes = visitor.run<std::uint32_t>("toy_classes", weights_);
        if (visitor.is_loading()) return load(sizes, classes);
        if (!visitor.is_dumping()) return;
        std::uint32_t* at = classes.data;
        for (std::uint32_t feature = 0; feature < features; ++feature) {
            const Classes& last = last_of(feature);
            sizes.data[feature] = static_cast<std::uint32_t>(last.size());
            at = std::copy(last.begin(), last.end(), at);
        }
    }

private:
    static constexpr std::uint32_t MOST_MEMORY = 16;  // as declared in core/learners/toy.py

    using Classes = std::vector<std::uint32_t>;  // the last one learned at the end

    static void forget(Classes& last, std::uint32_t cls) {
        last.erase(std::remove(last.begin(), last.end(), cls), last.end());
    }

    const Classes& last_of(std::uint32_t feature) const {
        static const Classes NONE;
        return feature < remembered_.size() ? remembered_[feature] : NONE;
    }

    // Change the classes of a feature, and count them.
    template <class F>
    void change(std::uint32_t feature, F&& apply) {
        Classes& last = remembered_[feature];
        --outdegrees_[last.size()];  // the number of features with 0 is never read
        weights_ -= last.size();
        apply(last);
        ++outdegrees_[last.size()];
        weights_ += last.size();
    }

    // All classes that an active feature remembers, best first.
    std::vector<Ranked> retrieve(const Example& example) const {
        std::map<std::uint32_t, double> scores;
        std::uint64_t edges = 0;
        for (const ActiveFeature& each : example.active) {
            const Classes& last = last_of(each.feature);
            for (const std::uint32_t cls : last)
                scores[cls] += each.value / static_cast<double>(last.size());
            edges += last.size();
        }
        work_.add(example.active.size(), edges);
        std::vector<Ranked> found;
        for (const auto& [cls, score] : scores) found.push_back({score, cls});
        std::sort(found.begin(), found.end(), [this](const Ranked& one, const Ranked& other) {
            return tables_.precedes(one, other);
        });
        return found;
    }

    static Outcome outcome_of(const std::vector<Ranked>& ranked, const Classes& true_classes) {
        Outcome outcome{0, true, {}};
        for (const Ranked& each : ranked) outcome.top_two.add(each.score);
        const auto hit = std::find_if(ranked.begin(), ranked.end(), [&](const Ranked& each) {
            return std::find(true_classes.begin(), true_classes.end(), each.cls) !=
                   true_classes.end();
        });
        if (hit != ranked.end())
            outcome.rank = static_cast<std::uint32_t>(hit - ranked.begin() + 1);
        return outcome;
    }

    // Take over the sections, after a check of each value: they may come from anywhere.
    void load(const Run<std::uint32_t>& sizes, const Run<std::uint32_t>& classes) {
        remembered_.resize(sizes.size);
        std::uint64_t at = 0;
        for (std::uint32_t feature = 0; feature < sizes.size; ++feature) {
            const std::uint32_t size = sizes.data[feature];
            need(size <= (tables_.features.alive(feature) ? MOST_MEMORY : 0), "toy_sizes",
                 "a feature remembers too many classes");
            need(size <= classes.size - at, "toy_classes", "it is too short");
            change(feature, [&](Classes& last) {
                for (const std::uint64_t end = at + size; at < end; ++at) {
                    const std::uint32_t cls = classes.data[at];
                    need(cls < tables_.classes.end() && tables_.classes.alive(cls) &&
                             std::find(last.begin(), last.end(), cls) == last.end(),
                         "toy_classes", "a feature remembers no class, or one twice");
                    last.push_back(cls);
                }
            });
        }
        need(at == classes.size, "toy_classes", "it is too long");
    }

    std::vector<Classes> remembered_;  // by feature id
    Outdegrees outdegrees_{};
    std::uint64_t weights_ = 0;
    std::uint32_t memory_ = 0;
};

}  // namespace manyclass
