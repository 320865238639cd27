// The paths of a hierarchical learner: which class stands right below which, by class id. A class
// with others below it has weights in two places: its own, and those of its family, which all below
// it share. A class scores its own weights and those of each family that it belongs to.
//
//        family(a)               own(a): path own(a), family(a)
//       /    |    \              own(b): path own(b), family(a)
//   own(a) own(b) family(c)      own(c): path own(c), family(c), family(a)
//                 /     \        own(d): path own(d), family(c), family(a)
//             own(c)   own(d)
//
//   links_   by class id: parent, children in the order in which the classes were first learned
//   order_   the families, from the top down
//   above_   by class id: the place there of the family right above the class
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

// Ownership: the tables are the engine's. No state: it follows from the tables and the taxonomy.
// Threads: as a learner. The taxonomy is read by changes alone.
class ClassPaths {
public:
    explicit ClassPaths(const Tables& tables) : tables_(tables) {}

    // True if every class stands right below the root.
    bool is_flat() const { return linked_ == 0; }

    // The family right above a class or a family, by ids; NO_ID below the root.
    std::uint32_t above(std::uint32_t id) const {
        const std::uint32_t cls = class_of(id);
        if (cls >= links_.size()) return NO_ID;
        const Link& link = links_[cls];
        if (!is_family(id) && link.first != NO_ID) return family(cls);
        return link.parent == NO_ID ? NO_ID : family(link.parent);
    }

    // True if the class ranks with its families without weights of its own.
    bool is_class(std::uint32_t cls) const { return cls < links_.size() && links_[cls].is_class; }

    bool has_children(std::uint32_t cls) const {
        return cls < links_.size() && links_[cls].first != NO_ID;
    }

    std::vector<std::uint32_t> children(std::uint32_t cls) const {
        std::vector<std::uint32_t> children;
        if (!has_children(cls)) return children;
        for (std::uint32_t at = links_[cls].first; at != NO_ID; at = links_[at].next)
            children.push_back(at);
        return children;
    }

    // --- changes -------------------------------------------------------------------------------

    // Take in where a class stands in the taxonomy, and whether it is a class there; if the event that
    // made it one has still to be learned, only `admit` makes it one here. The nodes above it have
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
        for (const std::uint32_t child : children(cls)) move(child, NO_ID);
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
        if (!is_flat())
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
        scores.each_family_at_least(least, [&](std::uint32_t id, double score) {
            if (has_children(class_of(id)))
                each_unscored_of(scores, class_of(id), [&](std::uint32_t cls) {
                    visit(cls, score);
                });
            return least;
        });
    }

    // --- sizes ---------------------------------------------------------------------------------

    static constexpr std::uint64_t BYTES_PER_CLASS = 52;

    std::size_t resident_bytes() const {
        return links_.capacity() * sizeof(Link) + order_.capacity() * sizeof(Family) +
               above_.capacity() * sizeof(std::uint32_t);
    }

private:
    static constexpr std::uint32_t MOST_UNSCORED = 16;

    using Family = ScoreTable::Family;

    struct Link {
        std::uint32_t parent = NO_ID, first = NO_ID, last = NO_ID, before = NO_ID, next = NO_ID;
        std::uint32_t place = NO_ID;  // of its family in `order_`
        bool is_class = false;  // it ranks without weights; not so a node that is only a parent
    };

    std::uint64_t created(std::uint32_t cls) const {
        return tables_.class_records[cls].creation_order;
    }

    void forget_coming(std::uint32_t cls) {
        coming_.erase(std::remove(coming_.begin(), coming_.end(), cls), coming_.end());
    }

    template <class F>
    void each_unscored_of(const ScoreTable& scores, std::uint32_t top, F&& visit) const {
        std::uint32_t left = MOST_UNSCORED, at = top;
        while (true) {
            if (links_[at].is_class && scores.score(at) == 0) {
                visit(at);
                if (--left == 0) return;
            }
            std::uint32_t next = links_[at].first;
            while (true) {
                while (next == NO_ID && at != top) {
                    next = links_[at].next;
                    at = links_[at].parent;
                }
                if (next == NO_ID) return;
                if (!has_children(next) || scores.score(family(next)) == 0) break;
                at = next;  // a family with a score of its own
                next = links_[at].next;
                at = links_[at].parent;
            }
            at = next;
        }
    }

    void move(std::uint32_t cls, std::uint32_t parent) {
        const std::uint32_t before = links_[cls].parent;
        if (parent == before) return;
        unlink(cls);
        link(cls, parent);
        for (const std::uint32_t each : {before, parent})
            if (each != NO_ID && has_children(each) != (links_[each].place != NO_ID))
                list(each);
        list_all_below(cls);
        if (order_.size() > 2 * (order_.size() - holes_) + 64) close_holes();
    }

    void link(std::uint32_t cls, std::uint32_t parent) {
        if (parent == NO_ID) return;
        ++linked_;
        Link& linked = links_[cls];
        Link& above = links_[parent];
        linked.parent = parent;
        linked.before = last_before(above, created(cls));
        std::uint32_t& ahead = linked.before == NO_ID ? above.first : links_[linked.before].next;
        linked.next = ahead;
        ahead = cls;
        (linked.next == NO_ID ? above.last : links_[linked.next].before) = cls;
    }

    // The last child that was created before, NO_ID if there is none. Looked for from both ends: those
    // that come are mostly younger than all there, or older.
    std::uint32_t last_before(const Link& parent, std::uint64_t creation) const {
        std::uint32_t early = parent.first, late = parent.last;
        while (late != NO_ID && created(late) > creation) {
            if (created(early) > creation) return links_[early].before;
            early = links_[early].next;
            late = links_[late].before;
        }
        return late;
    }

    void unlink(std::uint32_t cls) {
        Link& linked = links_[cls];
        if (linked.parent == NO_ID) return;
        --linked_;
        Link& above = links_[linked.parent];
        (linked.before == NO_ID ? above.first : links_[linked.before].next) = linked.next;
        (linked.next == NO_ID ? above.last : links_[linked.next].before) = linked.before;
        linked.parent = linked.before = linked.next = NO_ID;
    }

    // --- order ---------------------------------------------------------------------------------

    // Put a class and all below it at the end of the order.
    void list_all_below(std::uint32_t cls) {
        std::uint32_t at = cls;
        while (true) {
            list(at);
            if (links_[at].first != NO_ID) {
                at = links_[at].first;
                continue;
            }
            while (at != cls && links_[at].next == NO_ID) at = links_[at].parent;
            if (at == cls) return;
            at = links_[at].next;
        }
    }

    void list(std::uint32_t cls) {
        std::uint32_t& place = links_[cls].place;
        if (place != NO_ID) {
            order_[place].id = NO_ID;
            ++holes_;
        }
        place = NO_ID;
        if (links_[cls].first != NO_ID) append(cls);
        note_above(cls);
    }

    void append(std::uint32_t cls) {
        links_[cls].place = static_cast<std::uint32_t>(order_.size());
        order_.push_back({family(cls), place_of(above(family(cls)))});
    }

    void note_above(std::uint32_t cls) {
        above_.resize(links_.size(), NO_ID);
        above_[cls] = place_of(above(cls));
    }

    std::uint32_t place_of(std::uint32_t family) const {
        return family == NO_ID ? NO_ID : links_[class_of(family)].place;
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
