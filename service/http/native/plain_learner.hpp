// Reads plain requests to learn, from bytes to events, on any thread:
//
//   bytes of a read -> head -> gate -> body -> event
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "service/http/native/gate.hpp"
#include "service/http/native/learn_body.hpp"
#include "service/http/native/request_head.hpp"

namespace manyclass::http {

// Threads: any.
class PlainLearner {
public:
    // `most_pairs`: of a feature and a class, in an event.
    PlainLearner(std::size_t most_bytes, std::size_t most_features, std::size_t most_pairs,
                 Gate gate)
        : most_bytes_(most_bytes),
          most_features_(most_features),
          most_pairs_(most_pairs),
          gate_(std::move(gate)) {}

    // Read the head of a plain request that may learn; its body may be incomplete.
    bool read_head(std::string_view data, PlainRequest& request) const {
        return RequestHead::read(data, POST_LEARN, request) && request.length <= most_bytes_ &&
               gate_.admits(request);
    }

    // Read the event of a whole request; false for one that has to go the other way.
    bool read(const PlainRequest& request, PlainEvent& event) const {
        return LearnBody::read(request.body, most_features_, event) &&
               event.features * event.classes.size() <= most_pairs_;
    }

private:
    const std::size_t most_bytes_, most_features_, most_pairs_;
    const Gate gate_;
};

}  // namespace manyclass::http
