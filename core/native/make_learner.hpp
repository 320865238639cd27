// Makes learners: engines and committees.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "learner.hpp"

namespace manyclass {

class Evidence;
class MixedLearner;
class Taxonomy;

// Make a learner: a committee if the options have parts, else an engine. Throw
// std::invalid_argument if the name of the learner is unknown or an option is missing.
std::shared_ptr<Learner> make_learner(const OptionValues& options, std::uint64_t hash_seed,
                                  std::shared_ptr<Taxonomy> taxonomy);

// Join a learner with the evidence of its model; see MixedLearner.
std::shared_ptr<MixedLearner> mix_learner(std::shared_ptr<Learner> learner,
                                          std::shared_ptr<Evidence> evidence, bool needs_features);

// Return the names of all options that this learner reads, alone or as a member of a committee;
// empty for an unknown learner.
std::vector<std::string> learner_option_names(std::string_view learner);

}  // namespace manyclass
