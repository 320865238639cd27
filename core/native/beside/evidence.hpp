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
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "beside/class_weights.hpp"
#include "beside/description_index.hpp"
#include "beside/discriminant.hpp"
#include "beside/vector_sections.hpp"
#include "beside/vector_sums.hpp"
#include "pipeline/memory_reserve.hpp"
#include "pipeline/reader_slots.hpp"
#include "pipeline/state_lock.hpp"
#include "pipeline/vector.hpp"
#include "storage/name_page.hpp"
#include "storage/vocabulary.hpp"

namespace manyclass {

// The limits of the sums of vectors. At a limit, the class whose newest vector is the oldest is evicted.
struct EvidenceLimits {
    std::uint64_t classes = 0, bytes = 0;  // 0: no limit
};

// Threads: any number may rank, with a View. One changes it; it waits for the rankings under way,
// but not while it computes a new covariance. After an error in a change, such as a failed
// allocation, the next call that ranks, changes or dumps throws StateHalfChanged.
class Evidence {
public:
    // The seed salts the tables of names and has no effect on the state.
    explicit Evidence(std::uint64_t hash_seed) : names_(hash_seed), descriptions_(hash_seed) {}

    // True if the evidence may change the ranking of an instance.
    bool concerns(std::string_view instance) const {
        check_whole();
        return described_ > 0 || (dimension_ > 0 && has_vector(instance));
    }

    // True if there is a description or a vector.
    bool concerns_any() const {
        check_whole();
        return described_ > 0 || dimension_ > 0;
    }

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

        // The number of events of the log since a class was described; of all events for a class
        // without a description that ranks.
        std::uint64_t events_since_described(std::uint32_t id) const {
            const std::uint64_t now = evidence_.seq_;
            const std::uint64_t since = evidence_.is_described(id) ? evidence_.since_[id] : 0;
            return now > since ? now - since : 0;
        }

        // Set the scores of all classes with weights; those of others stay. Return the score of a
        // class that has neither events nor a vector of its own.
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

    // Replace the description of a class by the instance of its texts, with its vector. Event `since`
    // first described the class; 0 removes the description. An instance without features and vector
    // ranks no class.
    void describe(std::string_view cls, std::string_view instance, std::uint64_t since) {
        const Change change(*this);
        const VectorView vector = vector_of(instance);
        const bool is_empty = since == 0 && feature_count(instance) == 0 && vector.empty();
        std::uint32_t id = names_.find(cls);
        if (is_empty && id == NO_ID) return;
        const Writing lock(lock_);
        if (id == NO_ID) id = add(cls);
        described_ -= is_described(id);
        descriptions_.put(id, instance);
        description_vector_count_ -= !description_vectors_[id].empty();
        description_vectors_[id].clear();
        if (!vector.empty() && (dimension_ == 0 || vector.size() == dimension_)) {
            if (dimension_ == 0) begin(vector.size());
            for (std::size_t at = 0; at < vector.size(); ++at)
                description_vectors_[id].push_back(vector[at]);
            ++description_vector_count_;
        }
        described_ += is_described(id);
        since_[id] = since;
        update({id});
    }

    // Add the vector of event `of` to its classes; `seq` is that event, or the one that corrects it.
    // Do nothing without a vector, or with one of another dimension.
    void learn(std::string_view instance, const std::vector<std::string_view>& classes,
               double weight, std::uint64_t seq, std::uint64_t of, const EvidenceLimits& limits) {
        const Change change(*this);
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
        const bool is_added = sums_.add(vector, ids, VectorSums::units_of(weight), seq, of);
        if (is_added && (sums_.events() >= due() || covariance_.mean().empty()))
            return refresh(limits);
        const Writing lock(lock_);
        update(ids);
        evict(limits);
    }

    // Compute the covariance anew with the next vector, because a vector was taken back.
    void expire() { refreshed_ = 0; }

    // Take the vector of event `of` back from these classes: the sums are as if they had never had
    // it.
    void take_back(std::string_view instance, const std::vector<std::string_view>& classes,
                   double weight, std::uint64_t of) {
        const Change change(*this);
        const VectorView vector = vector_of(instance);
        if (vector.empty() || vector.size() != dimension_) return;
        for (const std::string_view cls : classes) {
            const std::uint32_t id = names_.find(cls);
            if (id == NO_ID || !sums_.take_back(vector, id, VectorSums::units_of(weight), of))
                continue;
            const Writing lock(lock_);
            update({id});
        }
    }

    // Forget the sums of a class; its description stays.
    void forget(std::string_view cls) {
        const Change change(*this);
        const std::uint32_t id = names_.find(cls);
        if (id == NO_ID || !sums_.has(id)) return;
        sums_.forget(id);
        const Writing lock(lock_);
        update({id});
    }

    // Rename a class, or add its sums to those of `to`. Describe both names afterwards.
    void rename(std::string_view cls, std::string_view to) {
        const Change change(*this);
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
        update({id, into});
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
               description_vector_count_ * (OF_VECTOR + dimension_ * 3 * sizeof(std::int16_t));
    }

    // True of a class with a description or with vectors of events.
    bool has(std::string_view cls) const {
        const Reading lock(lock_);
        return names_.find(cls) != NO_ID;
    }

    // Count the classes for which `wants(name)` is true, block by block.
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

    // Read the next classes after `after` for which `wants(name)` is true, each with the number of the
    // events whose vectors it has; part of one counts as one.
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

    // Return the sections of the vectors with their sizes; none without vectors of events. The caller
    // keeps the descriptions.
    std::vector<Section> measure() const {
        check_whole();
        return sums_.classes() == 0 ? std::vector<Section>{} : writer().measure();
    }

    // Fill the sections that were measured.
    void dump(const std::vector<Section>& sections) const {
        if (!sections.empty()) writer().dump(sections);
    }

    // Fill new evidence; describe the classes afterwards. Throw
    // std::invalid_argument("section: fault") if the sections contradict each other.
    void load(const std::vector<Section>& sections) {
        const VectorSectionsReader reader(sections);
        begin(reader.dimension());
        sums_.load(reader.dimension(), reader.retired(), reader.products());
        refreshed_ = reader.refreshed();
        covariance_.load(reader.factor(), reader.mean());
        weights_of_none_ = weights_of_none(covariance_);
        reader.read_classes([this](std::string_view name, const VectorSums::ClassSum& counts,
                                   const std::int64_t* sum) {
            sums_.load_class(add(name), counts, sum);
        });
        weigh(all_ids());
    }

    std::size_t resident_bytes() const {
        const Reading lock(lock_);
        return names_.resident_bytes() + order_.resident_bytes() +
               descriptions_.resident_bytes() + bytes_of_sums_ + weights_.resident_bytes() +
               covariance_.factor().capacity() * sizeof(float);
    }

private:
    static constexpr std::uint64_t OF_VECTOR = 800;  // bytes beside the numbers

    VectorSectionsWriter writer() const {
        return {names_, in_order(), sums_, covariance_, refreshed_};
    }

    // Held by the thread that changes the evidence: an error leaves it half changed.
    class Change {
    public:
        explicit Change(Evidence& evidence) : evidence_(evidence) {
            evidence.check_whole();
            Reserve::try_refill();  // a learner has the event already: it is too late to refuse it
        }
        ~Change() {
            if (std::uncaught_exceptions() > errors_before_) evidence_.is_half_changed_ = true;
        }
        Change(const Change&) = delete;
        Change& operator=(const Change&) = delete;

    private:
        Evidence& evidence_;
        const int errors_before_ = std::uncaught_exceptions();
    };

    void check_whole() const {
        if (is_half_changed_) throw StateHalfChanged();
    }

    // The bytes of the sums of products and of the factor.
    static std::uint64_t bytes_of_pairs(std::uint64_t size) {
        return size * (size + 1) / 2 * (sizeof(std::int64_t) + sizeof(float));
    }

    // The units of events at which the covariance is computed anew: a quarter more than last time.
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
        if (id >= description_vectors_.size()) {
            description_vectors_.resize(id + std::size_t{1});
            since_.resize(description_vectors_.size());
            counts_.resize(description_vectors_.size());
        }
        since_[id] = 0;
        return id;
    }

    bool has_mean(std::uint32_t id) const { return sums_.has(id) || !description_vectors_[id].empty(); }

    // Write the mean of a class that has events or a vector of its own.
    void set_mean(std::uint32_t id, const Covariance& covariance, float* mean) const {
        const bool has_events = sums_.has(id), has_own = !description_vectors_[id].empty();
        const std::vector<float>& of_all = covariance.mean();
        const std::int64_t one = VectorSums::UNIT, own = has_own ? one : 0;
        const double count = static_cast<double>((has_events ? sums_[id].count : 0) + own + one);
        for (std::size_t at = 0; at < sums_.dimension(); ++at) {
            const std::int64_t sum = (has_events ? sums_.sum(id)[at] : 0) +
                                     (has_own ? own * description_vectors_[id][at] : 0);
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

    // Compute the weights of classes in place, with the lock held.
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

    // Weigh classes whose sums or descriptions have changed, with the lock held, and tidy up.
    void update(const std::vector<std::uint32_t>& ids) {
        weigh(ids);
        for (const std::uint32_t id : ids) tidy(id);
    }

    bool is_described(std::uint32_t id) const {
        return descriptions_.has(id) || !description_vectors_[id].empty();
    }

    // Remove a class without events and description; without any class with events, the covariance;
    // without any vector, the dimension.
    void tidy(std::uint32_t id) {
        if (!sums_.has(id) && !is_described(id) && since_[id] == 0) names_.remove(id);
        if (sums_.classes() > 0) return;
        if (!covariance_.mean().empty()) {
            covariance_ = {};
            weights_of_none_ = ClassWeights();
            refreshed_ = 0;
            weigh(all_ids());
        }
        if (description_vector_count_ > 0 || dimension_ == 0) return;
        sums_.clear();
        weights_ = ClassWeights();
        bytes_of_sums_ = sums_.resident_bytes();
        events_ = 0;
        dimension_ = 0;
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
            update({oldest});
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
    std::vector<std::vector<std::int16_t>> description_vectors_;  // by id: the vector of its description
    std::uint64_t description_vector_count_ = 0;
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
    std::atomic<bool> is_half_changed_{false};
};

}  // namespace manyclass
