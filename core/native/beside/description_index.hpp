// An index of the words of descriptions: feature → classes, which ranks classes before any event.
// Scores are those of BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009),
// with the number of different features as the length of a description, which counts in full.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "learners/explanation.hpp"
#include "math/elementary.hpp"
#include "pipeline/wire.hpp"
#include "storage/vocabulary.hpp"

namespace manyclass {

// Classes have the ids of the caller.
// Threads: one at a time; any number may call const functions at once.
class DescriptionIndex {
public:
    explicit DescriptionIndex(std::uint64_t hash_seed) : features_(hash_seed) {}

    std::uint64_t count() const { return count_; }  // of classes with features
    bool has(std::uint32_t cls) const {
        return cls < instances_.size() && feature_count(instances_[cls]) > 0;
    }
    std::string_view instance(std::uint32_t cls) const { return instances_[cls]; }

    // Replace the features of a class; an instance without features removes them.
    void put(std::uint32_t cls, std::string_view instance) {
        if (cls >= instances_.size()) instances_.resize(cls + std::size_t{1});
        if (has(cls)) remove(cls);
        if (feature_count(instance) == 0) return;
        instances_[cls].assign(instance);
        ++count_;
        lengths_ += feature_count(instance);
        instance_bytes_ += instance.size();
        FeatureReader reader(instance);
        while (reader.next()) {
            std::uint32_t id = features_.find(reader.name());
            if (id == NO_ID) {
                id = features_.add(reader.name());
                if (id >= classes_of_.size()) classes_of_.resize(id + std::size_t{1});
            }
            classes_of_[id].push_back({cls, static_cast<float>(reader.value())});
        }
    }

    // Call `add(class, score)` for each class of each feature of the instance.
    template <class F>
    void score(std::string_view instance, F&& add) const {
        visit(instance, [&](std::string_view, const Entry& entry, double rarity) {
            add(entry.cls, rarity * share(entry));
        });
    }

    // Find what each feature of the instance adds to the score of a class.
    void explain(std::string_view instance, std::uint32_t cls, Contributions& found) const {
        visit(instance, [&](std::string_view feature, const Entry& entry, double rarity) {
            if (entry.cls == cls) found.emplace_back(feature, rarity * share(entry));
        });
    }

    // The memory of the descriptions, their texts included, by numbers that depend on them alone: half
    // to twice what the process takes.
    std::uint64_t bytes() const {
        return count_ * OF_CLASS + features_.count() * OF_FEATURE + features_.name_bytes() +
               lengths_ * 2 * sizeof(Entry) + 2 * instance_bytes_;
    }

    std::size_t resident_bytes() const {
        std::size_t bytes = features_.resident_bytes() +
                            classes_of_.capacity() * sizeof(std::vector<Entry>);
        for (const std::string& each : instances_) bytes += sizeof each + each.capacity();
        for (const auto& each : classes_of_) bytes += each.capacity() * sizeof(Entry);
        return bytes;
    }

private:
    struct Entry {
        std::uint32_t cls;
        float times;
    };
    static constexpr double SATURATION = 1.2;  // k1; b is 1: less favours long titles over short ones
    static constexpr std::size_t FEW = 64;
    static constexpr std::uint64_t OF_CLASS = 400, OF_FEATURE = 80;  // bytes

    // Call `vote(feature, entry, rarity)` for each class of each feature of the instance.
    template <class F>
    void visit(std::string_view instance, F&& vote) const {
        FeatureReader reader(instance);
        while (reader.next()) {
            const std::uint32_t id = features_.find(reader.name());
            if (id == NO_ID || is_common(classes_of_[id].size())) continue;
            const double rarity = rarity_of(classes_of_[id].size());
            for (const Entry& entry : classes_of_[id]) vote(reader.name(), entry, rarity);
        }
    }

    // True of a feature of so many descriptions that it tells little and costs most.
    bool is_common(std::size_t classes) const { return classes > FEW && classes > count_ / 8; }

    double rarity_of(std::size_t classes) const {
        const auto with = static_cast<double>(classes);
        return natural_log(1 + (static_cast<double>(count_) - with + 0.5) / (with + 0.5));
    }

    double share(const Entry& entry) const {
        const double length = static_cast<double>(feature_count(instances_[entry.cls])) *
                              static_cast<double>(count_) / static_cast<double>(lengths_);
        const auto times = static_cast<double>(entry.times);
        return times * (SATURATION + 1) / (times + SATURATION * length);
    }

    void remove(std::uint32_t cls) {
        FeatureReader reader(instances_[cls]);
        while (reader.next()) {
            const std::uint32_t id = features_.find(reader.name());
            std::vector<Entry>& classes = classes_of_[id];
            classes.erase(std::find_if(classes.begin(), classes.end(),
                                       [cls](const Entry& each) { return each.cls == cls; }));
            if (!classes.empty()) continue;
            features_.remove(id);
            std::vector<Entry>().swap(classes);
        }
        --count_;
        lengths_ -= feature_count(instances_[cls]);
        instance_bytes_ -= instances_[cls].size();
        std::string().swap(instances_[cls]);
    }

    Vocabulary features_;
    std::vector<std::vector<Entry>> classes_of_;  // by feature
    std::vector<std::string> instances_;          // by class, in wire form
    std::uint64_t count_ = 0, lengths_ = 0;       // of classes with features; of all these features
    std::uint64_t instance_bytes_ = 0;
};

}  // namespace manyclass
