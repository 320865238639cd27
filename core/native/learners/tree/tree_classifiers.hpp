// Inference and training of the classifiers of a label tree: logistic regression with AdaGrad.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "learners/tree/tree_builder.hpp"
#include "learners/tree/tree_nodes.hpp"
#include "learners/tree/tree_options.hpp"
#include "math/elementary.hpp"
#include "pipeline/example.hpp"

namespace manyclass {

constexpr float MOST_SQUARES = 1e36f;          // so that sums of squares stay numbers
constexpr float SMALLEST_GRADIENT = 0x1p-63f;  // its square is a normal number
constexpr float MOST_WEIGHT = 1e10f;           // steps of 100 at most are lost in what is far less

class TreeClassifiers : public TreeNodes {
public:
    void configure(const TreeOptions& options) { options_ = options; }

    // The inputs of the classifiers: the active features that are known, and the bias.
    void input_of(const std::vector<ActiveFeature>& active, double mean_classes,
                  std::vector<Input>& input) const {
        input.clear();
        for (const ActiveFeature& each : active)
            if (each.feature != NO_ID)
                input.emplace_back(each.feature, each.value);
        input.emplace_back(BIAS, options_.bias_of(mean_classes));
    }

    // Nodes that were opened, and the weights read there.
    struct Cost {
        std::uint64_t nodes, weights;
    };

    // The probability of each class, 0 for one that is not in the tree.
    std::vector<double> probabilities(const std::vector<Input>& input,
                                      const std::vector<std::uint32_t>& classes,
                                      Cost& cost) const {
        Work& work = workspace();
        work.touched = 0;
        std::unordered_map<std::uint32_t, std::vector<double>> known;  // of children, by node
        std::vector<double> found;
        for (const std::uint32_t cls : classes) {
            if (!has(cls)) {
                found.push_back(0);
                continue;
            }
            std::vector<double> path;
            climb(cls, [&](std::uint32_t id, std::uint32_t index) {
                std::vector<double>& of_children = known[id];
                if (of_children.empty()) {
                    probabilities(nodes_[id], input, work);
                    of_children = work.probabilities;
                }
                path.push_back(of_children[index]);
            });
            double product = 1;
            for (std::size_t at = path.size(); at-- > 0;) product *= path[at];  // as a search does
            found.push_back(product);
        }
        cost = {known.size(), work.touched};
        return found;
    }

    // A node on the path to a class, from the root down: how many classes are below the child that
    // is on the path, its probability, and by how much each input moved its log-odds.
    struct Step {
        std::uint64_t classes;
        double probability;
        std::vector<double> moved;
    };

    std::vector<Step> path(const std::vector<Input>& input, std::uint32_t cls) const {
        std::vector<Step> steps;
        Work& work = workspace();
        climb(cls, [&](std::uint32_t id, std::uint32_t index) {
            const Node& node = nodes_[id];
            probabilities(node, input, work);
            Step step{node.is_preleaf ? 1 : nodes_[node.children[index]].leaves,
                      work.probabilities[index], std::vector<double>(input.size(), 0.0)};
            if (classifiers(node) > 0)
                for (std::size_t i = 0; i < input.size(); ++i)
                    step.moved[i] = static_cast<double>(input[i].value) *
                                    static_cast<double>(weight(node, input[i].feature, index));
            steps.push_back(std::move(step));
        });
        std::reverse(steps.begin(), steps.end());
        return steps;
    }

    // One online step of every classifier that the instance concerns: those of the children of each
    // node on a path to a true class. The weight of the instance multiplies every gradient.
    void learn(const std::vector<Input>& input, const std::vector<std::uint32_t>& true_classes,
               double weight) {
        Work& work = workspace();
        work.positives.clear();
        std::unordered_set<std::uint32_t> met;  // nodes whose paths are in already
        for (const std::uint32_t cls : true_classes) {
            if (!has(cls)) continue;
            std::uint32_t node = positions_[cls].node, index = positions_[cls].index;
            work.positives.emplace_back(node, index);
            while (node != root_ && met.insert(node).second) {
                index = index_in_parent(node);
                node = nodes_[node].parent;
                work.positives.emplace_back(node, index);
            }
        }
        std::sort(work.positives.begin(), work.positives.end());
        for (std::size_t begin = 0, end = 0; begin < work.positives.size(); begin = end) {
            const std::uint32_t node = work.positives[begin].first;
            while (end < work.positives.size() && work.positives[end].first == node) ++end;
            step(nodes_[node], input, begin, end, static_cast<float>(weight), work);
        }
        if (static_cast<float>(options_.min_weight) > 0)
            for (const std::uint32_t cls : true_classes)
                if (has(cls))
                    climb(cls, [&](std::uint32_t node, std::uint32_t) {
                        drop_light(nodes_[node], input, work);
                    });
    }

protected:
    // Scratch memory of a thread.
    struct Work {
        std::vector<std::uint32_t> blocks;
        std::vector<float> scores;
        std::vector<double> probabilities;
        std::uint64_t touched;  // weights
        std::vector<std::pair<std::uint32_t, std::uint32_t>> positives;  // node, index of the child
    };

    [[gnu::noinline]] static Work& workspace() {
        static thread_local Work work;
        return work;
    }

    friend class TreeSearch;

    // The blocks of the inputs, NO_ID where there is none, on their way from memory.
    static void find_blocks(const NodeClassifiers& blocks, const std::vector<Input>& input,
                            Work& work) {
        for (const Input& each : input) blocks.prefetch_slot(each.feature);
        work.blocks.resize(input.size());
        for (std::size_t i = 0; i < input.size(); ++i) {
            work.blocks[i] = blocks.find(input[i].feature);
            if (work.blocks[i] != NO_ID) blocks.prefetch(work.blocks[i]);
        }
    }

    // The probability of each child, given the node.
    void probabilities(const Node& node, const std::vector<Input>& input, Work& work) const {
        const std::uint32_t children = classifiers(node), first = node.grows;
        work.probabilities.assign(node.children.size(), 1.0);
        if (children == 0) return;
        find_blocks(node.blocks, input, work);
        work.scores.assign(children, 0.0f);
        float* const scores = work.scores.data();
        for (std::size_t i = 0; i < input.size(); ++i) {
            if (work.blocks[i] == NO_ID) continue;
            work.touched += children;
            const float* weights = node.blocks.weights(work.blocks[i]);
            const std::uint32_t there =
                std::max(node.blocks.weights_in(work.blocks[i]), first) - first;
            add(scores, weights + first, std::min(there, children), input[i].value);
            for (std::uint32_t index = there; index < children; ++index)
                scores[index] += input[i].value * (sign(index) * weights[0]);
        }
        for (std::uint32_t index = 0; index < children; ++index)
            work.probabilities[index] = logistic(static_cast<double>(scores[index]));
    }

    static void add(float* __restrict scores, const float* __restrict weights, std::uint32_t count,
                    float value) {
        for (std::uint32_t at = 0; at < count; ++at) scores[at] += value * weights[at];
    }

    // One AdaGrad step of every classifier of a node: the children among the positives from `begin`
    // to `end`, and the auxiliary one, are true, the others are not.
    void step(Node& node, const std::vector<Input>& input, std::size_t begin, std::size_t end,
              float weight, Work& work) {
        const std::uint32_t width = TreeNodes::width(node);
        if (width == 0) return;
        discount(node);
        find_blocks(node.blocks, input, work);
        for (std::size_t i = 0; i < input.size(); ++i) {
            if (work.blocks[i] == NO_ID)
                work.blocks[i] = add_block(node, input[i].feature, width);
            else
                fill(node, work.blocks[i]);
        }
        work.scores.assign(width, 0.0f);
        for (std::size_t i = 0; i < input.size(); ++i)
            add(work.scores.data(), node.blocks.weights(work.blocks[i]), width, input[i].value);
        slopes(node, begin, end, work);
        for (float& slope : work.scores) slope *= weight;
        for (std::size_t i = 0; i < input.size(); ++i)
            move(node.blocks.weights(work.blocks[i]), node.blocks.squares(work.blocks[i]),
                 work.scores.data(), width, input[i].value);
        count(node);
    }

    // For each classifier, the slope of its loss instead of its score: negative where it is to
    // rise.
    void slopes(const Node& node, std::size_t begin, std::size_t end, Work& work) const {
        std::vector<float>& scores = work.scores;
        const auto negate_the_true = [&] {
            if (node.grows) scores[0] = -scores[0];
            if (classifiers(node) > 0)
                for (std::size_t i = begin; i < end; ++i) {
                    float& score = scores[work.positives[i].second + node.grows];
                    score = -score;
                }
        };
        negate_the_true();
        for (float& score : scores)
            score = not_too_small(static_cast<float>(logistic(static_cast<double>(score))),
                                  SMALLEST_MASS);
        negate_the_true();
    }

    // The processor's mode decides if subnormal numbers exist (postings.hpp): here they are 0.
    static float not_too_small(float number, float least) {
        return std::fabs(number) < least ? 0.0f : number;
    }

    void move(float* __restrict weights, float* __restrict squares, const float* __restrict slopes,
              std::uint32_t count, float value) const {
        const float rate = static_cast<float>(options_.rate);
        const float epsilon = static_cast<float>(options_.epsilon);
        for (std::uint32_t at = 0; at < count; ++at) {
            const float gradient = not_too_small(slopes[at] * value, SMALLEST_GRADIENT);
            squares[at] = std::min(squares[at] + gradient * gradient, MOST_SQUARES);
            weights[at] -= rate * gradient / std::sqrt(squares[at] + epsilon);
        }
    }

    // Give every classifier of the node a slot in a block.
    void fill(Node& node, std::uint32_t block) {
        NodeClassifiers& blocks = node.blocks;
        const std::uint32_t wanted = width(node), there = blocks.weights_in(block);
        if (there >= wanted) return;
        float *weights = blocks.weights(block), *squares = blocks.squares(block);
        for (std::uint32_t at = there; at < wanted; ++at) {
            weights[at] = sign(at - node.grows) * weights[0];
            squares[at] = squares[0];
        }
        blocks.set_weights_in(block, wanted);
        count_weights(blocks.feature(block), wanted - there);
    }

    // Give every classifier a slot in every block; the caller then removes one of them.
    void fill_before_drop(Node& node) {
        for (std::uint32_t block = 0; block < node.blocks.count(); ++block) {
            fill(node, block);
            count_weights(node.blocks.feature(block), -1);
        }
    }

    // Drop what is light in a block of an input, unless a node below holds a block of the feature.
    void drop_light(Node& node, const std::vector<Input>& input, Work& work) {
        const auto least = static_cast<float>(options_.min_weight);
        discount(node);
        find_blocks(node.blocks, input, work);
        std::sort(work.blocks.begin(), work.blocks.end(), std::greater<std::uint32_t>());
        for (const std::uint32_t block : work.blocks) {
            if (block == NO_ID) continue;
            const std::uint32_t feature = node.blocks.feature(block);
            const float* weights = node.blocks.weights(block);
            const bool is_light =
                std::all_of(weights, weights + node.blocks.weights_in(block),
                            [least](float weight) { return std::fabs(weight) < least; });
            if (is_light && feature != BIAS && !is_held_below(node, feature))
                remove_block(node, block);
        }
        count(node);
    }

    TreeOptions options_;
};

}  // namespace manyclass
