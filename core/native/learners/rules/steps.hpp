// Steps: updates that move the weight of a class for every active feature by gain * value.
#pragma once

#include <cstdint>
#include <vector>

#include "learners/rules/signed_weights.hpp"
#include "pipeline/example.hpp"

namespace manyclass {

struct Step {
    std::uint32_t cls;
    double gain;
};

// Call the function with each active feature that is in the vocabulary.
template <class F>
void each_known(const std::vector<ActiveFeature>& active, F&& visit) {
    for (const ActiveFeature& each : active)
        if (each.feature != NO_ID) visit(each);
}

inline double squared_norm(const std::vector<ActiveFeature>& active) {
    double squares = 0;
    each_known(active, [&](const ActiveFeature& each) { squares += each.value * each.value; });
    return squares;
}

inline void take_steps(SignedWeights&& weights, const std::vector<ActiveFeature>& active,
                       const std::vector<Step>& steps) {
    each_known(active, [&](const ActiveFeature& each) {
        for (const Step& step : steps) weights.add(each.feature, step.cls, step.gain * each.value);
    });
}

}  // namespace manyclass
