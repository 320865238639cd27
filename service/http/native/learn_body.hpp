// Reads the plain body of POST /learn, of one event: schemas/learn.py has all keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/native/event_bytes.hpp"
#include "core/native/pipeline/wire.hpp"
#include "service/http/native/instance_reader.hpp"
#include "service/http/native/members.hpp"

namespace manyclass::http {

constexpr std::size_t MOST_PLAIN_CLASSES = 100;  // a tenth of the limit of the Python tier

// An instance, as its bytes, its true classes as they came, the id and the origin of the event, of
// which each part is empty without one, and its weight. Names are valid UTF-8.
struct PlainEvent {
    std::string instance;
    std::vector<std::string> classes;
    std::string id, source, reviewer, batch, text;  // the text as it is stored
    double weight = 1;
    bool keeps_text = true;  // or the text only tells the event from another of its id

    EventOrigin origin() const { return {source, reviewer, batch, text}; }

    // It can be refused, or keep another event out: no event of a batch can. A batch with a vector
    // whose dimension may be refused is submitted event by event later, see Admission.
    bool is_alone() const { return !id.empty() || weight != 1; }
};

class LearnBody {
public:
    // Read a whole body: `features`, at most so many, or `text`, by this analysis, or a `vector` or
    // both, `classes`, and perhaps `event_id`, `source`, `reviewer`, `batch` and `weight`, each key once. False for another key, a value of
    // another form or out of range, a feature below 0, which not every learner takes, and invalid
    // JSON; then use no event.
    static bool read(std::string_view data, const TextParts& parts, std::size_t most_features,
                     PlainEvent& event) {
        InstanceReader instance("event_id");
        instance.begin(parts, most_features);
        event.classes.clear();
        event.weight = 1;
        bool has_weight = false;
        std::string_view reviewer, batch;
        const auto read_value = [&](JsonCursor& json, std::string_view name) {
            if (instance.reads(name)) return instance.read(json, name);
            if (name == "classes" && event.classes.empty())
                return read_classes(json, event.classes);
            if (name == "reviewer" || name == "batch") {
                std::string_view& read = name == "batch" ? batch : reviewer;
                return read.empty() && json.read_name(read);
            }
            if (name != "weight" || has_weight) return false;
            has_weight = true;
            return json.read_number(event.weight) && event.weight >= LEAST_EXAMPLE_WEIGHT &&
                   event.weight <= MOST_EXAMPLE_WEIGHT;
        };
        if (!read_body(data, read_value) || !instance.has_instance() || event.classes.empty())
            return false;
        event.id.assign(instance.id());
        event.source.assign(instance.source());
        event.reviewer.assign(reviewer);
        event.batch.assign(batch);
        event.text.clear();
        if (!instance.text().empty())
            event.text.assign(instance.reading()).append(instance.text());
        return instance.write(event.instance) && !is_signed(event.instance);
    }

private:
    static bool read_classes(JsonCursor& json, std::vector<std::string>& classes) {
        return read_array(json, [&] {
            std::string_view name;
            if (classes.size() == MOST_PLAIN_CLASSES || !json.read_name(name)) return false;
            classes.emplace_back(name);
            return true;
        });
    }
};

}  // namespace manyclass::http
