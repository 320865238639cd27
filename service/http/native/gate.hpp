// Decides by the head of a plain request whether it has the right, as auth.py and csrf.py do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service/http/native/request_head.hpp"

namespace manyclass::http {

class Gate {
public:
    Gate() = default;

    // Any of the keys has it; none: no key is needed. `names` are the hosts that the service answers
    // to; none: every host.
    Gate(std::vector<std::string> keys, std::vector<std::string> names)
        : keys_(std::move(keys)), names_(std::move(names)) {}

    bool admits(const PlainRequest& request) const {
        return knows(request.host) && (keys_.empty() || has_key(request.authorization));
    }

private:
    bool knows(std::string_view host) const {
        if (names_.empty()) return true;
        const std::string_view name = name_in(host);
        return std::any_of(names_.begin(), names_.end(),
                           [name](const std::string& own) { return is_same(name, own); });
    }

    // A host without its port.
    static std::string_view name_in(std::string_view host) {
        if (host.front() != '[') return host.substr(0, host.find(':'));
        const std::size_t end = host.find(']');
        return end == std::string_view::npos ? std::string_view{} : host.substr(0, end + 1);
    }

    bool has_key(std::string_view authorization) const {
        constexpr std::string_view BEARER = "bearer ";
        if (!begins(authorization, BEARER)) return false;
        authorization.remove_prefix(BEARER.size());
        while (!authorization.empty() && authorization.front() == ' ')
            authorization.remove_prefix(1);
        bool found = false;  // compare all: the time must not show which one matched
        for (const std::string& key : keys_) found |= is_equal(key, authorization);
        return found;
    }

    // The time depends on the lengths alone.
    static bool is_equal(std::string_view key, std::string_view given) {
        if (key.size() != given.size()) return false;
        volatile unsigned char difference = 0;
        for (std::size_t at = 0; at < key.size(); ++at)
            difference = static_cast<unsigned char>(
                difference | (static_cast<unsigned char>(key[at]) ^ static_cast<unsigned char>(given[at])));
        return difference == 0;
    }

    std::vector<std::string> keys_, names_;  // names are in lower case
};

}  // namespace manyclass::http
