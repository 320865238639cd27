// The parts of a service that all of its workers share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "service/http/native/handover.hpp"
#include "service/http/native/learn_queue.hpp"
#include "service/http/native/plain_learner.hpp"
#include "service/http/native/plain_ranker.hpp"

namespace manyclass::http {

struct WorkerLimits {
    std::size_t most_connections;  // of the workers and the loop together
    double keep_alive_seconds;     // until a connection is closed that has sent no further request
    double quiet_seconds;          // and one that has sent no request at all
};

// Connections by the side that has them, those on their way between a worker and the loop, and those
// closed in favour of new ones. One that moves leaves a count before the next has it: at the limit,
// one that counted twice would have an idle one closed.
struct ConnectionCounts {
    std::atomic<std::size_t> workers{0}, moving{0}, loop{0};
    std::atomic<std::uint64_t> closed_idle{0};

    std::size_t all() const { return workers + moving + loop; }
    void note_taken_over() { --moving; }
};

// Ownership: all of it is the caller's, and outlives the workers.
struct WorkerParts {
    WorkerParts(const PlainRanker& ranker, const PlainLearner& learner, LearnQueue& queue,
                Handover& handover, ConnectionCounts& counts, const WorkerLimits& limits,
                std::vector<int> listeners)
        : ranker(ranker),
          learner(learner),
          queue(queue),
          handover(handover),
          counts(counts),
          limits(limits),
          listeners(std::move(listeners)) {}

    const PlainRanker& ranker;
    const PlainLearner& learner;
    LearnQueue& queue;
    Handover& handover;
    ConnectionCounts& counts;
    WorkerLimits limits;
    std::vector<int> listeners;
};

}  // namespace manyclass::http
