// The only file that knows both kinds of learners; their code is compiled here.
#include "make_learner.hpp"

#include <utility>

#include "beside/mixed_learner.hpp"
#include "engine.hpp"
#include "ensemble/committee.hpp"

namespace manyclass {

std::shared_ptr<Learner> make_learner(const OptionValues& options, std::uint64_t hash_seed,
                                  std::shared_ptr<Taxonomy> taxonomy) {
    if (!options.parts().empty())
        return std::make_shared<Committee>(options, hash_seed, taxonomy);
    std::string learner;
    options("learner", learner);
    return std::make_shared<Engine>(learner, options, hash_seed, std::move(taxonomy));
}

std::shared_ptr<MixedLearner> mix_learner(std::shared_ptr<Learner> learner,
                                          std::shared_ptr<Evidence> evidence,
                                          bool needs_features) {
    return std::make_shared<MixedLearner>(std::move(learner), std::move(evidence), needs_features);
}

std::vector<std::string> learner_option_names(std::string_view learner) {
    if (learner == "committee") return Committee::option_names();
    OptionNames of_member;
    of_member.names = Engine::option_names(learner);
    if (!of_member.names.empty()) Member().visit_options(of_member);
    return of_member.names;
}

}  // namespace manyclass
