// The learner `ff` as one would write it first: lists of edges, dense scores, the best class. A
// yardstick for the engine, called from benchmarks/plain_loop.py.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

struct Edge {
    std::uint32_t cls;
    float mass;
};

struct Feature {
    double mass = 0;
    double times_seen = 0;
    std::vector<Edge> edges;  // heaviest first
};

struct Rows {
    const std::int64_t* indptr;
    const std::int32_t* indices;
    const float* values;
};

struct Loop {
    std::vector<Feature> features;
    std::vector<double> scores;          // dense, by class
    std::vector<std::uint32_t> touched;  // classes whose score is not 0
    std::size_t most_edges;
    double margin, min_weight, rating;

    // Score the classes of a row; return the best one, -1 without a score.
    std::int32_t rank(const Rows& rows, std::int64_t row) {
        for (const std::uint32_t cls : touched) scores[cls] = 0;
        touched.clear();
        const double scale = scale_of(rows, row);
        for (std::int64_t at = rows.indptr[row]; at < rows.indptr[row + 1]; ++at) {
            const Feature& feature = features[static_cast<std::size_t>(rows.indices[at])];
            if (feature.edges.empty()) continue;
            const double rated = std::min(1.0, feature.times_seen / rating);
            const double coefficient = rated * scale * rows.values[at] / feature.mass;
            const std::size_t count = std::min(most_edges, feature.edges.size());
            for (std::size_t i = 0; i < count; ++i) {
                const Edge edge = feature.edges[i];
                if (scores[edge.cls] == 0) touched.push_back(edge.cls);
                scores[edge.cls] += coefficient * edge.mass;
            }
        }
        std::int32_t best = -1;
        double highest = 0;
        for (const std::uint32_t cls : touched)
            if (scores[cls] > highest) {
                highest = scores[cls];
                best = static_cast<std::int32_t>(cls);
            }
        return best;
    }

    void learn(const Rows& rows, std::int64_t row, std::uint32_t cls) {
        for (std::int64_t at = rows.indptr[row]; at < rows.indptr[row + 1]; ++at)
            features[static_cast<std::size_t>(rows.indices[at])].times_seen += 1;
        rank(rows, row);
        double rival = 0;
        for (const std::uint32_t other : touched)
            if (other != cls && scores[other] > rival) rival = scores[other];
        if (scores[cls] - rival > margin) return;
        const double scale = scale_of(rows, row);
        for (std::int64_t at = rows.indptr[row]; at < rows.indptr[row + 1]; ++at)
            strengthen(features[static_cast<std::size_t>(rows.indices[at])], cls,
                       scale * rows.values[at]);
    }

    void strengthen(Feature& feature, std::uint32_t cls, double value) {
        std::vector<Edge>& edges = feature.edges;
        std::size_t at = 0;
        while (at < edges.size() && edges[at].cls != cls) ++at;
        if (at == edges.size()) edges.push_back({cls, 0});
        edges[at].mass += static_cast<float>(value);
        feature.mass += value;
        for (; at > 0 && edges[at].mass > edges[at - 1].mass; --at)
            std::swap(edges[at], edges[at - 1]);
        while (!edges.empty() && edges.back().mass < min_weight * feature.mass) edges.pop_back();
    }

    static double scale_of(const Rows& rows, std::int64_t row) {
        double squares = 0;
        for (std::int64_t at = rows.indptr[row]; at < rows.indptr[row + 1]; ++at)
            squares += static_cast<double>(rows.values[at]) * rows.values[at];
        return 1 / std::sqrt(squares);
    }
};

}  // namespace

extern "C" {

void* loop_new(std::size_t features, std::size_t classes, std::size_t most_edges, double margin,
               double min_weight, double rating) {
    return new Loop{std::vector<Feature>(features), std::vector<double>(classes), {}, most_edges,
                    margin, min_weight, rating};
}

void loop_delete(void* loop) { delete static_cast<Loop*>(loop); }

void loop_rank(void* loop, std::int64_t count, const std::int64_t* indptr,
               const std::int32_t* indices, const float* values, std::int32_t* best) {
    for (std::int64_t row = 0; row < count; ++row)
        best[row] = static_cast<Loop*>(loop)->rank({indptr, indices, values}, row);
}

// Rows of one class each.
void loop_learn(void* loop, std::int64_t count, const std::int64_t* indptr,
                const std::int32_t* indices, const float* values, const std::int32_t* classes) {
    for (std::int64_t row = 0; row < count; ++row)
        static_cast<Loop*>(loop)->learn({indptr, indices, values}, row,
                                        static_cast<std::uint32_t>(classes[row]));
}
}
