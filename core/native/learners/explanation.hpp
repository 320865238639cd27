// Why a class ranks where it does: what each feature and each node of its path adds.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace manyclass {

using Contributions = std::vector<std::pair<std::string, double>>;  // of features, by name

// A node on the path to a class of a hierarchical learner, from the root down, and what moved it,
// most first. Of a label tree the number of its classes, its probability given the node above it, and
// the bias of its log-odds; of a learner with families the name, and its part of the score.
struct PathNode {
    std::uint64_t classes = 0;
    double probability = 0;
    double bias = 0;
    Contributions moved;
    std::string name = {};
    double score = 0;
};

}  // namespace manyclass
