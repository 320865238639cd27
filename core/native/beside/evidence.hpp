// The evidence of classes beside the weights of a learner: their descriptions, and sums of the
// vectors of past events. All learners of a model share it, as they share the taxonomy.
//
//   "describe" event ──► DescriptionIndex ──► scores by words of the descriptions
//   vector of an event ──► VectorSums ──► Covariance, weights ──► scores by the vector
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "beside/class_weights.hpp"
#include "beside/description_index.hpp"
#include "beside/discriminant.hpp"
#include "beside/vector_sums.hpp"
#include "pipeline/reader_slots.hpp"
#include "pipeline/vector.hpp"
#include "snapshot/visitor.hpp"
#include "storage/name_page.hpp"
#include "storage/vocabulary.hpp"

namespace manyclass {

// The limits on what is kept of vectors; the class whose newest vector is the oldest leaves first.
struct EvidenceLimits {
    std::uint64_t classes = 0, bytes = 0;  // 0: no limit
};

// Threads: any number may rank, with a View. One changes it; it waits for the rankings under way,
// but not while it computes a new covariance.
class Evidence {
public:
    // The seed salts the tables of names and has no effect on the state.
    explicit Evidence(std::uint64_t hash_seed) : names_(hash_seed), descriptions_(hash_seed) {}

    // True if it can say anything of an instance. Without descriptions and vectors, this costs
    // nothing else.
    bool concerns(std::string_view instance) const {
        return described_ > 0 || (dimension_ > 0 && has_vector(instance));
    }

    // True with any description or vector.
    bool concerns_any() const { return described_ > 0 || dimension_ > 0; }

    // The dimension of all vectors; 0 before the first.
    std::size_t dimension() const { return dimension_; }

    // True if the vector of an instance has another dimension than those before.
    bool mismatches(std::string_view instance) const {
        const std::size_t known = dimension_;
        return known > 0 && has_vector(instance) && vector_of(instance).size() != known;
    }

    // --- ranking -------------------------------------------------------------------------------

    // The evidence locked for reading.
    class View {
    public:
        explicit View(const Evidence& evidence) : evidence_(evidence), lock_(evidence.lock_) {}

        std::uint32_t end() const { return evidence_.names_.end(); }  // one past the highest id
        std::uint32_t find(std::string_view cls) const { return evidence_.names_.find(cls); }
        std::string_view name(std::uint32_t id) const { return evidence_.names_.name(id); }
        const DescriptionIndex& descriptions() const { return evidence_.descriptions_; }

        bool has_weights(std::uint32_t id) const { return evidence_.weights_.has(id); }

        // The mean number of events of the classes with events.
        double events_of_class() const {
            const auto classes = std::max<std::uint32_t>(1, evidence_.classes_);
            return static_cast<double>(evidence_.events_) / VectorSums::UNIT / classes;
        }

        // The number of events of the log since a class was described; of all without a description
        // that ranks.
        std::uint64_t events_since_described(std::uint32_t id) const {
            const std::uint64_t now = evidence_.seq_;
            const std::uint64_t since = evidence_.is_described(id) ? evidence_.since_[id] : 0;
            return now > since ? now - since : 0;
        }

        // Set the scores of all classes with weights; those of others stay. Return that of a class
        // that has neither events nor a vector of its own.
        float score(VectorView vector, std::vector<float>& scores) const {
            static thread_local std::vector<std::int16_t> numbers;
            numbers.resize(vector.size());
            std::memcpy(numbers.data(), vector.data(), vector.bytes());
            const ClassWeights& weights = evidence_.weights_;
            scores.resize(weights.end());
            for (std::uint32_t id = 0; id < scores.size(); ++id)
                if (weights.has(id)) scores[id] = weights.score(id, numbers.data());
            const ClassWeights& of_none = evidence_.weights_of_none_;
            return of_none.has(0) ? of_none.score(0, numbers.data()) : 0;
        }

        // True if the vectors of the classes have the dimension of this one.
        bool can_score(VectorView vector) const {
            return !vector.empty() && evidence_.weights_.count() > 0 &&
                   vector.size() == evidence_.dimension_;
        }

    private:
        const Evidence& evidence_;
        const Reading lock_;
    };

    // --- changes -------------------------------------------------------------------------------

    // Note the number of the last event of the log.
    void set_seq(std::uint64_t seq) { seq_ = seq; }

    // Replace the description of a class: the instance of its texts, with its vector; it was first
    // described by event `since`. An instance without features and vector ranks no class. With 0 as
    // `since`, it removes the description.
    void describe(std::string_view cls, std::string_view instance, std::uint64_t since) {
        const VectorView vector = vector_of(instance);
        const bool is_empty = since == 0 && feature_count(instance) == 0 && vector.empty();
        std::uint32_t id = names_.find(cls);
        if (is_empty && id == NO_ID) return;
        const Writing lock(lock_);
        if (id == NO_ID) id = add(cls);
        described_ -= is_described(id);
        descriptions_.put(id, instance);
        vectors_of_classes_ -= !of_class_[id].empty();
        of_class_[id].clear();
        if (!vector.empty() && (dimension_ == 0 || vector.size() == dimension_)) {
            if (dimension_ == 0) begin(vector.size());
            for (std::size_t at = 0; at < vector.size(); ++at)
                of_class_[id].push_back(vector[at]);
            ++vectors_of_classes_;
        }
        described_ += is_described(id);
        since_[id] = since;
        weigh({id});
        tidy(id);
    }

    // Add the vector of event `of` to its classes; `seq` is that event, or the one that corrects it.
    // Nothing without a vector, or with one of another dimension.
    void learn(std::string_view instance, const std::vector<std::string_view>& classes,
               double weight, std::uint64_t seq, std::uint64_t of, const EvidenceLimits& limits) {
        const VectorView vector = vector_of(instance);
        if (vector.empty() || classes.empty()) return;
        if (dimension_ != 0 && vector.size() != dimension_) return;
        std::vector<std::uint32_t> ids;
        {
            const Writing lock(lock_);
            if (dimension_ == 0) begin(vector.size());
            for (const std::string_view cls : classes) {
                std::uint32_t id = names_.find(cls);
                if (id == NO_ID) id = add(cls);
                ids.push_back(id);
            }
        }
        sums_.add(vector, ids, VectorSums::units_of(weight), seq, of);
        if (sums_.events() >= due() || covariance_.mean().empty()) return refresh(limits);
        const Writing lock(lock_);
        weigh(ids);
        for (const std::uint32_t id : ids) tidy(id);
        evict(limits);
    }

    // Forget what the covariance has of vectors that were taken back: it is computed anew with the
    // next vector.
    void expire() { refreshed_ = 0; }

    // Take the vector of event `of` back from these classes: the sums are as if they had never had
    // it.
    void take_back(std::string_view instance, const std::vector<std::string_view>& classes,
                   double weight, std::uint64_t of) {
        const VectorView vector = vector_of(instance);
        if (vector.empty() || vector.size() != dimension_) return;
        for (const std::string_view cls : classes) {
            const std::uint32_t id = names_.find(cls);
            if (id == NO_ID || !sums_.take_back(vector, id, VectorSums::units_of(weight), of))
                continue;
            const Writing lock(lock_);
            weigh({id});
            tidy(id);
        }
    }

    // Forget the sums of a class; its description stays.
    void forget(std::string_view cls) {
        const std::uint32_t id = names_.find(cls);
        if (id == NO_ID || !sums_.has(id)) return;
        sums_.forget(id);
        const Writing lock(lock_);
        weigh({id});
        tidy(id);
    }

    // Rename a class, or add its sums to those of `to`. Describe both names afterwards.
    void rename(std::string_view cls, std::string_view to) {
        const std::uint32_t id = names_.find(cls);
        if (id == NO_ID) return;
        const Writing lock(lock_);
        const std::uint32_t into = names_.find(to);
        if (into == NO_ID) {
            names_.rename(id, to);
            order_.add(names_, id);
            return;
        }
        sums_.merge(id, into);
        weigh({id, into});
        for (const std::uint32_t each : {id, into}) tidy(each);
    }

    // --- sizes ---------------------------------------------------------------------------------

    struct Sizes {
        std::uint64_t described, classes, events, dimension, bytes;
    };

    Sizes sizes() const {
        const Reading lock(lock_);
        const std::uint64_t classes = weights_.count(), size = dimension_;
        return {described_, classes, static_cast<std::uint64_t>(events_ / VectorSums::UNIT), size,
                classes * VectorSums::bytes_of_class(size) + bytes_of_pairs(size) +
                    descriptions_.bytes()};
    }

    // The bytes that all descriptions take, with their vectors.
    std::uint64_t bytes_of_descriptions() const {
        const Reading lock(lock_);
        return descriptions_.bytes() +
               vectors_of_classes_ * (OF_VECTOR + dimension_ * 3 * sizeof(std::int16_t));
    }

    // True of a class with a description or with vectors of events.
    bool has(std::string_view cls) const {
        const Reading lock(lock_);
        return names_.find(cls) != NO_ID;
    }

    // Count those of its classes that `wants(name)` wants, block by block.
    template <class F>
    std::uint64_t count_classes(F&& wants) const {
        std::uint64_t count = 0;
        for (std::uint32_t begin = 0, end = 1; begin < end; begin += NAMES_OF_BLOCK) {
            const Reading lock(lock_);
            end = names_.end();
            for (std::uint32_t id = begin; id < std::min(end, begin + NAMES_OF_BLOCK); ++id)
                count += names_.alive(id) && wants(names_.name(id));
        }
        return count;
    }

    // The next of its classes after `after` that `wants(name)` wants, and the number of the events
    // whose vectors each has; part of one counts as one.
    template <class F>
    void class_page(std::string_view prefix, std::string_view after, std::size_t limit,
                    NamePage& page, F&& wants) const {
        const auto count = [&](std::uint32_t id) -> std::optional<std::uint64_t> {
            if (!wants(names_.name(id))) return std::nullopt;
            return static_cast<std::uint64_t>(
                (counts_[id] + VectorSums::UNIT - 1) / VectorSums::UNIT);
        };
        read_page(names_, order_, prefix, after, limit, page, [this] { return Reading(lock_); },
                  count);
    }

    // The number of events whose vectors a class has; 0 for an unknown one.
    double events_of(std::string_view cls) const {
        const Reading lock(lock_);
        const std::uint32_t id = names_.find(cls);
        return id == NO_ID ? 0 : static_cast<double>(counts_[id]) / VectorSums::UNIT;
    }

    // --- state ---------------------------------------------------------------------------------

    // Return the sections of the vectors with their sizes; none without vectors of events. The
    // descriptions are the caller's.
    std::vector<Section> measure() const {
        if (sums_.classes() == 0) return {};
        std::uint64_t name_bytes = 0, older = 0;
        for (const std::uint32_t id : in_order()) {
            name_bytes += names_.name(id).size();
            older += sums_[id].older.size();
        }
        const std::uint64_t classes = sums_.classes(), size = sums_.dimension();
        return {
            {"vector_facts", "u8", FACTS, nullptr},
            {"vector_class_name_sizes", "u2", classes, nullptr},
            {"vector_class_names", "u1", name_bytes, nullptr},
            {"vector_class_counts", "u8", 3 * classes, nullptr},
            {"vector_class_older", "u8", 2 * older, nullptr},
            {"vector_class_sums", "u8", classes * size, nullptr},
            {"vector_products", "u8", size * (size + 1) / 2, nullptr},
            {"vector_mean", "f4", covariance_.mean().size(), nullptr},
            {"vector_factor", "f4", covariance_.factor().size(), nullptr},
        };
    }

    // Copy the state into the sections that were measured.
    void dump(const std::vector<Section>& sections) const {
        if (sections.empty()) return;
        auto* const facts = static_cast<std::uint64_t*>(sections[0].data);
        facts[0] = sums_.dimension();
        facts[1] = static_cast<std::uint64_t>(sums_.retired());
        facts[2] = static_cast<std::uint64_t>(refreshed_);
        auto* sizes = static_cast<std::uint16_t*>(sections[1].data);
        auto* names = static_cast<char*>(sections[2].data);
        auto* counts = static_cast<std::uint64_t*>(sections[3].data);
        auto* older = static_cast<std::uint64_t*>(sections[4].data);
        auto* sums = static_cast<std::int64_t*>(sections[5].data);
        std::uint64_t position = 0;
        for (const std::uint32_t id : in_order()) {
            const std::string_view name = names_.name(id);
            *sizes++ = static_cast<std::uint16_t>(name.size());
            names = std::copy(name.begin(), name.end(), names);
            *counts++ = static_cast<std::uint64_t>(sums_[id].count);
            *counts++ = sums_[id].born;
            *counts++ = sums_[id].last;
            for (const std::uint64_t event : sums_[id].older) {
                *older++ = position;
                *older++ = event;
            }
            ++position;
            sums = std::copy_n(sums_.sum(id), sums_.dimension(), sums);
        }
        const auto& products = sums_.all_products();
        std::copy(products.begin(), products.end(), static_cast<std::int64_t*>(sections[6].data));
        const auto& mean = covariance_.mean();
        std::copy(mean.begin(), mean.end(), static_cast<float*>(sections[7].data));
        const auto& factor = covariance_.factor();
        std::copy(factor.begin(), factor.end(), static_cast<float*>(sections[8].data));
    }

    // Fill new evidence; describe the classes afterwards. Throw
    // std::invalid_argument("section: fault") if the sections contradict each other.
    void load(const std::vector<Section>& sections) {
        const auto* const facts = static_cast<const std::uint64_t*>(sections[0].data);
        need(sections[0].size == FACTS, "vector_facts", "it has another number of facts");
        const std::uint64_t size = facts[0], classes = sections[1].size;
        need(size >= LEAST_DIMENSION && size <= MOST_DIMENSION, "vector_facts",
             "there is no such dimension");
        need(facts[1] <= MOST_UNITS && facts[2] <= MOST_UNITS, "vector_facts",
             "no count can be so large");
        need(classes > 0 && sections[3].size == 3 * classes && sections[5].size == classes * size,
             "vector_class_counts", "the arrays of the classes do not fit together");
        need(sections[4].size % 2 == 0, "vector_class_older", "it is not an array of pairs");
        need(sections[6].size == size * (size + 1) / 2, "vector_products",
             "they are not those of the dimension");
        need(sections[7].size == size, "vector_mean", "it is not that of the dimension");
        need(sections[8].size == 0 || sections[8].size == size * (size + 1) / 2, "vector_factor",
             "it is not that of the dimension");
        begin(size);
        sums_.load(size, static_cast<std::int64_t>(facts[1]),
                   static_cast<const std::int64_t*>(sections[6].data));
        refreshed_ = static_cast<std::int64_t>(facts[2]);
        const auto* const mean = static_cast<const float*>(sections[7].data);
        const auto* const factor = static_cast<const float*>(sections[8].data);
        need(std::all_of(mean, mean + size, [](float one) { return std::fabs(one) <= 1; }),
             "vector_mean", "a number is not one of a mean");
        need(std::all_of(factor, factor + sections[8].size,
                         [](float one) { return std::fabs(one) <= LARGEST_FACTOR; }),
             "vector_factor", "a number is too large");
        for (std::size_t at = 0, row = 0; at < sections[8].size; at += ++row + 1)
            need(factor[at] >= LEAST_OF_DIAGONAL, "vector_factor", "it has no inverse");
        const auto* const products = static_cast<const std::int64_t*>(sections[6].data);
        need(std::all_of(products, products + sections[6].size,
                         [](std::int64_t one) { return one <= LARGEST_SUM && one >= -LARGEST_SUM; }),
             "vector_products", "a sum is too large");
        covariance_.load({factor, factor + sections[8].size}, {mean, mean + size});
        weights_of_none_ = weights_of_none(covariance_);
        const auto* const sizes = static_cast<const std::uint16_t*>(sections[1].data);
        const auto* const names = static_cast<const char*>(sections[2].data);
        const auto* const counts = static_cast<const std::uint64_t*>(sections[3].data);
        const auto* const older = static_cast<const std::uint64_t*>(sections[4].data);
        std::uint64_t pair = 0;  // position in `older`
        const auto* const sums = static_cast<const std::int64_t*>(sections[5].data);
        std::size_t begin = 0;
        std::string_view before;
        std::uint64_t all = 0;
        for (std::uint64_t at = 0; at < classes; ++at) {
            need(sections[2].size - begin >= sizes[at], "vector_class_name_sizes",
                 "names are cut short");
            const std::string_view name(names + begin, sizes[at]);
            begin += sizes[at];
            need(!name.empty() && name.size() <= LONGEST_NAME && is_utf8(name),
                 "vector_class_names", "a name is not one");
            need(at == 0 || before < name, "vector_class_names", "the names are out of order");
            before = name;
            const std::uint64_t* const of = counts + 3 * at;
            need(of[0] > 0 && of[0] <= MOST_UNITS && of[1] <= of[2] && of[2] <= LARGEST_COUNT,
                 "vector_class_counts", "no class has such counts");
            all += of[0];
            need(all + facts[1] <= MOST_UNITS, "vector_class_counts", "no count can be so large");
            const std::int64_t* const sum = sums + at * size;
            const auto most = static_cast<std::int64_t>(of[0]) * static_cast<std::int64_t>(VECTOR_LENGTH);
            need(std::all_of(sum, sum + size, [&](std::int64_t one) { return one <= most && one >= -most; }),
                 "vector_class_sums", "a sum is larger than its events can make it");
            VectorSums::ClassSum loaded{static_cast<std::int64_t>(of[0]), of[1], of[2]};
            for (; pair < sections[4].size && older[pair] == at; pair += 2) {
                need(older[pair + 1] < loaded.born, "vector_class_older", "an event is not older");
                loaded.older.push_back(older[pair + 1]);
            }
            sums_.load_class(add(name), loaded, sum);
        }
        need(pair == sections[4].size, "vector_class_older", "an event is of no class");
        need(begin == sections[2].size, "vector_class_name_sizes", "more name bytes than names");
        weigh(all_ids());
    }

    std::size_t resident_bytes() const {
        const Reading lock(lock_);
        return names_.resident_bytes() + order_.resident_bytes() +
               descriptions_.resident_bytes() + bytes_of_sums_ + weights_.resident_bytes() +
               covariance_.factor().capacity() * sizeof(float);
    }

private:
    static constexpr std::uint64_t FACTS = 3, OF_VECTOR = 800;  // bytes beside the numbers
    static constexpr auto MOST_UNITS = static_cast<std::uint64_t>(VectorSums::MOST_UNITS);
    static constexpr std::int64_t LARGEST_SUM = std::int64_t{1} << 62;
    // Of a factor of a matrix whose mean diagonal is 1; no pivot is below 1e-9.
    static constexpr float LARGEST_FACTOR = 65, LEAST_OF_DIAGONAL = 3e-5f;

    // The bytes of the sums of products and of the factor.
    static std::uint64_t bytes_of_pairs(std::uint64_t size) {
        return size * (size + 1) / 2 * (sizeof(std::int64_t) + sizeof(float));
    }

    // The units of events from which on the covariance is computed anew: a quarter more.
    std::int64_t due() const {
        return refreshed_ + std::max<std::int64_t>(VectorSums::UNIT, refreshed_ / 4);
    }

    // Compute the covariance and all weights anew. Rankings go on meanwhile.
    void refresh(const EvidenceLimits& limits) {
        const std::int64_t events_now = sums_.events();
        Covariance covariance = Covariance::of(sums_, in_order());
        const std::vector<std::uint32_t> ids = all_ids();
        ClassWeights weights(sums_.dimension());
        weigh(covariance, ids, weights);
        ClassWeights of_none = weights_of_none(covariance);
        refreshed_ = events_now;
        const Writing lock(lock_);
        std::swap(covariance_, covariance);
        std::swap(weights_, weights);
        std::swap(weights_of_none_, of_none);
        note(ids);
        evict(limits);
    }

    void begin(std::size_t dimension) {
        sums_.begin(dimension);
        dimension_ = dimension;
        weights_ = ClassWeights(dimension);
    }

    std::uint32_t add(std::string_view cls) {
        const std::uint32_t id = names_.add(cls);
        order_.add(names_, id);
        if (id >= of_class_.size()) {
            of_class_.resize(id + std::size_t{1});
            since_.resize(of_class_.size());
            counts_.resize(of_class_.size());
        }
        since_[id] = 0;
        return id;
    }

    bool has_mean(std::uint32_t id) const { return sums_.has(id) || !of_class_[id].empty(); }

    // Write the mean of a class that has events or a vector of its own.
    void set_mean(std::uint32_t id, const Covariance& covariance, float* mean) const {
        const bool has_events = sums_.has(id), has_own = !of_class_[id].empty();
        const std::vector<float>& of_all = covariance.mean();
        const std::int64_t one = VectorSums::UNIT, own = has_own ? one : 0;
        const double count = static_cast<double>((has_events ? sums_[id].count : 0) + own + one);
        for (std::size_t at = 0; at < sums_.dimension(); ++at) {
            const std::int64_t sum = (has_events ? sums_.sum(id)[at] : 0) +
                                     (has_own ? own * of_class_[id][at] : 0);
            const double more = of_all.empty() ? 0 : static_cast<double>(of_all[at]) * one;
            mean[at] = static_cast<float>(
                (static_cast<double>(sum) / VECTOR_LENGTH + more) / count);
        }
    }

    // Compute the weights of classes; one without a mean has none.
    void weigh(const Covariance& covariance, const std::vector<std::uint32_t>& ids,
               ClassWeights& weights) const {
        Weighing weighing(covariance, sums_.dimension(), weights);
        for (const std::uint32_t id : ids) {
            if (has_mean(id)) set_mean(id, covariance, weighing.mean_of(id));
            else weights.remove(id);
        }
        weighing.end();
    }

    // Return the weights of a class with neither events nor a vector of its own, as those of class 0.
    static ClassWeights weights_of_none(const Covariance& covariance) {
        const std::vector<float>& mean = covariance.mean();
        ClassWeights weights(mean.size());
        Weighing weighing(covariance, mean.size(), weights);
        std::copy(mean.begin(), mean.end(), weighing.mean_of(0));
        weighing.end();
        return weights;
    }

    // The same in place, with the lock held.
    void weigh(const std::vector<std::uint32_t>& ids) {
        if (dimension_ == 0) return;
        weigh(covariance_, ids, weights_);
        note(ids);
    }

    // Note what rankings read of these classes.
    void note(const std::vector<std::uint32_t>& ids) {
        for (const std::uint32_t id : ids)
            counts_[id] = sums_.has(id) ? sums_[id].count : 0;
        events_ = sums_.events();
        classes_ = sums_.classes();
        bytes_of_sums_ = sums_.resident_bytes();
    }

    bool is_described(std::uint32_t id) const {
        return descriptions_.has(id) || !of_class_[id].empty();
    }

    // Remove a class without events and description, and what no class needs any more.
    void tidy(std::uint32_t id) {
        if (!sums_.has(id) && !is_described(id) && since_[id] == 0) names_.remove(id);
        if (sums_.classes() == 0) {
            covariance_ = {};
            weights_of_none_ = ClassWeights();
            refreshed_ = 0;
            weigh(all_ids());
            if (vectors_of_classes_ == 0 && dimension_ > 0) {
                sums_.clear();
                weights_ = ClassWeights();
                bytes_of_sums_ = sums_.resident_bytes();
                events_ = 0;
                dimension_ = 0;
            }
        }
    }

    void evict(const EvidenceLimits& limits) {
        const auto is_above = [&] {
            const std::uint64_t classes = sums_.classes();
            if (limits.classes > 0 && classes > limits.classes) return true;
            return limits.bytes > 0 && classes > 1 &&
                   classes * VectorSums::bytes_of_class(dimension_) > limits.bytes;
        };
        while (is_above()) {
            std::uint32_t oldest = NO_ID;
            for (std::uint32_t id = 0; id < names_.end(); ++id) {
                if (!sums_.has(id)) continue;
                if (oldest == NO_ID || sums_[id].last < sums_[oldest].last ||
                    (sums_[id].last == sums_[oldest].last && names_.name(id) < names_.name(oldest)))
                    oldest = id;
            }
            sums_.forget(oldest);
            weigh({oldest});
            tidy(oldest);
        }
    }

    std::vector<std::uint32_t> all_ids() const {
        std::vector<std::uint32_t> ids;
        for (std::uint32_t id = 0; id < names_.end(); ++id)
            if (names_.alive(id)) ids.push_back(id);
        return ids;
    }

    // The classes with events, in the order of their names: ids differ after a snapshot was loaded.
    std::vector<std::uint32_t> in_order() const {
        std::vector<std::uint32_t> ids;
        for (std::uint32_t id = 0; id < names_.end(); ++id)
            if (sums_.has(id)) ids.push_back(id);
        std::sort(ids.begin(), ids.end(), [this](std::uint32_t one, std::uint32_t other) {
            return names_.name(one) < names_.name(other);
        });
        return ids;
    }

    mutable ReaderSlots lock_;
    Vocabulary names_;  // of the classes with a description or with vectors
    mutable NameOrder order_;  // of them, for listings; no state
    DescriptionIndex descriptions_;
    std::vector<std::vector<std::int16_t>> of_class_;  // by id: the vector of its description
    std::uint64_t vectors_of_classes_ = 0;
    VectorSums sums_;  // read and changed by the one thread that changes the evidence
    Covariance covariance_;
    std::int64_t refreshed_ = 0;     // the units of events when the covariance was computed
    ClassWeights weights_;           // of the classes that are scored
    ClassWeights weights_of_none_;   // of class 0: one with neither events nor a vector of its own
    std::vector<std::uint64_t> since_;  // by id: the event that first described it; 0 without one
    std::vector<std::int64_t> counts_;  // by id: the units of its events, as rankings read them
    std::uint32_t classes_ = 0;  // with events
    std::int64_t events_ = 0;  // of all classes, in units, as rankings read them
    std::size_t bytes_of_sums_ = 0;
    std::atomic<std::uint64_t> described_{0};
    std::atomic<std::size_t> dimension_{0};
    std::atomic<std::uint64_t> seq_{0};
};

}  // namespace manyclass
