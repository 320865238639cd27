// A label tree: a probability for each class, as the product of those of the nodes on its path
// (Jasinska-Kobus et al., Online Probabilistic Label Trees, AISTATS 2021).
//
//   node 4 = [2 5]           an inner node: its children are nodes
//     node 2 = [c7 c1 c3]    a pre-leaf: its children are classes, the leaves
//     node 5 = [c4]          a lone leaf, which may still grow
//
// A node holds the classifiers of its children, logistic ones with AdaGrad: block by block a weight
// for each child and feature (node_classifiers.hpp). A node that may still grow has one more in front, the
// auxiliary classifier, for which every instance of the node is positive. A new child starts from
// its negation: had it been there from the start, each of these instances would have been a negative
// one for it. The logistic step is odd-symmetric, so that negating the weights is exact, and a block
// that was not changed since needs no place for the child before it is changed again.
//
// Where a node holds a block of a feature, so does the node above it: an instance concerns whole
// paths. So a feature is evicted on the way down from the root, past the nodes that do not hold it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "learners/options.hpp"
#include "learners/rules/update_context.hpp"
#include "learners/tree/node_classifiers.hpp"
#include "learners/tree/tree_builder.hpp"
#include "math/logistic.hpp"
#include "math/natural_log.hpp"
#include "snapshot/state.hpp"
#include "storage/postings.hpp"
#include "storage/replay_buffer.hpp"

namespace manyclass {

constexpr std::uint32_t BIAS = NO_ID - 1;  // the feature that every instance has, of value 1
constexpr float MOST_SQUARES = 1e36f;      // so that sums of squares stay numbers
constexpr float SMALLEST_GRADIENT = 0x1p-63f;  // whose square is a normal number
constexpr std::size_t MOST_CHILDREN = 1000;  // arity and max_leaves are at most that
constexpr float MOST_WEIGHT = 1e10f;       // steps of 100 at most are lost in what is far less

class LabelTree {
public:
    explicit LabelTree(const Options& options) : random_(options.seed) { configure(options); }

    void configure(const Options& options) {
        rate_ = static_cast<float>(options.rate);
        epsilon_ = static_cast<float>(options.epsilon);
        least_weight_ = static_cast<float>(options.min_weight);
        alpha_ = options.alpha;
        greedy_ = options.greedy;
        arity_ = options.arity;
        max_leaves_ = options.max_leaves;
    }

    std::uint64_t weights() const { return weights_; }
    bool has(std::uint32_t cls) const { return cls < places_.size() && places_[cls].node != NO_ID; }

    // What the tree takes, by count: the same for one that grew and one that was loaded.
    std::uint64_t bytes() const {
        return node_bytes() + blocks_ * BYTES_PER_BLOCK + weights_ * BYTES_PER_TREE_WEIGHT;
    }

    // What there is of it for the sake of classes alone.
    std::uint64_t node_bytes() const { return (nodes_.size() - free_.size()) * BYTES_PER_NODE; }

    std::size_t resident_bytes() const {
        std::size_t bytes = nodes_.capacity() * sizeof(Node) +
                            places_.capacity() * sizeof(Place) + weights_of_.resident_bytes();
        for (const Node& node : nodes_)
            bytes += node.blocks.resident_bytes() + node.children.capacity() * sizeof(std::uint32_t);
        return bytes;
    }

    // What classifiers are given of the active features that are known.
    static void input_of(const std::vector<ActiveFeature>& active, std::vector<Input>& input) {
        input.clear();
        for (const ActiveFeature& each : active)
            if (each.feature != NO_ID)
                input.emplace_back(each.feature, each.value);
        input.emplace_back(BIAS, 1.0);
    }

    // --- ranking -------------------------------------------------------------------------------

    struct Cost {  // of a search
        std::uint64_t nodes, weights;
    };

    // Meet the `wanted` classes of the highest probability, the most likely first, of equal ones the
    // one that came to the tree first, until `go_on(class, probability)` says no. Best-first search,
    // exact if it opens at most `most_nodes`; see Search::finish.
    template <class F>
    Cost search(const std::vector<Input>& input, std::size_t wanted, std::uint64_t most_nodes,
                F&& go_on) const {
        if (root_ == NO_ID) return {0, 0};
        Search search(*this, input, wanted);
        bool is_finished = false;
        while (!search.is_over()) {
            if (search.opened() == most_nodes && !is_finished) {
                search.finish();
                is_finished = true;
                continue;
            }
            const Reached best = search.next();
            if (!best.is_class) search.open(best);
            else if (!go_on(best.id, best.probability)) break;
        }
        return {search.opened(), workspace().touched};
    }

    // The probability of each class, 0 for one that is not in the tree.
    std::vector<double> probabilities(const std::vector<Input>& input,
                                      const std::vector<std::uint32_t>& classes) const {
        Work& work = workspace();
        std::unordered_map<std::uint32_t, std::vector<double>> known;  // of children, by node
        std::vector<double> found;
        for (const std::uint32_t cls : classes) {
            if (!has(cls)) {
                found.push_back(0);
                continue;
            }
            std::vector<double> path;
            climb(cls, [&](std::uint32_t id, std::uint32_t place) {
                std::vector<double>& of_children = known[id];
                if (of_children.empty()) {
                    probabilities(nodes_[id], input, work);
                    of_children = work.probabilities;
                }
                path.push_back(of_children[place]);
            });
            double product = 1;
            for (std::size_t at = path.size(); at-- > 0;) product *= path[at];  // as a search does
            found.push_back(product);
        }
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
        climb(cls, [&](std::uint32_t id, std::uint32_t place) {
            const Node& node = nodes_[id];
            probabilities(node, input, work);
            Step step{node.is_preleaf ? 1 : nodes_[node.children[place]].leaves,
                      work.probabilities[place], std::vector<double>(input.size(), 0.0)};
            if (classifiers(node) > 0)
                for (std::size_t i = 0; i < input.size(); ++i)
                    step.moved[i] = static_cast<double>(input[i].value) *
                                    static_cast<double>(weight(node, input[i].feature, place));
            steps.push_back(std::move(step));
        });
        std::reverse(steps.begin(), steps.end());
        return steps;
    }

    // The weight with which a feature speaks for a class among the classes of its pre-leaf.
    float leaf_weight(std::uint32_t feature, std::uint32_t cls) const {
        const Place place = places_[cls];
        const Node& node = nodes_[place.node];
        return classifiers(node) == 0 ? 0 : weight(node, feature, place.place);
    }

    // Every class with a leaf weight other than 0 for the feature.
    template <class F>
    void each_leaf_weight(std::uint32_t feature, F&& meet) const {
        std::vector<std::uint32_t> ids;
        each_node_with(feature, [&](std::uint32_t id, std::uint32_t) { ids.push_back(id); });
        std::sort(ids.begin(), ids.end());
        for (const std::uint32_t id : ids) {
            const Node& node = nodes_[id];
            if (!node.is_preleaf || classifiers(node) == 0) continue;
            for (std::uint32_t place = 0; place < node.children.size(); ++place)
                if (const float found = weight(node, feature, place); found != 0)
                    meet(node.children[place], found);
        }
    }

    // How many features have 0, 1, ... weights with a place in a block; the last: that many or more.
    // Features without a block are not counted.
    const std::array<std::uint64_t, OUTDEGREES>& outdegrees() const { return outdegrees_; }

    std::uint64_t nodes_visited() const { return nodes_visited_; }  // to forget features; no state

    // --- learning ------------------------------------------------------------------------------

    // New leaves for new classes, beside each other if there is room: where the policy leads.
    void add_leaves(const std::vector<Input>& input, const std::vector<std::uint32_t>& classes) {
        if (classes.empty()) return;
        if (root_ == NO_ID) root_ = make_node(NO_ID, true);
        std::uint32_t at = node_to_grow(input);
        for (std::size_t i = 0; i < classes.size(); ++i) {
            if (i > 0 && is_crowded(at)) at = node_to_grow(input);
            at = with_room(at);
            add_leaf(at, classes[i]);
        }
    }

    // One online step of every classifier that the instance concerns: those of the children of each
    // node on a path to a true class.
    void learn(const std::vector<Input>& input, const std::vector<std::uint32_t>& true_classes) {
        Work& work = workspace();
        work.positives.clear();
        std::unordered_set<std::uint32_t> met;  // nodes whose paths are in already
        for (const std::uint32_t cls : true_classes) {
            if (!has(cls)) continue;
            std::uint32_t node = places_[cls].node, place = places_[cls].place;
            work.positives.emplace_back(node, place);
            while (node != root_ && met.insert(node).second) {
                place = place_of(node);
                node = nodes_[node].parent;
                work.positives.emplace_back(node, place);
            }
        }
        std::sort(work.positives.begin(), work.positives.end());
        for (std::size_t begin = 0, end = 0; begin < work.positives.size(); begin = end) {
            const std::uint32_t node = work.positives[begin].first;
            while (end < work.positives.size() && work.positives[end].first == node) ++end;
            step(nodes_[node], input, begin, end, work);
        }
        if (least_weight_ > 0)
            for (const std::uint32_t cls : true_classes)
                if (has(cls))
                    climb(cls, [&](std::uint32_t node, std::uint32_t) {
                        drop_light(nodes_[node], input, work);
                    });
    }

    // --- planting ------------------------------------------------------------------------------

    // Begin anew with a tree over these classes that knows nothing else.
    void plant(std::vector<Leaf> leaves, const Options& options) {
        std::vector<std::uint32_t> classes;
        for (const Leaf& leaf : leaves) classes.push_back(leaf.cls);
        const Branch shape = TreeBuilder(std::move(leaves), options, random_).shape();
        nodes_.clear();
        places_.clear();
        free_.clear();
        std::fill_n(weights_of_.data(), weights_of_.size(), 0u);
        outdegrees_.fill(0);
        has_gaps_ = false;
        blocks_ = weights_ = 0;
        root_ = plant(shape, NO_ID);
        births_ = 0;
        for (const std::uint32_t cls : classes) places_[cls].born = births_++;
    }

    // --- forgetting ----------------------------------------------------------------------------

    // Take the feature's block out of every node that holds one.
    void forget_feature(std::uint32_t feature) {
        nodes_visited_ += each_node_with(feature, [&](std::uint32_t id, std::uint32_t block) {
            Node& node = nodes_[id];
            forget(node);
            remove_block(node, block);
            node.blocks.give_back_unused();
            count(node);
        });
    }

    void forget_class(std::uint32_t cls) {
        if (!has(cls)) return;
        std::uint32_t node = places_[cls].node, place = places_[cls].place;
        for (std::uint32_t above = node; above != NO_ID; above = nodes_[above].parent)
            --nodes_[above].leaves;
        places_[cls] = {};
        while (true) {
            take_child(node, place);
            if (!nodes_[node].children.empty()) {
                if (is_needless(nodes_[node])) put_child_in_place_of(node);
                return;
            }
            const std::uint32_t parent = nodes_[node].parent;
            place = parent == NO_ID ? 0 : place_of_child(parent, node);
            free_node(node);
            if (parent == NO_ID) {
                root_ = NO_ID;
                return;
            }
            node = parent;
        }
    }

    // --- state ---------------------------------------------------------------------------------

    // Fill in the sizes of the runs.
    void measure(State& state, std::uint64_t classes) const {
        state.nodes = nodes_.size();
        state.free_nodes = free_.size();
        state.turns = root_ == NO_ID ? 0 : classes;
        state.children = state.blocks = state.weights = 0;
        for (const Node& node : nodes_) {
            state.children += node.children.size();
            state.blocks += node.blocks.count();
            for (std::uint32_t block = 0; block < node.blocks.count(); ++block)
                state.weights += node.blocks.weights_in(block);
        }
    }

    void dump(const State& state) const {
        state.counts[7] = root_ == NO_ID ? 0 : root_ + std::uint64_t{1};
        state.counts[8] = births_;
        state.counts[9] = random_;
        std::uint64_t child = 0, place = 0, weight = 0;
        for (std::size_t id = 0; id < nodes_.size(); ++id) {
            const Node& node = nodes_[id];
            state.node_kinds[id] = static_cast<std::uint8_t>(node.is_preleaf + 2 * node.grows);
            state.node_children[id] = static_cast<std::uint32_t>(node.children.size());
            state.node_blocks[id] = node.blocks.count();
            for (const std::uint32_t each : node.children) state.children_ids[child++] = each;
            for (std::uint32_t block = 0; block < node.blocks.count(); ++block, ++place) {
                const std::uint32_t count = node.blocks.weights_in(block);
                state.block_features[place] = node.blocks.feature(block);
                state.block_weights[place] = count;
                std::copy_n(node.blocks.weights(block), count, state.tree_weights + weight);
                std::copy_n(node.blocks.squares(block), count, state.tree_squares + weight);
                weight += count;
            }
        }
        std::copy(free_.begin(), free_.end(), state.node_free);
        for (std::uint64_t cls = 0; cls < state.turns; ++cls)
            state.class_turns[cls] = has(static_cast<std::uint32_t>(cls)) ? places_[cls].born : 0;
    }

    // Take what was dumped; std::invalid_argument "section: fault" when the runs contradict
    // themselves, or name a feature or class that there is not.
    template <class F, class C>
    void load(const State& state, F&& is_feature, C&& is_class) {
        births_ = state.counts[8];
        random_ = state.counts[9];
        if (state.counts[7] > state.nodes) refuse("counts", "the tree has no such root");
        if (births_ > state.counts[2]) refuse("counts", "not so many classes ever came");
        root_ = static_cast<std::uint32_t>(state.counts[7]) - 1;
        if ((root_ == NO_ID) != (state.turns == 0))
            refuse("class_turns", "either a root or turns of classes are missing");
        nodes_.resize(state.nodes);
        places_.resize(state.turns);
        std::uint64_t child = 0, place = 0, weight = 0;
        for (std::uint64_t id = 0; id < state.nodes; ++id) {
            Node& node = nodes_[id];
            if (state.node_kinds[id] > 3 || state.node_kinds[id] == 1)  // a pre-leaf may always grow
                refuse("node_kinds", "there is no such node");
            node.is_preleaf = state.node_kinds[id] % 2;
            node.grows = state.node_kinds[id] / 2;
            if (state.children - child < state.node_children[id])
                refuse("node_children", "children are cut short");
            node.children.assign(state.children_ids + child,
                                 state.children_ids + child + state.node_children[id]);
            child += state.node_children[id];
            need(node.children.size() <= MOST_CHILDREN, "node_children",
                 "a node has too many children");
            need(!is_needless(node), "node_children", "a node says nothing of its only child");
            load_blocks(node, state, state.node_blocks[id], place, weight, is_feature);
            count(node);
        }
        need(child == state.children, "node_children", "more children than nodes account for");
        need(place == state.blocks, "node_blocks", "more blocks than nodes account for");
        need(weight == state.weights, "block_weights", "more weights than blocks account for");
        load_free(state);
        join(state, is_class);
        has_gaps_ = std::any_of(nodes_.begin(), nodes_.end(), [this](const Node& node) {
            return is_held_below_only(node);
        });
    }

private:
    // Of a node the record and five allocations; of a block its slot (12 to 16 bytes), feature and
    // count; of a weight its sum of squares too. All with the room they have to spare and with the
    // holes that small allocations leave behind: nearly half of the memory, as load_tests/soak.py shows.
    static constexpr std::uint64_t BYTES_PER_NODE = 1024, BYTES_PER_BLOCK = 40;
    static constexpr std::uint64_t BYTES_PER_TREE_WEIGHT = 15;

    struct Node {
        std::uint32_t parent = NO_ID;
        std::uint32_t leaves = 0;             // classes below
        std::vector<std::uint32_t> children;  // classes of a pre-leaf, nodes of an inner node
        NodeClassifiers blocks;
        bool is_preleaf = false;
        bool grows = false;  // more children may come: the first classifier is the auxiliary one
    };

    struct Place {  // of a class: below which node, and as which of its children
        std::uint32_t node = NO_ID;
        std::uint32_t place = 0;
        std::uint64_t born = 0;  // its turn among the classes that came to the tree
    };

    struct Reached {
        double probability;
        std::uint64_t born;
        std::uint32_t id;
        bool is_class;
    };
    struct Later {
        bool operator()(const Reached& one, const Reached& other) const {
            if (one.probability != other.probability) return one.probability < other.probability;
            if (one.is_class != other.is_class) return one.is_class;  // nodes first: they may hold
            return one.is_class ? one.born > other.born : one.id > other.id;  // an older class
        }
    };

    struct Work {
        std::vector<std::uint32_t> blocks;
        std::vector<float> scores;
        std::vector<double> probabilities;
        std::uint64_t touched;
        std::vector<Reached> reached;  // a heap, the best in front
        std::vector<double> best;      // a heap of probabilities of classes, the least in front
        std::vector<std::pair<std::uint32_t, std::uint32_t>> positives;  // node, place of its child
    };

    static Work& workspace() {
        static thread_local Work work;
        return work;
    }

    // The nodes and classes that a search has reached but not met, best first.
    class Search {
    public:
        Search(const LabelTree& tree, const std::vector<Input>& input, std::size_t wanted)
            : tree_(tree), input_(input), wanted_(wanted), work_(workspace()) {
            work_.touched = 0;
            work_.best.clear();
            work_.reached.assign(1, {1, 0, tree.root_, false});
        }

        bool is_over() const { return work_.reached.empty(); }
        std::uint64_t opened() const { return opened_; }  // nodes

        Reached next() {
            std::pop_heap(work_.reached.begin(), work_.reached.end(), Later());
            const Reached best = work_.reached.back();
            work_.reached.pop_back();
            return best;
        }

        void open(const Reached& node) {
            each_child(node, [this](const Reached& child) { push(child); });
        }

        // Go straight down from the best nodes, until enough classes are reached. A class that is
        // reached by then is met before one that is not, however probable that is.
        void finish() {
            constexpr int LEAST_DESCENTS = 32;
            const auto first_class =
                std::partition(work_.reached.begin(), work_.reached.end(),
                               [](const Reached& each) { return !each.is_class; });
            std::vector<Reached> classes(first_class, work_.reached.end());
            work_.reached.erase(first_class, work_.reached.end());
            std::make_heap(work_.reached.begin(), work_.reached.end(), Later());
            for (int descents = 0; !is_over(); ++descents) {
                if (descents >= LEAST_DESCENTS && work_.best.size() == wanted_) break;
                descend(next(), classes);
            }
            work_.reached.swap(classes);
            std::make_heap(work_.reached.begin(), work_.reached.end(), Later());
        }

    private:
        // Add the classes of the pre-leaf that the best child of each node leads to.
        void descend(Reached at, std::vector<Reached>& classes) {
            while (!tree_.nodes_[at.id].is_preleaf) {
                Reached best{-1, 0, NO_ID, false};
                each_child(at, [&](Reached child) {
                    if (Later()(best, child)) std::swap(best, child);
                    if (child.id != NO_ID) push(child);
                });
                if (best.id == NO_ID) return;  // nothing below is wanted
                at = best;
            }
            each_child(at, [&classes](const Reached& child) { classes.push_back(child); });
        }

        void push(const Reached& reached) {
            work_.reached.push_back(reached);
            std::push_heap(work_.reached.begin(), work_.reached.end(), Later());
        }

        // Meet the children of a node that can be, or top_two to, wanted classes.
        template <class F>
        void each_child(const Reached& at, F&& meet) {
            const Node& node = tree_.nodes_[at.id];
            ++opened_;
            tree_.probabilities(node, input_, work_);
            for (std::size_t place = 0; place < node.children.size(); ++place) {
                const double probability = at.probability * work_.probabilities[place];
                if (work_.best.size() == wanted_ && probability < work_.best.front()) continue;
                const std::uint32_t child = node.children[place];
                if (node.is_preleaf) note_class(probability);
                meet({probability, node.is_preleaf ? tree_.places_[child].born : 0, child,
                      node.is_preleaf});
            }
        }

        // Keep the `wanted` highest probabilities of classes.
        void note_class(double probability) {
            std::vector<double>& best = work_.best;
            if (best.size() == wanted_) {
                std::pop_heap(best.begin(), best.end(), std::greater<double>());
                best.pop_back();
            }
            best.push_back(probability);
            std::push_heap(best.begin(), best.end(), std::greater<double>());
        }

        const LabelTree& tree_;
        const std::vector<Input>& input_;
        const std::size_t wanted_;
        std::uint64_t opened_ = 0;
        Work& work_;
    };

    // How many of a node's children have classifiers: an only child is certain, and needs none.
    static std::uint32_t classifiers(const Node& node) {
        return node.children.size() == 1 ? 0 : static_cast<std::uint32_t>(node.children.size());
    }
    static std::uint32_t width(const Node& node) { return node.grows + classifiers(node); }

    // What a child without a place in a block would have there: the negation of the auxiliary
    // weight, but for the first, which was once the only one.
    static float sign(std::uint32_t place) { return place == 0 ? 1.0f : -1.0f; }

    // --- the blocks of a feature ---------------------------------------------------------------

    // Meet the nodes that hold a block of the feature, and the block, which may be removed. How many
    // nodes were looked at.
    template <class F>
    std::uint64_t each_node_with(std::uint32_t feature, F&& meet) const {
        std::vector<std::uint32_t> ahead;
        if (root_ == NO_ID) return 0;
        if (has_gaps_) {
            ahead.resize(nodes_.size());
            std::iota(ahead.rbegin(), ahead.rend(), 0u);
        } else {
            ahead.push_back(root_);
        }
        std::uint64_t looked_at = 0;
        for (; !ahead.empty(); ++looked_at) {
            const std::uint32_t id = ahead.back();
            ahead.pop_back();
            const Node& node = nodes_[id];
            const std::uint32_t block = node.blocks.find(feature);
            if (block == NO_ID) continue;
            if (!node.is_preleaf && !has_gaps_) {
                for (const std::uint32_t child : node.children) __builtin_prefetch(&nodes_[child]);
                for (const std::uint32_t child : node.children)
                    nodes_[child].blocks.prefetch_slot(feature);
                ahead.insert(ahead.end(), node.children.begin(), node.children.end());
            }
            meet(id, block);
        }
        return looked_at;
    }

    std::uint32_t add_block(Node& node, std::uint32_t feature, std::uint32_t weights) {
        if (feature != BIAS && feature >= weights_of_.size()) {
            const std::size_t added = feature + std::size_t{1} - weights_of_.size();
            const std::size_t at = weights_of_.extend(added);
            std::fill_n(weights_of_.data() + at, added, 0u);
        }
        count_weights(feature, weights);
        return node.blocks.add(feature, weights);
    }

    // Take a block away; the last of the node gets its number.
    void remove_block(Node& node, std::uint32_t block) {
        count_weights(node.blocks.feature(block),
                      -static_cast<std::int64_t>(node.blocks.weights_in(block)));
        node.blocks.remove(block);
    }

    // Count more weights of a feature, or fewer.
    void count_weights(std::uint32_t feature, std::int64_t more) {
        if (feature == BIAS) return;
        std::uint32_t& weights = weights_of_[feature];
        if (weights > 0) --outdegrees_[std::min<std::size_t>(weights, OUTDEGREES - 1)];
        weights = static_cast<std::uint32_t>(weights + more);
        if (weights > 0) ++outdegrees_[std::min<std::size_t>(weights, OUTDEGREES - 1)];
    }

    static float weight(const Node& node, std::uint32_t feature, std::size_t place) {
        const std::uint32_t block = node.blocks.find(feature);
        if (block == NO_ID) return 0;
        const float* weights = node.blocks.weights(block);
        const auto at = static_cast<std::uint32_t>(place) + node.grows;
        return at < node.blocks.weights_in(block)
                   ? weights[at]
                   : sign(static_cast<std::uint32_t>(place)) * weights[0];
    }

    template <class F>
    void climb(std::uint32_t cls, F&& meet) const {
        std::uint32_t node = places_[cls].node, place = places_[cls].place;
        while (true) {
            meet(node, place);
            if (node == root_) return;
            place = place_of(node);
            node = nodes_[node].parent;
        }
    }

    std::uint32_t place_of(std::uint32_t node) const {
        return place_of_child(nodes_[node].parent, node);
    }
    std::uint32_t place_of_child(std::uint32_t parent, std::uint32_t node) const {
        const std::vector<std::uint32_t>& children = nodes_[parent].children;
        return static_cast<std::uint32_t>(std::find(children.begin(), children.end(), node) -
                                          children.begin());
    }

    // --- classifiers ---------------------------------------------------------------------------

    // The blocks of the inputs, NO_ID where there is none, on their way from memory.
    static void find_blocks(const NodeClassifiers& blocks, const std::vector<Input>& input, Work& work) {
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
            for (std::uint32_t place = there; place < children; ++place)
                scores[place] += input[i].value * (sign(place) * weights[0]);
        }
        for (std::uint32_t place = 0; place < children; ++place)
            work.probabilities[place] = logistic(static_cast<double>(scores[place]));
    }

    static void add(float* __restrict scores, const float* __restrict weights, std::uint32_t count,
                    float value) {
        for (std::uint32_t at = 0; at < count; ++at) scores[at] += value * weights[at];
    }

    // One AdaGrad step of every classifier of a node: the children among the positives from `begin`
    // to `end`, and the auxiliary one, are true, the others are not.
    void step(Node& node, const std::vector<Input>& input, std::size_t begin, std::size_t end,
              Work& work) {
        const std::uint32_t width = LabelTree::width(node);
        if (width == 0) return;
        forget(node);
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
        for (std::size_t i = 0; i < input.size(); ++i)
            move(node.blocks.weights(work.blocks[i]), node.blocks.squares(work.blocks[i]),
                 work.scores.data(), width, input[i].value);
        count(node);
    }

    // Of each classifier, in place of its score, the slope of its loss: negative where it is to rise.
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

    // Whether numbers below the normal ones exist is up to the processor's mode (postings.hpp).
    static float not_too_small(float number, float least) {
        return std::fabs(number) < least ? 0.0f : number;
    }

    void move(float* __restrict weights, float* __restrict squares, const float* __restrict slopes,
              std::uint32_t count, float value) const {
        const float rate = rate_, epsilon = epsilon_;
        for (std::uint32_t at = 0; at < count; ++at) {
            const float gradient = not_too_small(slopes[at] * value, SMALLEST_GRADIENT);
            squares[at] = std::min(squares[at] + gradient * gradient, MOST_SQUARES);
            weights[at] -= rate * gradient / std::sqrt(squares[at] + epsilon);
        }
    }

    // Give every classifier of the node its place in a block.
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

    // Give every classifier its place in every block; the caller then takes one of them away.
    void fill_before_drop(Node& node) {
        for (std::uint32_t block = 0; block < node.blocks.count(); ++block) {
            fill(node, block);
            count_weights(node.blocks.feature(block), -1);
        }
    }

    // Drop what is light in a block of an input, unless a node below holds a block of the feature.
    void drop_light(Node& node, const std::vector<Input>& input, Work& work) {
        forget(node);
        find_blocks(node.blocks, input, work);
        std::sort(work.blocks.begin(), work.blocks.end(), std::greater<std::uint32_t>());
        for (const std::uint32_t block : work.blocks) {
            if (block == NO_ID) continue;
            const std::uint32_t feature = node.blocks.feature(block);
            const float* weights = node.blocks.weights(block);
            const bool is_light = std::all_of(weights, weights + node.blocks.weights_in(block),
                                              [this](float weight) { return std::fabs(weight) < least_weight_; });
            if (is_light && feature != BIAS && !is_held_below(node, feature))
                remove_block(node, block);
        }
        count(node);
    }

    bool is_held_below(const Node& node, std::uint32_t feature) const {
        return !node.is_preleaf &&
               std::any_of(node.children.begin(), node.children.end(), [&](std::uint32_t child) {
                   return nodes_[child].blocks.find(feature) != NO_ID;
               });
    }

    // --- growing -------------------------------------------------------------------------------

    std::uint32_t make_node(std::uint32_t parent, bool is_preleaf) {
        std::uint32_t id;
        if (free_.empty()) {
            id = static_cast<std::uint32_t>(nodes_.size());
            nodes_.emplace_back();
        } else {
            id = free_.back();
            free_.pop_back();
        }
        nodes_[id].parent = parent;
        nodes_[id].is_preleaf = is_preleaf;
        nodes_[id].grows = true;
        return id;
    }

    void add_leaf(std::uint32_t node, std::uint32_t cls) {
        if (cls >= places_.size()) places_.resize(cls + 1);
        places_[cls] = {node, static_cast<std::uint32_t>(nodes_[node].children.size()), births_++};
        add_child(node, cls);
        for (std::uint32_t at = node; at != NO_ID; at = nodes_[at].parent) ++nodes_[at].leaves;
    }

    void add_child(std::uint32_t id, std::uint32_t child) {
        Node& node = nodes_[id];
        forget(node);
        node.children.push_back(child);
        node.blocks.make_room(width(node));
        count(node);
    }

    // The id of the node made for a branch, and of all below it; NO_ID for a branch without classes.
    std::uint32_t plant(const Branch& branch, std::uint32_t parent) {
        if (branch.branches.empty() && branch.classes.empty()) return NO_ID;
        const std::uint32_t id = make_node(parent, branch.branches.empty());
        for (const std::uint32_t cls : branch.classes) add_leaf(id, cls);
        for (const Branch& below : branch.branches) {
            const std::uint32_t child = plant(below, id);
            add_child(id, child);
        }
        if (nodes_[id].children.size() >= arity_ && !nodes_[id].is_preleaf)
            stop_growing(nodes_[id]);
        return id;
    }

    // Where the policy leads: a node that may grow, or a pre-leaf of a tree that lost many classes.
    std::uint32_t node_to_grow(const std::vector<Input>& input) {
        const bool is_filling = has_lost_many();
        std::uint32_t at = root_;
        while (is_filling ? !nodes_[at].is_preleaf : !nodes_[at].grows) at = chosen_child(at, input);
        return at;
    }

    // True when more classes are gone than a sixteenth of the classes left. If new classes went on to
    // get pre-leaves of their own, the old ones would empty.
    bool has_lost_many() const {
        const std::uint64_t left = nodes_[root_].leaves;
        return births_ - left > left / 16;
    }

    // The child of a node that the policy leads to.
    std::uint32_t chosen_child(std::uint32_t id, const std::vector<Input>& input) {
        const Node& node = nodes_[id];
        if (!greedy_) return node.children[random_below(random_, node.children.size())];
        Work& work = workspace();
        probabilities(node, input, work);
        const double share =
            static_cast<double>(node.leaves) / static_cast<double>(node.children.size());
        std::uint32_t chosen = node.children[0];
        double best = -1e300;
        for (std::size_t place = 0; place < node.children.size(); ++place) {
            const std::uint32_t child = node.children[place];
            const double leaves = static_cast<double>(nodes_[child].leaves);
            const double score = (1 - alpha_) * work.probabilities[place] +
                                 alpha_ * natural_log(share / leaves);
            if (score > best) {
                best = score;
                chosen = child;
            }
        }
        return chosen;
    }

    // A pre-leaf with room for a class, at a node that may grow or beside it.
    std::uint32_t with_room(std::uint32_t id) {
        if (!nodes_[id].is_preleaf) return make_branch(id);
        if (const std::uint32_t preleaf = near_with_room(id); preleaf != NO_ID) return preleaf;
        const std::uint32_t parent = nodes_[id].parent;
        if (parent != NO_ID && nodes_[parent].grows) return make_branch(parent);
        return make_branch(make_parent(id));
    }

    // Whether one more class would make the tree deeper here.
    bool is_crowded(std::uint32_t id) const {
        if (!nodes_[id].is_preleaf || near_with_room(id) != NO_ID) return false;
        const std::uint32_t parent = nodes_[id].parent;
        return parent == NO_ID || !nodes_[parent].grows;
    }

    // This pre-leaf or the first of its siblings that has room, NO_ID if none has.
    std::uint32_t near_with_room(std::uint32_t id) const {
        if (has_room(id)) return id;
        if (nodes_[id].parent == NO_ID) return NO_ID;
        for (const std::uint32_t sibling : nodes_[nodes_[id].parent].children)
            if (nodes_[sibling].is_preleaf && has_room(sibling)) return sibling;
        return NO_ID;
    }

    bool has_room(std::uint32_t id) const { return nodes_[id].children.size() < max_leaves_; }

    // A new lone leaf-to-be below a node that may grow.
    std::uint32_t make_branch(std::uint32_t id) {
        const std::uint32_t branch = make_node(id, true);
        add_child(id, branch);
        Node& node = nodes_[id];
        if (node.children.size() >= arity_) stop_growing(node);
        return branch;
    }

    // A new node in the place of this one, above it, that starts from its auxiliary classifier.
    std::uint32_t make_parent(std::uint32_t id) {
        const std::uint32_t parent = nodes_[id].parent, made = make_node(parent, false);
        if (parent == NO_ID) root_ = made;
        else nodes_[parent].children[place_of_child(parent, id)] = made;
        nodes_[id].parent = made;
        Node& above = nodes_[made];
        above.leaves = nodes_[id].leaves;
        above.children.push_back(id);
        above.blocks.make_room(3);
        above.blocks.copy_first_weights(nodes_[id].blocks);
        for (std::uint32_t block = 0; block < above.blocks.count(); ++block)
            count_weights(above.blocks.feature(block), 1);
        count(above);
        return made;
    }

    // A node that is full needs no auxiliary classifier any more.
    void stop_growing(Node& node) {
        forget(node);
        fill_before_drop(node);
        node.grows = false;
        node.blocks.drop_first();
        count(node);
    }

    // An inner node that does not grow and has an only child, which is certain, says nothing.
    static bool is_needless(const Node& node) {
        return !node.is_preleaf && !node.grows && node.children.size() == 1;
    }

    void put_child_in_place_of(std::uint32_t id) {
        const std::uint32_t parent = nodes_[id].parent, child = nodes_[id].children[0];
        nodes_[child].parent = parent;
        if (parent == NO_ID) root_ = child;
        else nodes_[parent].children[place_of_child(parent, id)] = child;
        free_node(id);
    }

    void free_node(std::uint32_t id) {
        forget(nodes_[id]);
        const NodeClassifiers& blocks = nodes_[id].blocks;
        for (std::uint32_t block = 0; block < blocks.count(); ++block)
            count_weights(blocks.feature(block), -std::int64_t{blocks.weights_in(block)});
        nodes_[id] = Node{};
        free_.push_back(id);
    }

    void take_child(std::uint32_t id, std::uint32_t place) {
        Node& node = nodes_[id];
        forget(node);
        if (classifiers(node) > 0) {
            fill_before_drop(node);
            node.blocks.drop(place + node.grows);
        }
        node.children.erase(node.children.begin() + place);
        if (node.is_preleaf)
            for (std::uint32_t at = place; at < node.children.size(); ++at)
                --places_[node.children[at]].place;
        if (!node.children.empty())  // else it goes
            node.blocks.give_back(static_cast<std::uint32_t>(node.children.size()) + node.grows);
        count(node);
    }

    // --- loading -------------------------------------------------------------------------------

    template <class F>
    void load_blocks(Node& node, const State& state, std::uint32_t blocks, std::uint64_t& place,
                     std::uint64_t& weight, F&& is_feature) {
        if (state.blocks - place < blocks) refuse("node_blocks", "blocks are cut short");
        const auto most = static_cast<std::uint32_t>(node.children.size()) + node.grows;
        node.blocks.make_room(most);
        for (const std::uint64_t end = place + blocks; place < end; ++place) {
            const std::uint32_t feature = state.block_features[place];
            const std::uint32_t count = state.block_weights[place];
            if ((feature != BIAS && !is_feature(feature)) || node.blocks.find(feature) != NO_ID)
                refuse("block_features", "a block has no feature of its own");
            if (count == 0 || count > most || (!node.grows && count != most) ||
                state.weights - weight < count)
                refuse("block_weights", "a block has more or fewer weights than its node");
            const std::uint32_t block = add_block(node, feature, count);
            for (std::uint32_t at = 0; at < count; ++at, ++weight) {
                const float value = state.tree_weights[weight], square = state.tree_squares[weight];
                if (!(std::fabs(value) <= MOST_WEIGHT) || !(square >= 0) || square > MOST_SQUARES)
                    refuse("tree_weights", "a weight of the tree is not one");
                node.blocks.weights(block)[at] = value;
                node.blocks.squares(block)[at] = square;
            }
        }
    }

    void load_free(const State& state) {
        std::vector<bool> is_free(nodes_.size(), false);
        for (std::uint64_t i = 0; i < state.free_nodes; ++i) {
            const std::uint32_t id = state.node_free[i];
            if (id >= nodes_.size() || is_free[id] || !nodes_[id].children.empty())
                refuse("node_free", "a node is not free");
            is_free[id] = true;
            free_.push_back(id);
        }
        for (std::size_t id = 0; id < nodes_.size(); ++id) {
            const Node& node = nodes_[id];
            if (node.children.empty() && (!is_free[id] || node.blocks.count() != 0 || node.grows))
                refuse("node_children", "a node has no children");
        }
    }

    // Tell nodes of their parents and classes of their nodes, from the root down: every one must be
    // met once.
    template <class C>
    void join(const State& state, C&& is_class) {
        std::vector<std::uint32_t> order, met(nodes_.size(), 0);
        if (root_ != NO_ID) order.push_back(root_);
        std::vector<std::uint64_t> births;
        for (std::size_t at = 0; at < order.size(); ++at) {
            const std::uint32_t id = order[at];
            if (met[id]++ || nodes_[id].children.empty())
                refuse("children_ids", "a node is not where it should be");
            for (std::uint32_t place = 0; place < nodes_[id].children.size(); ++place) {
                const std::uint32_t child = nodes_[id].children[place];
                if (nodes_[id].is_preleaf) {
                    if (child >= places_.size() || !is_class(child) || has(child))
                        refuse("children_ids", "a class is not where it should be");
                    places_[child] = {id, place, state.class_turns[child]};
                    births.push_back(state.class_turns[child]);
                } else {
                    if (child >= nodes_.size())
                        refuse("children_ids", "the tree has no such node");
                    nodes_[child].parent = id;
                    order.push_back(child);
                }
            }
        }
        if (order.size() + free_.size() != nodes_.size())
            refuse("children_ids", "a node is out of reach");
        for (std::size_t at = order.size(); at-- > 0;) {
            Node& node = nodes_[order[at]];
            if (node.is_preleaf) node.leaves = static_cast<std::uint32_t>(node.children.size());
            if (node.parent != NO_ID) nodes_[node.parent].leaves += node.leaves;
        }
        for (std::uint32_t cls = 0; cls < state.turns; ++cls)
            if (!has(cls) && state.class_turns[cls] != 0)
                refuse("class_turns", "a class has a turn and no place");
        std::sort(births.begin(), births.end());
        if (std::adjacent_find(births.begin(), births.end()) != births.end() ||
            (!births.empty() && births.back() >= births_))
            refuse("class_turns", "two classes came to the tree at once");
    }

    // True when the node holds a block of a feature of which the node above it holds none. Trees of older
    // rules can, which dropped light blocks of any node.
    bool is_held_below_only(const Node& node) const {
        if (node.parent == NO_ID) return false;
        const NodeClassifiers& above = nodes_[node.parent].blocks;
        for (std::uint32_t block = 0; block < node.blocks.count(); ++block)
            if (above.find(node.blocks.feature(block)) == NO_ID) return true;
        return false;
    }

    // --- accounts ------------------------------------------------------------------------------

    // Take what a node has out of the totals, before it changes.
    void forget(const Node& node) {
        blocks_ -= node.blocks.count();
        weights_ -= static_cast<std::uint64_t>(node.blocks.count()) * width(node);
    }
    // Put it into them again.
    void count(const Node& node) {
        blocks_ += node.blocks.count();
        weights_ += static_cast<std::uint64_t>(node.blocks.count()) * width(node);
    }

    std::vector<Node> nodes_;
    std::vector<Place> places_;  // by class id
    std::vector<std::uint32_t> free_;
    std::uint32_t root_ = NO_ID;
    std::uint64_t births_ = 0;
    std::uint64_t blocks_ = 0, weights_ = 0;
    Arena<std::uint32_t> weights_of_;  // by feature id, how many with a place in a block
    std::array<std::uint64_t, OUTDEGREES> outdegrees_{};
    bool has_gaps_ = false;  // a node may hold a block of a feature that the one above it does not
    std::uint64_t nodes_visited_ = 0;
    std::uint64_t random_;
    float rate_ = 1, epsilon_ = 0, least_weight_ = 0;
    double alpha_ = 0;
    bool greedy_ = true;
    std::uint32_t arity_ = 2, max_leaves_ = 100;
};

}  // namespace manyclass
