// The paths of a hierarchical learner: the parent of each class, by class id. A class with children
// has two sets of weights: its own, and those of its family, which all its descendants share. The
// score of a class is the sum of its own weights and those of each family that it belongs to.
//
//        family(a)               own(a): path own(a), family(a)
//       /    |    \              own(b): path own(b), family(a)
//   own(a) own(b) family(c)      own(c): path own(c), family(c), family(a)
//                 /     \        own(d): path own(d), family(c), family(a)
//             own(c)   own(d)
//
//   links_   by class id: the parent, and the children in order of creation
//   order_   the families, from the top down
//   above_   by class id: the position in order_ of the family directly above the class
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "storage/family.hpp"
#include "storage/score_table.hpp"
#include "storage/tables.hpp"

namespace manyclass {

// Ownership: the tables are the engine's. Not part of the state: it follows from the tables and the
// taxonomy. Threads: as for Algorithm. Only changes read the taxonomy.
class ClassPaths {
public:
    explicit ClassPaths(const Tables& tables) : tables_(tables) {}

    // True if every class is a child of the root.
    bool is_flat() const { return linked_ == 0; }

    // Return the family directly above a class or family, by ids; NO_ID below the root.
    std::uint32_t above(std::uint32_t id) const {
        const std::uint32_t cls = class_of(id);
        if (cls >= links_.size()) return NO_ID;
        const Link& link = links_[cls];
        if (!is_family(id) && !link.children.empty()) return family(cls);
        return link.parent == NO_ID ? NO_ID : family(link.parent);
    }

    // True if the class is ranked by its families even without weights of its own.
    bool is_class(std::uint32_t cls) const { return cls < links_.size() && links_[cls].is_class; }

    bool has_children(std::uint32_t cls) const {
        return cls < links_.size() && !links_[cls].children.empty();
    }

    std::vector<std::uint32_t> children(std::uint32_t cls) const {
        return cls < links_.size() ? links_[cls].children : std::vector<std::uint32_t>{};
    }

    // --- changes -------------------------------------------------------------------------------

    // Read the parent of a class from the taxonomy, and whether its node is a class. If the event
    // that made it a class will be learned next, only `admit` makes it one here. Its ancestors have
    // ids.
    void place(std::uint32_t cls, bool is_before_learning) {
        const std::uint32_t node = tables_.class_nodes[cls];
        if (node == NO_ID && cls >= links_.size()) return;
        const ClassTree& tree = tables_.class_nodes.tree();
        const std::uint32_t above = node == NO_ID ? NO_ID : tree.parent(node);
        const std::uint32_t parent = above == NO_ID ? NO_ID : tables_.class_nodes.class_of(above);
        const std::size_t ids = 1 + std::size_t{parent == NO_ID ? cls : std::max(cls, parent)};
        if (ids > links_.size()) links_.resize(ids);
        const bool is_class =
            node != NO_ID && (tables_.class_records[cls].learned > 0 || tree.is_class(node));
        if (is_before_learning && is_class && !links_[cls].is_class) {
            coming_.push_back(cls);
        } else {
            forget_coming(cls);  // the learner may have left out the event
            links_[cls].is_class = is_class;
        }
        move(cls, parent);
    }

    // An event that is being learned names the class.
    void note_class(std::uint32_t cls) {
        if (tables_.class_nodes[cls] != NO_ID && !links_[cls].is_class) coming_.push_back(cls);
    }

    // The event was learned: the classes that it made rank from now on.
    void admit() {
        for (const std::uint32_t cls : coming_) links_[cls].is_class = true;
        coming_.clear();
    }

    // Forget a class. Those below it stand below the root.
    void remove(std::uint32_t cls) {
        if (cls >= links_.size()) return;
        while (has_children(cls)) move(links_[cls].children.back(), NO_ID);
        move(cls, NO_ID);
        links_[cls] = Link{};
        forget_coming(cls);
    }

    // Take in all classes of the tables, which were loaded.
    void load() {
        std::vector<std::uint32_t> ids;
        for (std::uint32_t cls = 0; cls < tables_.classes.end(); ++cls)
            if (tables_.classes.alive(cls) && tables_.class_nodes[cls] != NO_ID) ids.push_back(cls);
        const ClassTree& tree = tables_.class_nodes.tree();
        std::sort(ids.begin(), ids.end(), [this](std::uint32_t one, std::uint32_t other) {
            return created(one) < created(other);
        });
        if (!ids.empty()) links_.resize(tables_.classes.end());
        for (const std::uint32_t cls : ids) {
            const std::uint32_t above = tree.parent(tables_.class_nodes[cls]);
            need(above == NO_ID || tables_.class_nodes.class_of(above) != NO_ID, "class_names",
                 "a node of the taxonomy above a class is missing");
            place(cls, false);
        }
    }

    // --- scores --------------------------------------------------------------------------------

    // Add to each score but 0 those of the families above.
    void add_above(ScoreTable& scores) const {
        scores.add_above(order_, above_, [this](std::uint32_t id) { return above(id); });
    }

    // The score of a class after `add_above`: that of the nearest family above it with a score, if
    // the class has none of its own.
    double score(const ScoreTable& scores, std::uint32_t cls) const {
        double score = 0;
        for (std::uint32_t id = cls; id != NO_ID && score == 0; id = above(id))
            score = scores.score(id);
        return score;
    }

    // Call the function with each class that ranks with a family because it has no score of its
    // own, and the score: of each family with a score above 0 and at least `bound`, the first
    // MOST_UNSCORED.
    template <class F>
    void each_unscored(const ScoreTable& scores, double bound, F&& visit) const {
        if (is_flat()) return;
        const double least = std::max(bound, std::numeric_limits<double>::min());
        scores.each_family_at_least(order_, least, [&](std::uint32_t id, double score) {
            std::uint32_t left = MOST_UNSCORED;
            if (has_children(class_of(id)))
                each_unscored_below(scores, class_of(id), left,
                                    [&](std::uint32_t cls) { visit(cls, score); });
        });
    }

    // --- sizes ---------------------------------------------------------------------------------

    static constexpr std::uint64_t BYTES_PER_CLASS = 52;

    std::size_t resident_bytes() const {
        return links_.capacity() * (sizeof(Link) + sizeof(std::uint32_t)) +
               order_.capacity() * sizeof(Family) +
               above_.capacity() * sizeof(std::uint32_t);
    }

private:
    static constexpr std::uint32_t MOST_UNSCORED = 16;

    using Family = ScoreTable::Family;

    struct Link {
        std::uint32_t parent = NO_ID;
        std::uint32_t position = NO_ID;  // of its family in `order_`
        bool is_class = false;        // it ranks without weights; not so a node that is only a parent
        std::vector<std::uint32_t> children;  // in the order of creation
    };

    std::uint64_t created(std::uint32_t cls) const {
        return tables_.class_records[cls].creation_order;
    }

    void forget_coming(std::uint32_t cls) {
        coming_.erase(std::remove(coming_.begin(), coming_.end(), cls), coming_.end());
    }

    // Visit a class without a score, and those below it, but for families with a score of their
    // own; false after MOST_UNSCORED.
    template <class F>
    bool each_unscored_below(const ScoreTable& scores, std::uint32_t cls, std::uint32_t& left,
                             F&& visit) const {
        const Link& link = links_[cls];
        if (link.is_class && scores.score(cls) == 0) {
            visit(cls);
            if (--left == 0) return false;
        }
        return std::all_of(link.children.begin(), link.children.end(), [&](std::uint32_t child) {
            if (has_children(child) && scores.score(family(child)) != 0) return true;
            return each_unscored_below(scores, child, left, visit);
        });
    }

    void move(std::uint32_t cls, std::uint32_t parent) {
        const std::uint32_t before = links_[cls].parent;
        if (parent == before) return;
        unlink(cls);
        link(cls, parent);
        for (const std::uint32_t each : {before, parent})
            if (each != NO_ID && has_children(each) != (links_[each].position != NO_ID)) list(each);
        list_all_below(cls);
        if (holes_ > order_.size() / 8 + 64) close_holes();
    }

    void link(std::uint32_t cls, std::uint32_t parent) {
        if (parent == NO_ID) return;
        ++linked_;
        links_[cls].parent = parent;
        std::vector<std::uint32_t>& children = links_[parent].children;
        children.insert(position_among(children, cls), cls);
    }

    void unlink(std::uint32_t cls) {
        std::uint32_t& parent = links_[cls].parent;
        if (parent == NO_ID) return;
        --linked_;
        std::vector<std::uint32_t>& children = links_[parent].children;
        children.erase(position_among(children, cls));
        parent = NO_ID;
    }

    // Return the position of a class, present or not, among children in the order of creation.
    std::vector<std::uint32_t>::iterator position_among(std::vector<std::uint32_t>& children,
                                                     std::uint32_t cls) const {
        if (children.empty() || created(children.back()) < created(cls)) return children.end();
        return std::lower_bound(children.begin(), children.end(), cls,
                                [this](std::uint32_t one, std::uint32_t other) {
                                    return created(one) < created(other);
                                });
    }

    // --- order ---------------------------------------------------------------------------------

    // Put the families of a class and of all below it at the end of the order.
    void list_all_below(std::uint32_t cls) {
        list(cls);
        for (const std::uint32_t child : links_[cls].children) list_all_below(child);
    }

    void list(std::uint32_t cls) {
        std::uint32_t& position = links_[cls].position;
        if (position != NO_ID) {
            order_[position].id = NO_ID;
            ++holes_;
        }
        position = NO_ID;
        if (has_children(cls)) append(cls);
        note_above(cls);
    }

    void append(std::uint32_t cls) {
        links_[cls].position = static_cast<std::uint32_t>(order_.size());
        order_.push_back({family(cls), position_of(above(family(cls)))});
    }

    void note_above(std::uint32_t cls) {
        above_.resize(links_.size(), NO_ID);
        above_[cls] = position_of(above(cls));
    }

    std::uint32_t position_of(std::uint32_t family) const {
        return family == NO_ID ? NO_ID : links_[class_of(family)].position;
    }

    void close_holes() {
        std::vector<Family> order;
        order.swap(order_);
        holes_ = 0;
        for (const Family& each : order)
            if (each.id != NO_ID) append(class_of(each.id));
        for (std::uint32_t cls = 0; cls < links_.size(); ++cls) note_above(cls);
    }

    const Tables& tables_;
    std::vector<Link> links_;  // up to the last class that was placed
    std::vector<Family> order_;
    std::vector<std::uint32_t> above_;  // as long as `links_`
    std::vector<std::uint32_t> coming_;  // classes that the event being learned made
    std::size_t holes_ = 0;     // in the order
    std::uint32_t linked_ = 0;  // classes with a parent
};

}  // namespace manyclass
