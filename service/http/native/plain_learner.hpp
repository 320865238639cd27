// Reads plain requests to learn, from bytes to events, on any thread:
//
//   bytes of a read -> head -> gate -> body -> event
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "core/native/pipeline/reader_slots.hpp"
#include "service/http/native/gate.hpp"
#include "service/http/native/learn_body.hpp"
#include "service/http/native/request_head.hpp"

namespace manyclass::http {

// Threads: any.
class PlainLearner {
public:
    // `most_pairs`: of a feature and a class, in an event. Texts are dropped unless it `keeps_texts`,
    // but for an event with an id, which the text tells from another.
    PlainLearner(std::size_t most_bytes, std::size_t most_features, std::size_t most_pairs,
                 bool keeps_texts, Gate gate)
        : most_bytes_(most_bytes),
          most_features_(most_features),
          most_pairs_(most_pairs),
          keeps_texts_(keeps_texts),
          gate_(std::move(gate)) {}

    // Read texts by this analysis.
    void use(const TextParts& parts) {
        const Writing lock(lock_);
        parts_ = parts;
    }

    // Read the head of a plain request that may learn; its body may be incomplete.
    bool read_head(std::string_view data, PlainRequest& request) const {
        return RequestHead::read(data, POST_LEARN, request) && request.length <= most_bytes_ &&
               gate_.admits(request);
    }

    // Read the event of a whole request; false for one that Python has to read.
    bool read(const PlainRequest& request, PlainEvent& event) const {
        if (!LearnBody::read(request.body, parts(), most_features_, event)) return false;
        event.keeps_text = keeps_texts_;
        if (!keeps_texts_ && event.id.empty() && !event.text.empty())
            event.text.resize(TextReading::BYTES);
        return feature_count(event.instance) * event.classes.size() <= most_pairs_;
    }

private:
    TextParts parts() const {
        const Reading lock(lock_);
        return parts_;
    }

    const std::size_t most_bytes_, most_features_, most_pairs_;
    const bool keeps_texts_;
    const Gate gate_;
    mutable ReaderSlots lock_;
    TextParts parts_;
};

}  // namespace manyclass::http
