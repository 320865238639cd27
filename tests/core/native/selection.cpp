// The best classes of random scores are selected as a sort of all of them would: with scores that
// come often, retired classes, and the high ones side by side or apart.
#include "pipeline/top_k.hpp"

#include <cstdio>
#include <limits>
#include <random>
#include <string>

using namespace manyclass;

static std::mt19937 drawn(5);

static std::uint32_t below(std::uint32_t end) { return drawn() % end; }

// Scores of few values: of a class by its id, or at random, and the same below and above 0.
static std::vector<float> scores_of(std::uint32_t classes) {
    const std::uint32_t values = 1 + below(2 * classes), step = 1 + below(64), form = below(4);
    const float highest = static_cast<float>(below(values + 1));
    std::vector<float> scores(classes);
    for (std::uint32_t cls = 0; cls < classes; ++cls) {
        const std::uint32_t value = form == 0   ? cls
                                    : form == 1 ? classes - cls
                                    : form == 2 ? cls % step
                                                : below(values);
        scores[cls] = highest - static_cast<float>(value % values);
    }
    return scores;
}

// The tables of classes that are of any age, some of them retired.
static void fill(Tables& tables, std::uint32_t classes) {
    std::vector<std::uint64_t> ages(classes);
    for (std::uint32_t cls = 0; cls < classes; ++cls) ages[cls] = cls;
    std::shuffle(ages.begin(), ages.end(), drawn);
    const std::uint32_t retired = below(3) == 0 ? 1 + below(classes) : 0;
    for (std::uint32_t cls = 0; cls < classes; ++cls) {
        tables.class_records.push_back({0, ages[cls], 0});
        tables.retired.extend();
        if (below(classes) < retired) tables.retired.add(cls);
    }
}

template <bool SIGNED>
static void compare(const ScoreTable& scores, const Tables& tables, std::uint32_t classes,
                    std::uint32_t k, double threshold) {
    std::vector<Ranked> wanted, best;
    for (std::uint32_t cls = 0; cls < classes; ++cls) {
        const double score = scores.score(cls);
        if (score != 0 && score > threshold && (SIGNED || score > 0) && !tables.retired.has(cls))
            wanted.push_back({score, cls});
    }
    std::sort(wanted.begin(), wanted.end(),
              [&](const Ranked& one, const Ranked& other) { return tables.precedes(one, other); });
    wanted.resize(std::min<std::size_t>(k, wanted.size()));
    select_top_k<SIGNED>(scores, tables, k, threshold, best);
    bool are_equal = best.size() == wanted.size();
    for (std::size_t at = 0; are_equal && at < best.size(); ++at)
        are_equal = best[at].cls == wanted[at].cls && best[at].score == wanted[at].score;
    if (are_equal) return;
    std::printf("%u of %u classes above %g differ\n", k, classes, threshold);
    std::exit(1);
}

int main() {
    constexpr double NONE = -std::numeric_limits<double>::infinity();
    ScoreTable scores;
    for (int round = 0; round < 6000; ++round) {
        const std::uint32_t classes = 1 + below(round % 4 == 0 ? 40 : 400);
        Tables tables(1, nullptr);
        fill(tables, classes);
        const std::vector<float> masses = scores_of(classes);
        std::vector<std::uint32_t> ids(classes);
        for (std::uint32_t cls = 0; cls < classes; ++cls) ids[cls] = cls;
        // with so many ids a hash table holds the scores
        scores.start(classes, round % 3 == 0 ? 100 * classes : classes, false);
        scores.add<false>(ids.data(), masses.data(), classes, 0.5);
        const std::uint32_t k = below(40);
        const double threshold = below(2) == 0 ? NONE : static_cast<double>(masses[0]) / 2;
        compare<true>(scores, tables, classes, k, threshold);
        compare<false>(scores, tables, classes, k, threshold);
        scores.undo();
    }
    std::puts("equal");
}
