// Threads that read a calibration while another one changes it. It prints "kept" if the readers saw
// whole answers alone: descending probabilities, limits, and curves of no more than was added.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "calibration.hpp"

namespace {

using manyclass::Calibration;

constexpr int READERS = 2;
constexpr std::size_t EVENTS = 1'200;

// The ranking of an event by its number; its first class is right in two of three.
manyclass::RankingBefore ranking(std::size_t number) {
    manyclass::RankingBefore before;
    before.first = "c" + std::to_string(number % 7);
    for (std::size_t at = 0; at < Calibration::PLACES; ++at) {
        const double score = 1.0 / static_cast<double>(1 + at + number % 3);
        before.best.push_back({score, static_cast<std::uint32_t>(at)});
        before.are_true.push_back(at == (number % 3 == 0 ? 1u : 0u));
    }
    return before;
}

bool reads_whole_answers(const Calibration& calibration, std::vector<double>& found) {
    const manyclass::RankingBefore asked = ranking(1);
    calibration.probabilities(asked.best.data(), asked.best.size(), found);
    bool is_whole = std::is_sorted(found.begin(), found.end(), std::greater<>());
    is_whole &= calibration.confidence({1, 0.5}) <= 1;
    is_whole &= calibration.limit_for(0.5) >= 0 && calibration.probability_limit_for(0.5) >= 0;
    is_whole &= calibration.probability_curve().rankings <= EVENTS;
    is_whole &= calibration.brier() <= 1 && calibration.reliability()[0].count <= EVENTS;
    calibration.read_kept([&](const auto& kept) { is_whole &= kept.size() <= EVENTS; });
    return is_whole;
}

}  // namespace

int main() {
    Calibration calibration;
    std::atomic<bool> has_ended{false}, is_broken{false};
    std::vector<std::thread> readers;
    for (int each = 0; each < READERS; ++each)
        readers.emplace_back([&] {
            std::vector<double> found;
            while (!has_ended)
                if (!reads_whole_answers(calibration, found)) is_broken = true;
        });
    for (std::size_t number = 0; number < EVENTS; ++number) {
        const manyclass::RankingBefore before = ranking(number);
        calibration.add({before.best[0].score, before.best[1].score}, before, 1, "mail");
        if (number % 500 == 0) calibration.forget_class("c1");
    }
    has_ended = true;
    for (std::thread& reader : readers) reader.join();
    std::puts(!is_broken && calibration.outcomes() == EVENTS ? "kept" : "broken");
}
