// The members of a body of POST /rank that hold for every instance: schemas/rank.py has them all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "core/native/published_learner.hpp"
#include "core/native/text/json_cursor.hpp"

namespace manyclass::http {

constexpr std::uint32_t DEFAULT_RANKED = 5, MOST_RANKED = 1000;

struct RankOptions {
    std::uint32_t k = DEFAULT_RANKED;
    double threshold = -std::numeric_limits<double>::infinity();  // a score has to be above it
    double least_confidence = -1;                                 // -1: any, also none
    double least_accuracy = -1;    // of the answers; -1: any
    double least_probability = -1;  // of each class; -1: any, also none
    double least_precision = -1;    // of the classes of the answers; -1: any
    bool probabilities = false;
    double limit = -1;  // for the least accuracy or precision; -1: none was asked for
    std::uint64_t min_seq = 0;  // the last event that the learner has to know
    bool keep = true;           // the instances wait for their labels

    // The options that the learner reads.
    RankingAsked asked() const { return {k, least_accuracy, least_precision, gives_probabilities()}; }

    bool gives_probabilities() const {
        return probabilities || least_probability >= 0 || least_precision >= 0;
    }

    // Use this limit for the least accuracy or precision, see asked_limit.
    void apply_limit(double found) { limit = found; }

    // True if a ranking of this confidence has abstained; a negative one stands for none. No class has
    // a larger probability than the first, whose probability is the confidence.
    bool abstains(double confidence) const {
        const double least = std::max({least_confidence, least_probability, limit});
        return least >= 0 && (confidence < 0 || confidence < least);
    }

    // The probability from which on a class is given.
    double least_of_class() const {
        return std::max(least_probability, least_precision >= 0 ? limit : -1);
    }

    bool shows_limit() const { return least_accuracy >= 0 || least_precision >= 0; }

    // The limit that is applied: the larger one; above 1: nothing reaches it.
    double shown_limit() const {
        return std::max(limit, least_accuracy >= 0 ? least_confidence : least_probability);
    }

    // Read the value of a member. False for a name that is unknown or was read before, a value of
    // another form or out of range, and one that asks for more than native code gives.
    bool read(JsonCursor& json, std::string_view name) {
        const Member member = member_of(name);
        const unsigned bit = 1u << static_cast<unsigned>(member);
        if (seen_ & bit) return false;
        seen_ |= bit;
        switch (member) {
            case Member::k: return read_k(json);
            case Member::threshold: return json.read_word("null") || json.read_number(threshold);
            case Member::min_confidence:
                return json.read_word("null") || read_share(json, least_confidence);
            case Member::min_accuracy:
                return json.read_word("null") ||
                       (read_share(json, least_accuracy) && least_precision < 0);
            case Member::min_probability:
                return json.read_word("null") || read_share(json, least_probability);
            case Member::min_precision:
                return json.read_word("null") ||
                       (read_share(json, least_precision) && least_accuracy < 0);
            case Member::probabilities:
                probabilities = json.read_word("true");
                return probabilities || json.read_word("false") || json.read_word("null");
            case Member::min_seq: return json.read_count(min_seq);
            case Member::keep:
                keep = !json.read_word("false");
                return !keep || json.read_word("true") || json.read_word("null");
            case Member::explain: return json.read_word("false");
            case Member::among:
            case Member::decode: return json.read_word("null");
            case Member::unknown: break;
        }
        return false;
    }

private:
    enum class Member {
        k,
        threshold,
        min_confidence,
        min_accuracy,
        min_probability,
        min_precision,
        probabilities,
        min_seq,
        keep,
        explain,
        among,
        decode,
        unknown
    };

    static Member member_of(std::string_view name) {
        if (name == "k") return Member::k;
        if (name == "threshold") return Member::threshold;
        if (name == "min_confidence") return Member::min_confidence;
        if (name == "min_accuracy") return Member::min_accuracy;
        if (name == "min_probability") return Member::min_probability;
        if (name == "min_precision") return Member::min_precision;
        if (name == "probabilities") return Member::probabilities;
        if (name == "min_seq") return Member::min_seq;
        if (name == "keep") return Member::keep;
        if (name == "explain") return Member::explain;
        if (name == "among") return Member::among;
        if (name == "decode") return Member::decode;
        return Member::unknown;
    }

    bool read_k(JsonCursor& json) {
        std::uint64_t value;
        if (!json.read_count(value) || value < 1 || value > MOST_RANKED) return false;
        k = static_cast<std::uint32_t>(value);
        return true;
    }
    static bool read_share(JsonCursor& json, double& share) {
        return json.read_number(share) && share >= 0 && share <= 1;
    }

    unsigned seen_ = 0;
};

}  // namespace manyclass::http
