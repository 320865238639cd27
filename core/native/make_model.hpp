// Makes models: the only file that knows every kind.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "ensemble/committee.hpp"
#include "model.hpp"

namespace manyclass {

// Make a model; options with parts are those of a committee. Throws std::invalid_argument when
// there is no such learner, or an option is missing.
inline std::shared_ptr<Model> make_model(const OptionValues& options, std::uint64_t hash_seed,
                                         std::shared_ptr<Taxonomy> taxonomy) {
    if (!options.parts().empty())
        return std::make_shared<Committee>(options, hash_seed, taxonomy);
    std::string learner;
    options("learner", learner);
    return std::make_shared<Engine>(learner, options, hash_seed, std::move(taxonomy));
}

// Return the names of all options that a model with this learner reads, alone or as a member of a
// committee; none for an unknown learner.
inline std::vector<std::string> model_option_names(std::string_view learner) {
    if (learner == "committee") return Committee::option_names();
    OptionNames of_member;
    of_member.names = Engine::option_names(learner);
    if (!of_member.names.empty()) Member().visit_options(of_member);
    return of_member.names;
}

}  // namespace manyclass
