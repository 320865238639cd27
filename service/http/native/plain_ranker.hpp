// Answers plain requests to rank, from bytes to bytes, on any thread:
//
//   bytes of a read -> head -> gate -> body -> instance -> ranking -> bytes of the answer
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/native/pipeline/reader_slots.hpp"
#include "core/native/published_learner.hpp"
#include "service/http/native/gate.hpp"
#include "service/http/native/plain_counts.hpp"
#include "service/http/native/rank_answer.hpp"
#include "service/http/native/rank_body.hpp"
#include "service/http/native/request_head.hpp"
#include "service/http/native/serving.hpp"
#include "service/ingest/native/pending_instances.hpp"

namespace manyclass::http {

inline double seconds_now() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

// A thread's memory and counts.
struct RankTask {
    RankTask(const std::vector<double>& ranking_bounds, const std::vector<double>& request_bounds)
        : counts(ranking_bounds, request_bounds) {}

    PlainRequest request;
    RankBody body;
    RankAnswer answer;
    Answered answered;
    std::string wire, id;
    PlainCounts counts;
};

// Ownership: the learner, the pending instances and the titles are the caller's, and outlive their
// use here.
// Threads: any may answer, each with a task of its own; `use` waits until none ranks.
class PlainRanker {
public:
    PlainRanker(std::size_t most_bytes, std::size_t most_features, Gate gate,
                std::string last_headers, PendingInstances& pending, const Titles& titles)
        : most_bytes_(most_bytes),
          most_features_(most_features),
          gate_(std::move(gate)),
          last_headers_(std::move(last_headers)),
          pending_(pending),
          titles_(titles) {}

    // Let this learner answer, with the analysis of texts that it learned by; nullptr: no request is
    // plain.
    void use(const PublishedLearner* learner, const TextParts& parts) {
        const Writing lock(lock_);
        learner_ = learner;
        parts_ = parts;
    }

    // Header lines behind those of the body, of every plain answer.
    const std::string& last_headers() const { return last_headers_; }

    // Read the head of a plain request that may rank; its body may be incomplete.
    bool read_head(std::string_view data, PlainRequest& request) const {
        return RequestHead::read(data, POST_RANK, request) && request.length <= most_bytes_ &&
               gate_.admits(request);
    }

    // The whole answer to the request in `task`, valid until the next one; empty for a request that
    // Python has to answer, and then nothing has changed. `first` are the status line and the
    // headers of the server, `now` is the time by the clock of the pending instances.
    std::string_view answer(RankTask& task, std::string_view first, double now) const {
        const double began = seconds_now();
        double seconds;
        if (!rank(task, seconds)) return {};
        const Answered& answered = task.answered;
        task.answer.write(task.body.options(), answered.seq, answered.ranked, answered.names,
                          answered.confidence, answered.probabilities, titles_);
        task.answer.reserve(first, last_headers_);
        pending_.keep(now, task.wire,
                      served(task.body.options(), answered.ranked.data(), answered.ranked.size(),
                             answered.names, answered.confidence, answered.probabilities),
                      task.body.note(), task.body.id(), task.id);
        const std::string_view whole = task.answer.whole(first, last_headers_, task.id);
        count(task, began, seconds);
        return whole;
    }

private:
    // Read the body and rank its instance, by the same learner: another one may have another analysis.
    bool rank(RankTask& task, double& seconds) const {
        const Reading lock(lock_);
        if (learner_ == nullptr || !task.body.read(task.request.body, parts_, most_features_) ||
            !task.body.write_instance(task.wire))
            return false;
        const double began = seconds_now();
        const RankOptions& asked = task.body.options();
        if (!asked.keep || learner_->seq() < asked.min_seq ||
            !learner_->rank(task.wire, asked.asked(), task.answered))
            return false;
        task.body.apply_limit(task.answered.limit);
        seconds = seconds_now() - began;
        return true;
    }

    static void count(RankTask& task, double began, double seconds) {
        task.counts.ranking.observe(seconds);
        if (task.answer.abstains()) Histogram::add(task.counts.abstained, std::uint64_t{1});
        task.counts.rank_request.observe(seconds_now() - began);
    }

    const std::size_t most_bytes_, most_features_;
    const Gate gate_;
    const std::string last_headers_;  // behind those of the body
    PendingInstances& pending_;
    const Titles& titles_;
    mutable ReaderSlots lock_;
    const PublishedLearner* learner_ = nullptr;
    TextParts parts_;
};

}  // namespace manyclass::http
