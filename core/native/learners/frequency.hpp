// The baseline: ranks classes by their number of events, the same for every instance.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "learners/algorithm.hpp"
#include "pipeline/top_k.hpp"

namespace manyclass {

class Frequency final : public Algorithm {
public:
    Frequency(Tables& tables, std::uint64_t seed, const OptionValues& options)
        : Algorithm(tables, seed) {
        configure(options);
    }

    template <class V>
    static void visit_options(V&& option, std::uint32_t& retrieval_window) {
        option("retrieval_window", retrieval_window);
    }
    static void visit_options(OptionNames& names) {
        std::uint32_t window = 0;
        visit_options(names, window);
    }
    void configure(const OptionValues& options) override {
        visit_options(options, retrieval_window_);
    }

    bool ignores_features() const override { return true; }
    bool takes_signs() const override { return true; }  // no value is used
    bool learns_before_counting() const override { return true; }

    // A score is a class's share of the events of all classes within the retrieval window.
    void rank(const Example&, std::uint32_t k, double threshold,
              std::vector<Ranked>& best) const override {
        best.clear();
        for (const Ranked& each : retrieve())
            if (best.size() < k && each.score > std::max(threshold, 0.0)) best.push_back(each);
    }

    // Classes beyond the window are ranked too.
    void rank_among(const Example&, const std::vector<std::uint32_t>& classes, std::uint32_t k,
                    double threshold, std::vector<Ranked>& best) const override {
        const auto learned = static_cast<double>(learned_in_window());
        best.clear();
        for (const std::uint32_t cls : classes) {
            const double score = static_cast<double>(tables_.class_records[cls].learned) / learned;
            if (score > std::max(threshold, 0.0)) best.push_back({score, cls});
        }
        keep_first(best, k, [this](const Ranked& one, const Ranked& other) {
            return tables_.precedes(one, other);
        });
    }

    // The engine increases the counts; learning only updates the order.
    Outcome learn(Example& example, bool) override {
        const std::vector<Ranked> ranked = retrieve();
        Outcome outcome{0, true, {}};
        if (ranked.size() > 0) outcome.top_two.first = ranked[0].score;
        if (ranked.size() > 1) outcome.top_two.second = ranked[1].score;
        if (example.before != nullptr) {
            const std::size_t kept = std::min<std::size_t>(ranked.size(), example.before->depth);
            example.before->best.assign(ranked.begin(),
                                        ranked.begin() + static_cast<std::ptrdiff_t>(kept));
        }
        for (std::uint32_t at = 0; at < ranked.size() && outcome.rank == 0; ++at)
            if (std::find(example.classes.begin(), example.classes.end(), ranked[at].cls) !=
                example.classes.end())
                outcome.rank = at + 1;
        return outcome;
    }

    void class_added(std::uint32_t cls) override { order_.insert(entry(cls)); }

    void class_counted(std::uint32_t cls) override {
        Entry before = entry(cls);
        --before.learned;
        order_.erase(before);
        order_.insert(entry(cls));
    }

    void forget_class(std::uint32_t cls) override { order_.erase(entry(cls)); }

    std::uint64_t class_bytes() const override { return order_.size() * BYTES_PER_ENTRY; }
    std::size_t resident_bytes() const override { return order_.size() * BYTES_PER_ENTRY; }

    void visit(SnapshotVisitor& visitor) override {
        Algorithm::visit(visitor);
        if (!visitor.is_loading()) return;
        for (std::uint32_t id = 0; id < tables_.classes.end(); ++id)
            if (tables_.classes.alive(id)) order_.insert(entry(id));
    }

private:
    static constexpr std::uint64_t BYTES_PER_ENTRY = 64;

    struct Entry {
        std::uint64_t learned, creation_order;
        std::uint32_t cls;
        bool operator<(const Entry& other) const {  // of equal ones the older class first
            if (learned != other.learned) return learned > other.learned;
            return creation_order < other.creation_order;
        }
    };

    Entry entry(std::uint32_t cls) const {
        const ClassRecord& record = tables_.class_records[cls];
        return {record.learned, record.creation_order, cls};
    }

    // Return the classes within the retrieval window, most frequent first.
    std::vector<Ranked> retrieve() const {
        const auto learned = static_cast<double>(learned_in_window());
        std::vector<Ranked> found;
        each_in_window([&](const Entry& each) {
            found.push_back({static_cast<double>(each.learned) / learned, each.cls});
        });
        return found;
    }

    std::uint64_t learned_in_window() const {
        std::uint64_t learned = 0;
        each_in_window([&](const Entry& each) { learned += each.learned; });
        return learned;
    }

    template <class F>
    void each_in_window(F&& visit) const {
        std::uint32_t rank = 0;
        for (auto each = order_.begin(); each != order_.end() && rank < retrieval_window_;
             ++each, ++rank)
            visit(*each);
    }

    std::set<Entry> order_;  // of every class
    std::uint32_t retrieval_window_ = 0;
};

}  // namespace manyclass
