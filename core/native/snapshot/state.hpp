// The whole state of a learner as flat runs, which a snapshot is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace manyclass {

// By feature id, by class id, and by past instance. Where an id is free its name size is 0 and the
// rest of it is 0.
struct State {
    std::uint64_t features, feature_name_bytes, free_features, edges;
    std::uint64_t classes, class_name_bytes, free_classes, retired_classes;
    std::uint64_t variances;  // as many as edges, or none
    std::uint64_t nodes, free_nodes, children, blocks, weights;  // of a label tree
    std::uint64_t turns;  // as many as classes, or none if there is no tree
    std::uint64_t kept, kept_values, kept_classes, kept_demands;
    std::uint64_t* counts;  // see COUNTS
    std::uint16_t* feature_name_sizes;
    char* feature_names;
    std::uint32_t* feature_free;
    double* feature_mass;
    std::uint32_t* feature_times_seen;
    std::uint32_t* feature_last_seen;
    std::uint16_t* outdegrees;
    std::uint32_t* edge_classes;
    float* edge_masses;
    float* edge_variances;
    std::uint16_t* class_name_sizes;
    char* class_names;
    std::uint32_t* class_free;
    std::uint32_t* class_retired;
    std::uint64_t* class_learned;
    std::uint64_t* class_born;
    std::uint32_t* class_last_learned;
    std::uint32_t* kept_features;  // of each past instance, how many
    std::uint32_t* kept_true;
    std::uint32_t* kept_demanded;
    std::uint32_t* kept_feature_ids;
    float* kept_feature_values;
    std::uint32_t* kept_class_ids;
    std::uint32_t* kept_demands_ahead;
    std::uint32_t* kept_demands_behind;
    float* kept_demands_multiplier;
    std::uint8_t* node_kinds;  // 1: a pre-leaf; 2: it may grow
    std::uint32_t* node_children;  // of each node, how many
    std::uint32_t* node_blocks;
    std::uint32_t* node_free;
    std::uint32_t* children_ids;  // nodes; of a pre-leaf, classes
    std::uint32_t* block_features;
    std::uint32_t* block_weights;  // of each block, how many
    float* tree_weights;
    float* tree_squares;
    std::uint64_t* class_turns;  // in which they came to the tree
};
// Learned, counted, births, evicted features, evicted classes; of the past instances, how many came
// and the state of the generator that draws them; of the tree its root (0: none, else its id and
// one), the leaves it ever had, and the state of its generator; whether its sample is over. The
// hands that evict features and classes; of the sweep that frees retired classes, the next row and
// how many classes it will free.
constexpr std::size_t COUNTS = 15;
// In the place of a feature or class that an instance was kept with and that is gone since.
constexpr std::uint32_t GONE_ID = 0xfffffffeu;

// No count of a real state is larger: a million events a second would take 146,000 years.
constexpr std::uint64_t LARGEST_COUNT = std::uint64_t{1} << 62;

// Throw std::invalid_argument "section: fault".
[[noreturn]] inline void refuse(const std::string& section, const char* fault) {
    throw std::invalid_argument(section + ": " + fault);
}

// Refuse a section unless the condition holds.
inline void need(bool holds, const char* section, const char* fault) {
    if (!holds) refuse(section, fault);
}

}  // namespace manyclass
