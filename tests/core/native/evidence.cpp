// Threads that rank by vectors and descriptions while another one learns, takes back, describes,
// renames and forgets. It prints "kept" if the sums at the end are those of the events that are left,
// and every ranking saw whole weights.
#include <atomic>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "beside/evidence.hpp"

using namespace manyclass;

namespace {

constexpr std::size_t DIMENSION = 20;
constexpr int EVENTS = 600, READERS = 3;

std::string drawn_instance(std::mt19937& chance, int cls) {
    std::string instance(sizeof(std::uint32_t), '\0');
    const std::uint32_t features = 1;
    set_head(instance, features);
    put_feature(instance, "word" + std::to_string(chance() % 9), 1.0);
    std::vector<double> numbers(DIMENSION);
    for (double& each : numbers) each = static_cast<double>(chance() % 1000) - 500;
    numbers[static_cast<std::size_t>(cls)] += 2000;
    append_vector(instance, numbers.data(), numbers.size());
    return instance;
}

std::string state_of(const Evidence& evidence) {
    std::vector<Section> sections = evidence.measure();
    std::vector<std::string> memory;
    for (const Section& each : sections)
        memory.emplace_back(each.size * static_cast<std::size_t>(each.type[1] - '0'), '\0');
    for (std::size_t at = 0; at < sections.size(); ++at) sections[at].data = memory[at].data();
    evidence.dump(sections);
    std::string sums;
    for (std::size_t at = 0; at < sections.size(); ++at)
        if (sections[at].name == "vector_products" || sections[at].name == "vector_class_sums")
            sums += memory[at];
    return sums;
}

}  // namespace

int main() {
    Evidence evidence(1);
    std::atomic<bool> is_over{false}, is_broken{false};
    std::vector<std::thread> readers;
    for (int number = 0; number < READERS; ++number)
        readers.emplace_back([&, number] {
            std::mt19937 chance(static_cast<unsigned>(number));
            std::vector<float> scores;
            while (!is_over) {
                const std::string instance = drawn_instance(chance, number);
                if (!evidence.concerns(instance)) continue;
                const Evidence::View view(evidence);
                const VectorView vector = vector_of(instance);
                if (!view.can_score(vector)) continue;
                view.score(vector, scores);
                for (std::uint32_t id = 0; id < scores.size(); ++id)
                    if (view.has_weights(id) && !(std::abs(scores[id]) < 1e6f)) is_broken = true;
                view.descriptions().score(instance, [&](std::uint32_t id, double) {
                    if (view.name(id).empty()) is_broken = true;
                });
                (void)view.events_of_class();
            }
        });
    std::mt19937 chance(7);
    std::vector<std::string> events;
    const std::vector<std::string> names = {"a", "b", "c"};
    for (int seq = 1; seq <= EVENTS; ++seq) {
        const int cls = seq % 3;
        events.push_back(drawn_instance(chance, cls));
        evidence.learn(events.back(), {names[static_cast<std::size_t>(cls)]}, 1, seq, seq, {});
        if (seq % 5 == 0)
            evidence.describe("d" + std::to_string(chance() % 4), drawn_instance(chance, 3),
                              static_cast<std::uint64_t>(seq));
        if (seq % 7 == 0) evidence.describe("d" + std::to_string(chance() % 4), {}, 0);
        (void)evidence.sizes();
    }
    evidence.learn(drawn_instance(chance, 5), {"x"}, 1, EVENTS + 1, EVENTS + 1, {});
    evidence.rename("x", "y");
    evidence.forget("y");
    for (int seq = 2; seq <= EVENTS; seq += 2)
        evidence.take_back(events[static_cast<std::size_t>(seq - 1)],
                           {names[static_cast<std::size_t>(seq % 3)]}, 1, seq);
    is_over = true;
    for (std::thread& reader : readers) reader.join();
    Evidence never(2);
    for (int seq = 1; seq <= EVENTS; seq += 2)
        never.learn(events[static_cast<std::size_t>(seq - 1)],
                    {names[static_cast<std::size_t>(seq % 3)]}, 1, seq, seq, {});
    std::puts(!is_broken && state_of(evidence) == state_of(never) ? "kept" : "broken");
    return 0;
}
