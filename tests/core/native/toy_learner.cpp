// An engine with the toy, a learner that the registry does not name: its option, its sections.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine.hpp"
#include "learners/toy.hpp"

using namespace manyclass;

namespace {

constexpr LearnerType TYPE = learner_type<Toy>("toy");

OptionValues options() {
    OptionValues options;
    for (const char* name : {"replay", "replay_size", "seed"}) options.set_count(name, 0);
    for (const char* name : {"binarize", "sublinear", "tfidf"}) options.set_flag(name, false);
    options.set_count("max_features", 100);
    options.set_count("max_classes", 100);
    options.set_count("max_bytes", 1 << 24);
    options.set_word("normalize", "l2");
    options.set_count("memory", 2);
    return options;
}

std::string instance() {
    std::string bytes;
    put(bytes, std::uint32_t{1});
    put_feature(bytes, "feature", 1);
    return bytes;
}

void learn(Engine& engine, const std::string& cls) {
    const std::string bytes = instance();
    engine.learn(bytes, {cls}, true);
}

std::string ranking(const Engine& engine) {
    const std::string bytes = instance();
    std::vector<Ranked> best;
    std::string names;
    engine.rank(bytes, 5, 0, best, names);
    return names;
}

// The sections with memory for each, which is never freed.
std::vector<Section> dumped(Engine& engine) {
    std::uint64_t changes = 0;
    std::vector<Section> sections = engine.measure(changes);
    for (Section& each : sections) each.data = std::calloc(each.size + 1, 8);
    if (!engine.dump(sections, changes)) std::exit(1);
    return sections;
}

void require(bool holds, const char* what) {
    if (holds) return;
    std::printf("broken: %s\n", what);
    std::exit(1);
}

}  // namespace

int main() {
    OptionNames names;
    TYPE.visit_options(names);
    require(names.names == std::vector<std::string>{"memory"}, "its option is not listed");

    Engine engine(TYPE, options(), 1);
    for (const char* cls : {"a", "b", "c", "b"}) learn(engine, cls);
    const std::string ranked = ranking(engine);
    require(ranked.find('b') < ranked.find('c') && ranked.find('a') == std::string::npos,
            "the option has no effect");

    std::vector<Contributions> explained;
    const std::string bytes = instance();
    engine.explain(bytes, {"b"}, 5, explained);
    require(explained[0].size() == 1 && explained[0][0].second == 0.5, "it is not explained");

    std::vector<Section> sections = dumped(engine);
    Engine loaded(TYPE, options(), 2);
    loaded.load(sections);
    require(ranking(loaded) == ranked, "its sections are not loaded");
    for (const Section& each : sections)
        if (each.name == "toy_classes") static_cast<std::uint32_t*>(each.data)[0] = 77;
    Engine refusing(TYPE, options(), 3);
    try {
        refusing.load(sections);
        require(false, "an unknown class is loaded");
    } catch (const std::invalid_argument& error) {
        const std::string fault = "toy_classes: a feature remembers no class, or one twice";
        require(error.what() == fault, error.what());
    }

    engine.forget_class("b");
    require(ranking(engine).find('b') == std::string::npos, "a class is not forgotten");
    std::puts("kept");
}
