// An ensemble: engines that rank by vote.
//
//   instance -> each member: Algorithm::rank -> ClassLinks -> Nominations -> Votes -> ranking
//                                                                   -> ranks before learning
//
// Its table is an engine too, which has the classes of all instances; a class that it does not have
// is not nominated.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "ensemble/class_links.hpp"
#include "ensemble/rows_of_parts.hpp"
#include "ensemble/votes.hpp"

namespace manyclass {

// Ownership: the engines are the caller's and outlive the ensemble. Threads: any number may rank at
// once, also while the engines learn: such a ranking may have votes of members that have learned an
// instance and of others that have not. The lock of the table is taken before those of the members,
// one member's at a time.
class Ensemble {
public:
    static constexpr std::uint32_t NOMINATED = 50;  // classes by a member: beyond it the papers
                                                    // score a class 0 as well

    Ensemble(Engine* table, std::vector<Engine*> members)
        : table_(*table), members_(std::move(members)) {
        for (std::size_t i = 0; i < members_.size(); ++i)
            links_.push_back(std::make_unique<ClassLinks>());
    }

    // --- sources of instances ------------------------------------------------------------------

    struct Wire {
        std::string_view instance;

        std::size_t count() const { return 1; }
        Wire only(std::size_t) const { return *this; }
        const Example& read(const Engine::View& view, std::size_t) const {
            return view.read(instance);
        }
        template <class F>
        void rank(const Engine::View& view, std::size_t, std::uint32_t k, std::vector<Ranked>& best,
                  F&& visit) const {
            view.rank(view.read(instance), k, best);
            visit(best);
        }
    };

    struct Block {
        const RowsOfParts& rows;
        std::int64_t begin, end;

        std::size_t count() const { return static_cast<std::size_t>(end - begin); }
        Block only(std::size_t at) const {
            const std::int64_t row = begin + static_cast<std::int64_t>(at);
            return {rows, row, row + 1};
        }
        const Example& read(const Engine::View& view, std::size_t member) const {
            return view.read(rows.of_member(member), begin);
        }
        template <class F>
        void rank(const Engine::View& view, std::size_t member, std::uint32_t k,
                  std::vector<Ranked>&, F&& visit) const {
            view.rank_rows(rows.of_member(member), begin, end, k, visit);
        }
    };

    // --- ranking -------------------------------------------------------------------------------

    // The k best classes of an instance with a score above the threshold, best first, with their
    // names appended.
    void rank(std::string_view instance, Vote vote, std::uint32_t k, double threshold,
              std::vector<Ranked>& best, std::string& names) const {
        rank_one(Wire{instance}, vote, k, threshold, best, names);
    }

    // The same by votes on the classes of these names alone, each of which is nominated by every
    // member that ranks it.
    void rank_among(std::string_view instance, const std::vector<std::string_view>& among,
                    Vote vote, std::uint32_t k, double threshold, std::vector<Ranked>& best,
                    std::string& names) const {
        rank_one(WireAmong{instance, among}, vote, k, threshold, best, names);
    }

    // Rank a block of instances, see RankedBlock; a waiting change gets its turn between them.
    void rank_block(const std::vector<std::string_view>& instances, std::size_t begin, Vote vote,
                    std::uint32_t k, std::chrono::duration<double> time, RankedBlock& block) const {
        constexpr double ANY = -std::numeric_limits<double>::infinity();
        block.fill(instances, begin, time, [&](std::string_view instance,
                                               std::vector<Ranked>& best, std::string& names) {
            rank(instance, vote, k, ANY, best, names);
        });
    }

    // Rank all rows; class ids of the table and scores are written k to a row, padded with -1 and
    // 0.
    void rank_csr(const RowsOfParts& rows, Vote vote, std::uint32_t k, std::int32_t* ids,
                  double* scores) const {
        constexpr std::int64_t BLOCK = 64;  // a waiting change gets its turn between blocks
        for (std::int64_t begin = 0; begin < rows.count(); begin += BLOCK) {
            const Engine::View table(table_);
            const Block block{rows, begin, std::min(rows.count(), begin + BLOCK)};
            std::int64_t at = begin * k;
            each_vote(block, vote, std::max(k, 1u), table, [&](const Scratch& voted, std::size_t) {
                const auto& candidates = voted.votes.candidates();
                for (std::uint32_t i = 0; i < k; ++i, ++at) {
                    const bool there = i < candidates.size();
                    ids[at] = there ? static_cast<std::int32_t>(candidates[i].cls) : -1;
                    scores[at] = there ? candidates[i].score : 0.0;
                }
            });
        }
    }

    // For each member the span of the scores that it nominates classes with.
    void spans(std::string_view instance, std::vector<double>& spans) const {
        const Engine::View table(table_);
        Scratch& scratch = this->scratch();
        nominate(Wire{instance}, NOMINATED, table, scratch);
        for (std::size_t member = 0; member < members_.size(); ++member)
            spans.push_back(Scale(scratch.of_members[member].of_row(0)).span);
    }

    // Return the outcome of ranking one instance, whose true classes have these ids in the table.
    // `ranks` receives the rank of the best true class among each member's nominations, 0 for none.
    // Of a ranking by probabilities only the first `deepest` ranks are found, and of any ranking at
    // most as many classes are noted in `before`.
    template <class Source>
    Outcome outcome_of(const Source& source, const std::vector<std::uint32_t>& true_classes,
                       Vote vote, std::uint32_t deepest, const Engine::View& table,
                       std::int32_t* ranks, RankingBefore* before) const {
        const auto is_true = [&](const auto& each) {
            return std::find(true_classes.begin(), true_classes.end(), each.cls) !=
                   true_classes.end();
        };
        Outcome outcome{0, false, {}};
        each_vote(source, vote, deepest, table, [&](const Scratch& voted, std::size_t) {
            const std::uint32_t most =
                vote == Vote::probability ? deepest : std::numeric_limits<std::uint32_t>::max();
            for (std::size_t at = 0; at < members_.size(); ++at) {
                const Nominations nominated = voted.of_members[at].of_row(0);
                const Ranked* const found =
                    std::find_if(nominated.begin(), nominated.end(), is_true);
                const auto rank = static_cast<std::uint32_t>(found - nominated.begin()) + 1;
                const bool is_ranked = found != nominated.end() && rank <= most;
                ranks[at] = is_ranked ? static_cast<std::int32_t>(rank) : 0;
            }
            const std::vector<Candidate>& ranked = voted.votes.candidates();
            if (ranked.size() > 0) outcome.top_two.first = ranked[0].score;
            if (ranked.size() > 1) outcome.top_two.second = ranked[1].score;
            if (before != nullptr) {
                const std::size_t most = std::min(deepest, before->depth);
                before->best.clear();
                for (std::size_t at = 0; at < std::min(ranked.size(), most); ++at)
                    before->best.push_back({ranked[at].score, ranked[at].cls});
                before->note(table.tables().classes, [&](std::uint32_t cls) {
                    return is_true(Ranked{0, cls});
                });
            }
            const std::uint32_t rank = rank_of_best(ranked, is_true);
            outcome.rank = rank <= most ? rank : 0;
        });
        return outcome;
    }

private:
    struct WireAmong {
        std::string_view instance;
        const std::vector<std::string_view>& among;

        std::size_t count() const { return 1; }
        template <class F>
        void rank(const Engine::View& view, std::size_t, std::uint32_t, std::vector<Ranked>& best,
                  F&& visit) const {
            view.rank_among(view.read(instance), view.tables().known_classes(among), best);
            visit(best);
        }
    };

    // --- nominations ---------------------------------------------------------------------------

    // The nominations of a member for each instance of a source.
    struct OfMember {
        std::vector<Ranked> nominated;
        std::vector<std::size_t> ends;  // in `nominated`, by instance
        std::vector<double> last;       // the score of the last nominated class; -1: fewer

        void clear() {
            nominated.clear();
            ends.clear();
            last.clear();
        }
        Nominations of_row(std::size_t row) const {
            const std::size_t begin = row == 0 ? 0 : ends[row - 1];
            return {nominated.data() + begin, nominated.data() + ends[row]};
        }
    };

    // Scratch memory of a thread.
    struct Scratch {
        std::vector<OfMember> of_members;
        std::vector<Ranked> best;
        Votes votes;
    };
    // Not inlined, see LinearScratch.
    [[gnu::noinline]] static Scratch& scratch() {
        static thread_local Scratch scratch;
        return scratch;
    }

    // Let each member nominate its `depth` best classes, as far as the table has them.
    template <class Source>
    void nominate(const Source& source, std::uint32_t depth, const Engine::View& table,
                  Scratch& scratch) const {
        const Vocabulary& known = table.tables().classes;
        scratch.of_members.resize(members_.size());
        for (std::size_t at = 0; at < members_.size(); ++at) {
            const Engine::View member(*members_[at]);
            const Vocabulary& classes = member.tables().classes;
            ClassLinks& links = *links_[at];
            const auto in_use = links.meet(classes, known);
            OfMember& own = scratch.of_members[at];
            own.clear();
            source.rank(member, at, depth, scratch.best, [&](const std::vector<Ranked>& best) {
                std::size_t end = own.nominated.size();
                own.nominated.resize(end + best.size());
                for (const Ranked& each : best) {
                    const std::uint32_t id = links.id(each.cls, classes, known);
                    own.nominated[end] = {each.score, id};
                    end += id != NO_ID;
                }
                own.nominated.resize(end);
                own.ends.push_back(end);
                own.last.push_back(best.size() == depth ? best.back().score : -1);
            });
        }
    }

    // --- votes ---------------------------------------------------------------------------------

    // Count the votes on each instance of a source, and call `visit(scratch, index in the source)`
    // with the k best candidates sorted.
    template <class Source, class F>
    void each_vote(const Source& source, Vote vote, std::uint32_t k, const Engine::View& table,
                   F&& visit) const {
        Scratch& scratch = this->scratch();
        if constexpr (!std::is_same_v<Source, WireAmong>)
            if (vote == Vote::probability) {
                for (std::size_t row = 0; row < source.count(); ++row) {
                    average(source.only(row), k, table, scratch);
                    visit(scratch, 0);
                }
                return;
            }
        nominate(source, NOMINATED, table, scratch);
        for (std::size_t row = 0; row < source.count(); ++row) {
            Votes& votes = scratch.votes;
            votes.start(table.tables().classes.end());
            for (const OfMember& each : scratch.of_members)
                if (vote == Vote::probability) votes.add_scores(each.of_row(row));
                else votes.add_shares(each.of_row(row));
            votes.count(vote, table.tables().class_records);
            votes.sort_best(k);
            visit(scratch, row);
        }
    }

    // Find exactly the k classes with the highest means of probabilities, for one instance.
    //
    // A class that no member has nominated cannot have a higher mean than the last ranks of the
    // members have together. So the members rank twice as deep until k classes have as much (the
    // threshold algorithm of Fagin et al., Optimal Aggregation Algorithms for Middleware, 2003).
    template <class One>
    void average(const One& one, std::uint32_t k, const Engine::View& table,
                 Scratch& scratch) const {
        constexpr std::uint64_t MOST = std::numeric_limits<std::uint32_t>::max();
        for (std::uint64_t depth = std::min(2 * std::uint64_t{k}, MOST);;
             depth = std::min(2 * depth, MOST)) {
            nominate(one, static_cast<std::uint32_t>(depth), table, scratch);
            complete(one, table, scratch);
            bool is_deeper = false;  // a member may have more classes
            double most = 0;
            for (const OfMember& each : scratch.of_members) {
                if (each.last[0] < 0) continue;
                is_deeper = true;
                most += each.last[0];
            }
            most /= static_cast<double>(members_.size());
            const std::size_t kept = scratch.votes.sort_best(k);
            if (!is_deeper) return;
            if (kept == k && scratch.votes.candidates()[k - 1].score >= most) return;
        }
    }

    // Count the nominations, and each member's probabilities of the classes that others nominate.
    template <class One>
    void complete(const One& one, const Engine::View& table, Scratch& scratch) const {
        std::vector<std::uint32_t> named, missing;
        for (const OfMember& each : scratch.of_members)
            for (const Ranked& nominated : each.nominated) named.push_back(nominated.cls);
        sort_once_each(named);
        const Vocabulary& known = table.tables().classes;
        std::vector<Ranked> completed;
        scratch.votes.start(known.end());
        for (std::size_t at = 0; at < members_.size(); ++at) {
            completed = scratch.of_members[at].nominated;
            missing_of(named, completed, missing);
            if (!missing.empty()) {
                const auto nominated = static_cast<std::ptrdiff_t>(completed.size());
                add_probabilities(one, at, known, missing, completed);
                // By names, since equal scores have an order that does not depend on ids.
                std::sort(completed.begin() + nominated, completed.end(),
                          [&](const Ranked& left, const Ranked& right) {
                              if (left.score != right.score) return left.score > right.score;
                              return known.name(left.cls) < known.name(right.cls);
                          });
            }
            scratch.votes.add_scores({completed.data(), completed.data() + completed.size()});
        }
        scratch.votes.count(Vote::probability, table.tables().class_records);
    }

    static void sort_once_each(std::vector<std::uint32_t>& ids) {
        std::sort(ids.begin(), ids.end());
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    }

    // Set `missing` to the classes that are named but not nominated.
    static void missing_of(const std::vector<std::uint32_t>& named,
                           const std::vector<Ranked>& nominated,
                           std::vector<std::uint32_t>& missing) {
        std::vector<std::uint32_t> there;
        for (const Ranked& each : nominated) there.push_back(each.cls);
        std::sort(there.begin(), there.end());
        missing.clear();
        std::set_difference(named.begin(), named.end(), there.begin(), there.end(),
                            std::back_inserter(missing));
    }

    // Append classes with a member's probabilities, 0 for a class that it does not know.
    template <class One>
    void add_probabilities(const One& one, std::size_t at, const Vocabulary& known,
                           const std::vector<std::uint32_t>& classes,
                           std::vector<Ranked>& completed) const {
        const Engine::View member(*members_[at]);
        std::vector<std::uint32_t> own;
        for (const std::uint32_t cls : classes)
            own.push_back(member.tables().classes.find(known.name(cls)));
        const std::vector<double> found = member.probabilities(one.read(member, at), own);
        for (std::size_t i = 0; i < classes.size(); ++i)
            completed.push_back({found[i], classes[i]});
    }

    // --- one instance --------------------------------------------------------------------------

    template <class Source>
    void rank_one(const Source& source, Vote vote, std::uint32_t k, double threshold,
                  std::vector<Ranked>& best, std::string& names) const {
        const Engine::View table(table_);
        each_vote(source, vote, std::max(k, 1u), table, [&](const Scratch& voted, std::size_t) {
            for (const Candidate& each : voted.votes.candidates()) {
                if (best.size() == k) break;
                if (!(each.score > threshold)) break;  // nor have those behind it
                const std::string_view name = table.tables().classes.name(each.cls);
                best.push_back({each.score, each.cls});
                put(names, static_cast<std::uint32_t>(name.size()));
                names.append(name);
            }
        });
    }

    // The rank of the best true candidate, 0 for none.
    template <class F>
    static std::uint32_t rank_of_best(const std::vector<Candidate>& ranked, F&& is_true) {
        const Candidate* best = nullptr;
        for (const Candidate& each : ranked)
            if (is_true(each) && (best == nullptr || each.precedes(*best))) best = &each;
        if (best == nullptr) return 0;
        return 1 + static_cast<std::uint32_t>(
                       std::count_if(ranked.begin(), ranked.end(),
                                     [&](const Candidate& each) { return each.precedes(*best); }));
    }

    Engine& table_;
    const std::vector<Engine*> members_;
    std::vector<std::unique_ptr<ClassLinks>> links_;  // by member
};

}  // namespace manyclass
