// An engine at the end of its cells, and of memory: no event may leave it half changed. Built with
// MANYCLASS_TEST_CELLS, and with malloc, realloc and free wrapped by the linker.
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "engine.hpp"

namespace {

std::size_t live = 0, limit = static_cast<std::size_t>(-1);  // bytes allocated, and how many may be

}  // namespace

extern "C" {
void* __real_malloc(std::size_t size);
void* __real_realloc(void* block, std::size_t size);
void __real_free(void* block);

void* __wrap_malloc(std::size_t size) {
    if (live + size > limit) return nullptr;
    void* block = __real_malloc(size);
    live += malloc_usable_size(block);
    return block;
}
void* __wrap_realloc(void* block, std::size_t size) {
    const std::size_t before = block == nullptr ? 0 : malloc_usable_size(block);
    if (live - before + size > limit) return nullptr;
    void* moved = __real_realloc(block, size);
    live += malloc_usable_size(moved) - before;
    return moved;
}
void __wrap_free(void* block) {
    if (block != nullptr) live -= malloc_usable_size(block);
    __real_free(block);
}
}

void* operator new(std::size_t size) {
    while (true) {
        if (void* block = std::malloc(size)) return block;
        const std::new_handler handler = std::get_new_handler();
        if (handler == nullptr) throw std::bad_alloc();
        handler();
    }
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace {

using namespace manyclass;

void require(bool holds, const char* what) {
    if (holds) return;
    limit = static_cast<std::size_t>(-1);
    std::printf("broken: %s\n", what);
    std::exit(1);
}

// Options of any learner.
OptionValues options_of(const std::string& learner, double budget) {
    const bool is_tree = learner == "oplt";
    const bool is_dual = learner == "svm" || learner == "path";
    OptionValues options;
    for (const auto& [name, value] : std::vector<std::pair<const char*, double>>{
             {"margin_threshold", 1}, {"min_weight", is_tree ? 0 : 0.0001}, {"rate", 0.5},
             {"C", 1}, {"C_negative", 1}, {"epsilon", 0.01}, {"alpha", 0.75},
             {"mass_cap", 0}, {"family_rate", 0.5}, {"budget", budget}, {"bias", is_tree ? 0.05 : budget > 0 ? 0.3 : 0}})
        options.set_number(name, value);
    for (const auto& [name, value] : std::vector<std::pair<const char*, std::uint64_t>>{
             {"max_outdegree", LONGEST_ROW}, {"rating", 0}, {"retrieval_window", 10},
             {"negatives", 5}, {"replay", is_tree || is_dual ? 2 : 0},
             {"neighbors", is_dual ? 3 : 0}, {"replay_size", 50}, {"budget_floor", 0},
             {"arity", 3}, {"max_leaves", 3}, {"sample", 0}, {"max_features", 1000000},
             {"max_classes", 1000000}, {"max_bytes", std::uint64_t{1} << 34}, {"seed", 0}})
        options.set_count(name, value);
    for (const char* name : {"leak", "binarize", "sublinear", "tfidf"}) options.set_flag(name, false);
    for (const auto& [name, value] : std::vector<std::pair<const char*, const char*>>{
             {"normalize", "l2"}, {"constraints", budget > 0 ? "each" : "pairs"}, {"policy", "greedy"}, {"tree", "complete"},
             {"cost", "sqrt"}})
        options.set_word(name, value);
    return options;
}

// Half of the classes of the stream are placed, in a tree.
std::shared_ptr<Taxonomy> taxonomy() {
    auto made = std::make_shared<Taxonomy>(1);
    for (std::uint32_t number = 2; number < 40; number += 2)
        made->place("class " + std::to_string(number), "class " + std::to_string(number / 2), false);
    return made;
}

Engine engine_of(const std::string& learner, double budget = 0) {
    return {learner, options_of(learner, budget), 1, taxonomy()};
}

// Instance `number` of a stream that brings new features and classes all the time.
std::string instance(std::uint64_t number, std::uint32_t features) {
    std::string out;
    put(out, features);
    for (std::uint32_t i = 0; i < features; ++i)
        put_feature(out, "feature " + std::to_string(i < features / 2 ? i : number * features + i), 1);
    return out;
}

void learn(Engine& engine, std::uint64_t number, std::uint32_t features) {
    const std::string bytes = instance(number, features), cls = "class " + std::to_string(number);
    engine.learn(bytes, {cls}, {}, 1, true);
}

// What can be seen of an engine.
std::vector<double> seen(Engine& engine) {
    std::vector<double> seen;
    const auto sizes = engine.inspection().sizes();
    for (const std::uint64_t each :
         {sizes.features, sizes.classes, sizes.edges, sizes.learned, sizes.bytes})
        seen.push_back(static_cast<double>(each));
    for (const std::uint64_t number : {0, 3, 70, 1000}) {
        const std::string bytes = instance(number, 12);
        std::vector<Ranked> best;
        std::string names;
        engine.rank(bytes, 20, -1e300, best, names);
        for (const Ranked& each : best) {
            seen.push_back(each.score);
            seen.push_back(each.cls);
        }
    }
    return seen;
}

void cells_never_run_out(const std::string& learner) {
    Engine engine = engine_of(learner);
    const std::uint64_t runs = learner == "arow" ? 3 : 2;
    for (std::uint64_t number = 0; number < 3500; ++number) {
        learn(engine, number, 16);
        require(engine.inspection().sizes().edges <= MOST_CELLS / (4 * runs), "more edges than cells may hold");
    }
    const auto sizes = engine.inspection().sizes();
    require(sizes.evicted_features + sizes.evicted_classes > 0, "the limit was never met");
}

// Learn one event after another with less and less memory left: each is refused with nothing
// changed, or done as if there were enough.
void memory_runs_out(const std::string& learner, double budget, std::uint64_t& done,
                     std::uint64_t& refused) {
    for (std::size_t room = 0; room < 60000; room += 4001) {
        Engine engine = engine_of(learner, budget), twin = engine_of(learner, budget);
        std::uint64_t number = 0;
        for (; number < 25; ++number) learn(engine, number, 12), learn(twin, number, 12);
        const std::uint64_t first = number;
        std::vector<bool> learned;
        std::vector<std::vector<double>> after;
        for (const std::size_t low = live + room; number < first + 4; ++number) {
            const std::string bytes = instance(number, 300), cls = "class " + std::to_string(number);
            const std::vector<std::string_view> names{cls};
            limit = low;
            try {
                engine.learn(bytes, names, {}, 1, true);
                limit = static_cast<std::size_t>(-1);
                learned.push_back(true);
            } catch (const std::bad_alloc&) {
                limit = static_cast<std::size_t>(-1);
                learned.push_back(false);
            }
            after.push_back(seen(engine));
        }
        for (std::size_t i = 0; i < learned.size(); ++i) {  // only now: it would fill the reserve
            if (learned[i]) learn(twin, first + i, 300);
            require(after[i] == seen(twin), "an event left the engine half changed");
            ++(learned[i] ? done : refused);
        }
        learn(engine, 99, 12), learn(twin, 99, 12);
        require(seen(engine) == seen(twin), "it does not go on when there is memory again");
    }
}

}  // namespace

int main() {
    std::uint64_t done = 0, refused = 0;
    for (const char* learner : {"ff", "ind", "pa", "arow", "svm", "path", "hieron"}) cells_never_run_out(learner);
    for (const char* learner : {"ff", "arow", "svm", "path", "frequency", "oplt"})
        memory_runs_out(learner, 0, done, refused);
    for (const char* learner : {"pa", "arow", "svm", "path", "hieron"}) memory_runs_out(learner, 1.5, done, refused);
    require(done > 0 && refused > 0, "memory never ran out, or always");
    std::puts("kept");
}
