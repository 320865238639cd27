// A learner that the engine has never heard of, with an option and a snapshot section of its own: it
// ranks the classes that were learned last first. All of it is here; it needs a name in
// learners/registry.hpp to be served, and no other change of native code.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine.hpp"

using namespace manyclass;

namespace {

class LastFirst final : public Learner {
public:
    LastFirst(Tables& tables, std::uint64_t seed, const OptionValues& options)
        : Learner(tables, seed) {
        configure(options);
    }

    template <class V>
    static void visit_option(V&& option, std::uint32_t& memory) {
        option("memory", memory);
    }
    static void visit_options(OptionNames& names) {
        std::uint32_t memory = 0;
        visit_option(names, memory);
    }
    void configure(const OptionValues& options) override { visit_option(options, memory_); }

    void rank(const Example&, std::uint32_t k, double threshold,
              std::vector<Ranked>& best) const override {
        best.clear();
        for (std::size_t at = last_.size(); at-- > 0 && best.size() < k;)
            if (const auto score = static_cast<double>(at + 1); score > threshold)
                best.push_back({score, last_[at]});
    }

    void explain(const Example& example, std::uint32_t cls,
                 Contributions& contributions) const override {
        for (std::size_t at = 0; at < last_.size(); ++at)
            if (last_[at] == cls && !example.active.empty())
                contributions.emplace_back(std::string(example.active[0].name), at + 1.0);
    }

    Outcome learn(Example& example, bool) override {
        for (const std::uint32_t cls : example.classes) {
            forget_class(cls);
            last_.push_back(cls);
        }
        if (last_.size() > memory_) last_.erase(last_.begin());
        return {0, true, {}};
    }

    void forget_class(std::uint32_t cls) override {
        last_.erase(std::remove(last_.begin(), last_.end(), cls), last_.end());
    }

    void visit(SnapshotVisitor& visitor) override {
        Learner::visit(visitor);
        const auto run = visitor.run<std::uint32_t>("last_classes", last_.size());
        if (visitor.is_dumping()) std::copy(last_.begin(), last_.end(), run.data);
        if (!visitor.is_loading()) return;
        for (std::uint64_t at = 0; at < run.size; ++at) {
            need(run.data[at] < tables_.classes.end() && tables_.classes.alive(run.data[at]),
                 "last_classes", "there is no such class");
            last_.push_back(run.data[at]);
        }
    }

private:
    std::vector<std::uint32_t> last_;  // classes, the last one learned at the end
    std::uint32_t memory_ = 0;
};

constexpr LearnerType TYPE = learner_type<LastFirst>("last-first");

OptionValues options() {
    OptionValues options;
    for (const char* name : {"replay", "replay_size", "seed"}) options.set_count(name, 0);
    for (const char* name : {"boolean", "sublinear", "tfidf"}) options.set_flag(name, false);
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
    engine.learn(bytes.data(), bytes.size(), {cls}, true);
}

std::string ranking(const Engine& engine) {
    const std::string bytes = instance();
    std::vector<Ranked> best;
    std::string names;
    engine.rank(bytes.data(), bytes.size(), 5, 0, best, names);
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
    engine.explain(bytes.data(), bytes.size(), {"b"}, 5, explained);
    require(explained[0].size() == 1 && explained[0][0].second == 2, "it is not explained");

    std::vector<Section> sections = dumped(engine);
    Engine loaded(TYPE, options(), 2);
    loaded.load(sections);
    require(ranking(loaded) == ranked, "its section is not loaded");
    for (const Section& each : sections)
        if (each.name == "last_classes") static_cast<std::uint32_t*>(each.data)[0] = 77;
    Engine refusing(TYPE, options(), 3);
    try {
        refusing.load(sections);
        require(false, "a class that there is not is loaded");
    } catch (const std::invalid_argument& error) {
        require(error.what() == std::string("last_classes: there is no such class"), error.what());
    }

    engine.forget_class("b");
    require(ranking(engine).find('b') == std::string::npos, "a class is not forgotten");
    std::puts("kept");
}
