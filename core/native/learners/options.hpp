// Options by name, as in core/learners/options.py. Each part of the engine declares its options in
// one function, `visit_options`, which lists their names or reads their values.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace manyclass {

template <class E>
using Choice = std::pair<const char*, E>;  // a word and its meaning

// Collects the names of options.
class OptionNames {
public:
    std::vector<std::string> names;

    template <class T>
    void operator()(const char* name, T&) {
        names.emplace_back(name);
    }
    template <class E>
    void choice(const char* name, E&, std::initializer_list<Choice<E>>) {
        names.emplace_back(name);
    }
};

// Values of options by name. Throws std::invalid_argument for a missing or mistyped option.
class OptionValues {
public:
    void set_flag(const std::string& name, bool value) { values_[name] = value; }
    void set_count(const std::string& name, std::uint64_t value) { values_[name] = value; }
    void set_number(const std::string& name, double value) { values_[name] = value; }
    void set_word(const std::string& name, const std::string& value) { values_[name] = value; }

    // The options of the parts of a committee, each with its "learner".
    void add_part(const OptionValues& options) { parts_.push_back(options); }
    const std::vector<OptionValues>& parts() const { return parts_; }

    void operator()(const char* name, std::string& into) const { into = get<std::string>(name); }
    void operator()(const char* name, bool& into) const { into = get<bool>(name); }
    void operator()(const char* name, std::uint64_t& into) const {
        into = get<std::uint64_t>(name);
    }
    void operator()(const char* name, double& into) const {
        const auto found = values_.find(name);
        const bool is_whole =
            found != values_.end() && std::holds_alternative<std::uint64_t>(found->second);
        into = is_whole ? static_cast<double>(get<std::uint64_t>(name)) : get<double>(name);
    }
    void operator()(const char* name, std::uint32_t& into) const {
        into = static_cast<std::uint32_t>(get<std::uint64_t>(name));
    }

    template <class E>
    void choice(const char* name, E& into, std::initializer_list<Choice<E>> choices) const {
        const std::string& given = get<std::string>(name);
        for (const auto& [word, value] : choices)
            if (given == word) {
                into = value;
                return;
            }
        throw std::invalid_argument(name + (": unknown choice " + given));
    }

private:
    template <class T>
    const T& get(const char* name) const {
        const auto found = values_.find(name);
        if (found == values_.end()) throw std::invalid_argument(name + std::string(": not given"));
        if (const T* value = std::get_if<T>(&found->second)) return *value;
        throw std::invalid_argument(name + std::string(": given with another type"));
    }

    std::map<std::string, std::variant<bool, std::uint64_t, double, std::string>> values_;
    std::vector<OptionValues> parts_;
};

}  // namespace manyclass
