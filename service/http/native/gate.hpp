// Decides by the head of a request whether it has the right: which host it asks, and with which key.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service/http/native/request_head.hpp"

namespace manyclass::http {

// The keys of a service, each with its scope; a higher scope includes the lower ones. A key may have
// a name: that of its person.
class Keys {
public:
    static constexpr int NO_KEY = -1, UNKNOWN_KEY = 0;  // scopes are above

    // The right of a request by its key, and the name of the key, empty without one.
    struct Granted {
        int scope;
        std::string_view name;
    };

    void add(std::string key, int scope, std::string name) {
        keys_.push_back({std::move(key), scope, std::move(name)});
    }

    // Without any key every request passes.
    bool are_none() const { return keys_.empty(); }

    // The grant of the key in the header Authorization; NO_KEY for another form of it, or none.
    Granted granted_to(std::string_view authorization) const {
        constexpr std::string_view BEARER = "bearer ", SPACE = " \t\n\r\v\f";
        if (!begins(authorization, BEARER)) return {NO_KEY, {}};
        authorization.remove_prefix(BEARER.size());
        const std::size_t begin = std::min(authorization.find_first_not_of(SPACE),
                                           authorization.size());
        const std::size_t end = authorization.find_last_not_of(SPACE) + 1;
        const std::string_view given = authorization.substr(begin, end - std::min(begin, end));
        Granted found{UNKNOWN_KEY, {}};  // compare all: the time must not show which one matched
        for (const Key& each : keys_)
            if (is_equal(each.key, given) && each.scope > found.scope)
                found = {each.scope, each.name};
        return found;
    }

private:
    // The time depends on the lengths alone.
    static bool is_equal(std::string_view key, std::string_view given) {
        if (key.size() != given.size()) return false;
        volatile unsigned char difference = 0;
        for (std::size_t at = 0; at < key.size(); ++at)
            difference = static_cast<unsigned char>(
                difference | (static_cast<unsigned char>(key[at]) ^ static_cast<unsigned char>(given[at])));
        return difference == 0;
    }

    struct Key {
        std::string key;
        int scope;
        std::string name;
    };

    std::vector<Key> keys_;
};

// The names that a service answers to, in lower case; none: every name.
class Hosts {
public:
    void add(std::string name) { names_.push_back(std::move(name)); }

    // True of a header Host with one of the names, in any case and with any port.
    bool have(std::string_view host) const {
        if (names_.empty()) return true;
        const std::string_view name = name_in(host);
        return std::any_of(names_.begin(), names_.end(),
                           [name](const std::string& own) { return is_same(name, own); });
    }

    // A host without its port.
    static std::string_view name_in(std::string_view host) {
        if (host.empty() || host.front() != '[') return host.substr(0, host.find(':'));
        const std::size_t end = host.find(']');
        return end == std::string_view::npos ? std::string_view{} : host.substr(0, end + 1);
    }

private:
    std::vector<std::string> names_;
};

// Admits plain requests for which a key of this scope is needed; where the name of a key counts, by
// keys without one.
class Gate {
public:
    Gate() = default;  // Cython assigns to one
    Gate(const Keys& keys, int scope, bool name_counts, const Hosts& hosts)
        : keys_(keys), scope_(scope), name_counts_(name_counts), hosts_(hosts) {}

    bool admits(const PlainRequest& request) const {
        if (!hosts_.have(request.host)) return false;
        if (keys_.are_none()) return true;
        const Keys::Granted granted = keys_.granted_to(request.authorization);
        return granted.scope >= scope_ && (!name_counts_ || granted.name.empty());
    }

private:
    Keys keys_;
    int scope_ = 0;
    bool name_counts_ = false;
    Hosts hosts_;
};

}  // namespace manyclass::http
