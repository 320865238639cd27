// The options of a label tree.
#pragma once

#include <algorithm>
#include <cstdint>

namespace manyclass {

// The shape in which a tree is built over classes that are known.
enum class Shape : std::uint8_t { complete, random, huffman, kmeans };

// The child that a new class goes to: the one that fits best, the best of some, or any.
enum class Policy : std::uint8_t { greedy, sampled, random };

struct TreeOptions {
    double rate = 1, epsilon = 0, bias = 1, min_weight = 0, alpha = 0;
    std::uint32_t arity = 2, max_leaves = 100, sample = 0, retrieval_window = 0;
    Shape shape = Shape::complete;
    Policy policy = Policy::greedy;

    // The value of the bias: `bias` for each true class of an event, on average, up to 1.
    double bias_of(double mean_classes) const {
        return std::max(bias, std::min(1.0, bias * mean_classes));
    }

    template <class V>
    void visit_options(V&& option) {
        option("rate", rate);
        option("epsilon", epsilon);
        option("bias", bias);
        option("min_weight", min_weight);
        option("alpha", alpha);
        option("arity", arity);
        option("max_leaves", max_leaves);
        option("sample", sample);
        option("retrieval_window", retrieval_window);
        option.choice("policy", policy,
                      {{"greedy", Policy::greedy},
                       {"sampled", Policy::sampled},
                       {"random", Policy::random}});
        option.choice("tree", shape,
                      {{"complete", Shape::complete},
                       {"random", Shape::random},
                       {"huffman", Shape::huffman},
                       {"kmeans", Shape::kmeans}});
    }
};

}  // namespace manyclass
