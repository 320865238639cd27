// Makes models, of every kind.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model.hpp"

namespace manyclass {

class Taxonomy;

// Make a model; options with parts are those of a committee. Throws std::invalid_argument when
// there is no such learner, or an option is missing.
std::shared_ptr<Model> make_model(const OptionValues& options, std::uint64_t hash_seed,
                                  std::shared_ptr<Taxonomy> taxonomy);

// Return the names of all options that a model with this learner reads, alone or as a member of a
// committee; none for an unknown learner.
std::vector<std::string> model_option_names(std::string_view learner);

}  // namespace manyclass
