// A member of a committee: an engine that learns its own share of the events, in its own order.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine.hpp"
#include "ensemble/learn_event.hpp"
#include "ensemble/shuffle_buffer.hpp"
#include "math/draw.hpp"
#include "rank_counts.hpp"

namespace manyclass {

// A member takes the share `subsample` of the committee's events, drawn by their numbers. Up to
// `shuffle` of these stay in its buffer; with one more, one of them all is drawn and learned. The
// draws follow from the seed and from counts in the state.
// Threads: the lock of the committee, and that of the engine.
class Member {
public:
    // The options of a member that the engine does not read.
    template <class V>
    void visit_options(V& visit) {
        visit("subsample", subsample_);
        visit("shuffle", shuffle_);
        visit("seed", seed_);
    }

    Member() = default;
    Member(std::shared_ptr<Engine> engine, const OptionValues& options)
        : engine_(std::move(engine)), progress_(std::make_shared<RankCounts>()) {
        visit_options(options);
    }

    // A buffer above its limit is reduced by the next event.
    void configure(const OptionValues& options) {
        engine_->configure(options);
        visit_options(options);
    }

    Engine& engine() const { return *engine_; }
    RankCounts& progress() { return *progress_; }
    const ShuffleBuffer& waiting() const { return waiting_; }
    ShuffleBuffer& waiting() { return waiting_; }
    MemberView view() const { return {engine_, progress_, waiting_.size(), waiting_.bytes()}; }

    // True if events pass through the shuffle buffer.
    bool is_shuffled() const { return shuffle_ > 0 || waiting_.size() > 0; }

    // True if the member takes the committee's event of this number.
    bool takes(std::uint64_t number) const {
        static const Draw draw("subsample");
        if (subsample_ == 1) return true;
        return draw(seed_, number) < static_cast<std::uint64_t>(std::ceil(subsample_ * 0x1p64));
    }

    // Put an event into the shuffle buffer, and learn the events that are due: `limit` is of its
    // bytes. True if one of them made an update.
    bool shuffle(std::string event, bool is_first_epoch, std::uint64_t limit) {
        static const Draw draw("shuffle");
        waiting_.add(std::move(event), is_first_epoch);
        bool updated = false;
        while (waiting_.size() > shuffle_ || waiting_.bytes() > limit) {
            const ShuffleBuffer::Waiting due = waiting_.take(draw(seed_, engine_->learned()));
            const LearnEvent each(due.event);
            updated |= engine_
                           ->learn(each.instance, each.classes, each.rejected, each.weight,
                                   due.is_first_epoch)
                           .updated;
        }
        return updated;
    }

    // --- names ---------------------------------------------------------------------------------

    bool has_class(std::string_view name) const {
        return engine_->inspection().has_class(name) || waiting_.has_class(name);
    }

    bool has_feature(std::string_view name) const {
        return engine_->inspection().has_feature(name) || waiting_.has_feature(name);
    }

    bool forget_class(std::string_view name) {
        const bool is_known = engine_->forget_class(name);
        return waiting_.forget_class(name) || is_known;
    }

    bool rename_class(std::string_view name, std::string_view to) {
        const bool is_known = engine_->rename_class(name, to);
        return waiting_.rename_class(name, to) || is_known;
    }

    bool forget_feature(std::string_view name) {
        const bool is_known = engine_->forget_feature(name);
        return waiting_.forget_feature(name) || is_known;
    }

    std::size_t drop_example(std::string_view instance, const Names& true_classes) {
        return engine_->drop_example(instance, true_classes) +
               waiting_.drop(instance, true_classes);
    }

private:
    std::shared_ptr<Engine> engine_;
    ShuffleBuffer waiting_;
    std::shared_ptr<RankCounts> progress_;  // shared with views
    double subsample_ = 1;
    std::uint64_t shuffle_ = 0, seed_ = 0;
};

}  // namespace manyclass
