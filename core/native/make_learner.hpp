// Makes learners: engines and committees.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "learner.hpp"

namespace manyclass {

class Taxonomy;

// Make a learner: a committee if the options have parts, else an engine. Throw
// std::invalid_argument if the name of the learner is unknown or an option is missing.
std::shared_ptr<Learner> make_learner(const OptionValues& options, std::uint64_t hash_seed,
                                  std::shared_ptr<Taxonomy> taxonomy);

// Return the names of all options that this learner reads, alone or as a member of a committee;
// empty for an unknown learner.
std::vector<std::string> learner_option_names(std::string_view learner);

}  // namespace manyclass
