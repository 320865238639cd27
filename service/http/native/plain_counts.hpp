// Counts of plain requests, kept by one thread and read by any.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace manyclass::http {

// The number of observations up to each bound, and their sum. One thread observes.
class Histogram {
public:
    explicit Histogram(std::vector<double> bounds)
        : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}

    void observe(double value) {
        const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);
        add(counts_[static_cast<std::size_t>(bound - bounds_.begin())], std::uint64_t{1});
        add(sum_, value);
    }

    std::size_t size() const { return counts_.size(); }
    std::uint64_t count(std::size_t bound) const {
        return counts_[bound].load(std::memory_order_relaxed);
    }
    double sum() const { return sum_.load(std::memory_order_relaxed); }

    // Without a locked instruction: no other thread writes.
    template <class T>
    static void add(std::atomic<T>& number, T more) {
        number.store(number.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }

private:
    const std::vector<double> bounds_;
    std::vector<std::atomic<std::uint64_t>> counts_;
    std::atomic<double> sum_{0};
};

struct PlainCounts {
    PlainCounts(const std::vector<double>& ranking_bounds, const std::vector<double>& request_bounds)
        : ranking(ranking_bounds), rank_request(request_bounds), learn_request(request_bounds) {}

    Histogram ranking, rank_request, learn_request;  // seconds
    std::atomic<std::uint64_t> abstained{0};         // rankings
};

}  // namespace manyclass::http
