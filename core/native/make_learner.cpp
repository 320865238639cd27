// The only file that knows every kind of model. The code of each is compiled here.
#include "make_model.hpp"

#include <utility>

#include "engine.hpp"
#include "ensemble/committee.hpp"

namespace manyclass {

std::shared_ptr<Model> make_model(const OptionValues& options, std::uint64_t hash_seed,
                                  std::shared_ptr<Taxonomy> taxonomy) {
    if (!options.parts().empty())
        return std::make_shared<Committee>(options, hash_seed, taxonomy);
    std::string learner;
    options("learner", learner);
    return std::make_shared<Engine>(learner, options, hash_seed, std::move(taxonomy));
}

std::vector<std::string> model_option_names(std::string_view learner) {
    if (learner == "committee") return Committee::option_names();
    OptionNames of_member;
    of_member.names = Engine::option_names(learner);
    if (!of_member.names.empty()) Member().visit_options(of_member);
    return of_member.names;
}

}  // namespace manyclass
