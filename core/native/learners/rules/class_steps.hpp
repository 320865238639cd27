// The steps of an update: the gain of each class, and in a hierarchy of each ancestor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "learners/class_paths.hpp"
#include "pipeline/ranking.hpp"

namespace manyclass {

// An update that moves the weight of a class, or a family, for every active feature by gain *
// value.
struct Step {
    std::uint32_t cls;
    double gain;
};

// Steps in the order in which their classes were first moved.
class StepList {
public:
    static constexpr std::size_t NONE = static_cast<std::size_t>(-1);

    // Add to the step of a class; `position` is the index of the step, NONE without one.
    void add(std::size_t& position, std::uint32_t cls, double gain) {
        if (position == NONE) {
            position = steps_.size();
            steps_.push_back({cls, 0});
        }
        steps_[position].gain += gain;
    }

    double gain(std::size_t position) const {
        return position == NONE ? 0.0 : steps_[position].gain;
    }

    const std::vector<Step>& steps() const { return steps_; }

private:
    std::vector<Step> steps_;
};

// Independent steps of some classes. A class is given by its position in `classes`; NOWHERE stands
// for a score of 0 instead of a class.
class FlatSteps {
public:
    static constexpr bool ON_PATHS = false;
    static constexpr std::size_t NOWHERE = StepList::NONE;

    FlatSteps(const std::vector<Ranked>& classes, const ClassPaths*, double)
        : classes_(classes), step_of_(classes.size(), StepList::NONE) {}

    const std::vector<Step>& steps() const { return list_.steps(); }

    // Return the gain of the steps so far for the score of a class, for an example of length 1.
    double gain(std::size_t at) const { return list_.gain(step_of_[at]); }

    // Return the distance by which a step of 1 moves the two apart.
    double lead_moved(std::size_t ahead, std::size_t behind) const {
        return ahead != NOWHERE && behind != NOWHERE ? 2 : 1;
    }

    // Move class `ahead` forward and class `behind` back.
    void move(std::size_t ahead, std::size_t behind, double step) {
        if (ahead != NOWHERE) list_.add(step_of_[ahead], classes_[ahead].cls, step);
        if (behind != NOWHERE) list_.add(step_of_[behind], classes_[behind].cls, -step);
    }

private:
    const std::vector<Ranked>& classes_;
    std::vector<std::size_t> step_of_;  // by position of the class
    StepList list_;
};

// Steps along the paths to the classes. A step between two classes moves only the parts of their
// paths that differ: common ancestors do not distinguish them (Dekel, Keshet and Singer, ICML
// 2004). A class that moves back alone says nothing about its ancestors: they stay.
class PathSteps {
public:
    static constexpr bool ON_PATHS = true;
    static constexpr std::size_t NOWHERE = StepList::NONE;

    // `family_rate`: how far a step moves a family beside a class.
    PathSteps(const std::vector<Ranked>& classes, const ClassPaths* paths, double family_rate)
        : family_rate_(family_rate) {
        for (const Ranked& each : classes) {
            begins_.push_back(path_.size());
            for (std::uint32_t id = each.cls; id != NO_ID; id = paths->above(id))
                path_.push_back({id, 0});
        }
        begins_.push_back(path_.size());
        for (const OnPath& each : path_) nodes_.push_back(each.id);
        std::sort(nodes_.begin(), nodes_.end());
        nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
        for (OnPath& each : path_)
            each.node = static_cast<std::size_t>(
                std::lower_bound(nodes_.begin(), nodes_.end(), each.id) - nodes_.begin());
        step_of_.assign(nodes_.size(), StepList::NONE);
    }

    const std::vector<Step>& steps() const { return list_.steps(); }

    double gain(std::size_t at) const {
        double sum = 0;
        for (std::size_t i = begins_[at]; i < begins_[at + 1]; ++i)
            sum += list_.gain(step_of_[path_[i].node]);
        return sum;
    }

    double lead_moved(std::size_t ahead, std::size_t behind) const {
        const std::size_t above = shared(ahead, behind);
        return moved_below(ahead, above) + moved_below(behind, above);
    }

    void move(std::size_t ahead, std::size_t behind, double step) {
        const std::size_t above = shared(ahead, behind);
        move_below(ahead, above, step);
        move_below(behind, above, -step);
    }

private:
    struct OnPath {
        std::uint32_t id;
        std::size_t node;
    };

    std::size_t length(std::size_t at) const {
        return at == NOWHERE ? 0 : begins_[at + 1] - begins_[at];
    }

    // Return the number of common ancestors at the top of the two paths.
    std::size_t shared(std::size_t one, std::size_t other) const {
        if (one == NOWHERE) return length(other) - 1;
        const std::size_t most = std::min(length(one), length(other));
        std::size_t shared = 0;
        while (shared < most && path_[begins_[one + 1] - 1 - shared].node ==
                                    path_[begins_[other + 1] - 1 - shared].node)
            ++shared;
        return shared;
    }

    double moved_below(std::size_t at, std::size_t above) const {
        if (length(at) <= above) return 0;
        return 1 + family_rate_ * static_cast<double>(length(at) - above - 1);
    }

    void move_below(std::size_t at, std::size_t above, double gain) {
        for (std::size_t i = 0; i + above < length(at); ++i) {
            const std::size_t node = path_[begins_[at] + i].node;
            list_.add(step_of_[node], nodes_[node], i == 0 ? gain : gain * family_rate_);
        }
    }

    const double family_rate_;
    std::vector<OnPath> path_;          // of each class, from itself up
    std::vector<std::size_t> begins_;   // of the paths, and their end
    std::vector<std::uint32_t> nodes_;  // the ids on the paths
    std::vector<std::size_t> step_of_;  // their steps
    StepList list_;
};

}  // namespace manyclass
