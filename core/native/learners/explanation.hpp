// Explanations of a score: what each feature, and each node of the path, adds.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace manyclass {

using Contributions = std::vector<std::pair<std::string, double>>;  // of features, by name

// A node on the path to a class, from the root down, with the contributions of features, largest
// first. In a label tree: the number of its classes, its probability given its parent, and the bias
// of its log-odds. With families: the name of the class, and its part of the score.
struct PathNode {
    std::uint64_t classes = 0;
    double probability = 0;
    double bias = 0;
    Contributions moved;
    std::string name = {};
    double score = 0;
};

}  // namespace manyclass
