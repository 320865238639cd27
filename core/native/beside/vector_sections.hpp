// The sections of a snapshot that hold the vectors of events:
//
//   of all classes    facts (dimension, retired, refreshed), products, mean, factor
//   of each class     name, counts (count, born, last), sum; and pairs (class, older event)
//
// The classes are in the order of their names: ids differ after a snapshot was loaded.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "beside/discriminant.hpp"
#include "beside/vector_sums.hpp"
#include "pipeline/vector.hpp"
#include "pipeline/wire.hpp"
#include "snapshot/visitor.hpp"
#include "storage/vocabulary.hpp"

namespace manyclass {

// The positions of the sections, and how many facts and counts of a class there are.
struct VectorSection {
    enum : std::size_t { facts, name_sizes, names, counts, older, sums, products, mean, factor };
    static constexpr std::uint64_t FACTS = 3, COUNTS = 3;
};

// Writes the sections of the vectors. Threads: one, which may also change the state it refers to.
class VectorSectionsWriter {
public:
    // `classes`: those with events, in the order of their names.
    VectorSectionsWriter(const Vocabulary& names, std::vector<std::uint32_t> classes,
                         const VectorSums& sums, const Covariance& covariance,
                         std::int64_t refreshed)
        : names_(names),
          classes_(std::move(classes)),
          sums_(sums),
          covariance_(covariance),
          refreshed_(refreshed) {}

    // Return the sections with their sizes.
    std::vector<Section> measure() const {
        std::uint64_t name_bytes = 0, older = 0;
        for (const std::uint32_t id : classes_) {
            name_bytes += names_.name(id).size();
            older += sums_[id].older.size();
        }
        const std::uint64_t classes = classes_.size(), size = sums_.dimension();
        return {
            {"vector_facts", "u8", VectorSection::FACTS, nullptr},
            {"vector_class_name_sizes", "u2", classes, nullptr},
            {"vector_class_names", "u1", name_bytes, nullptr},
            {"vector_class_counts", "u8", VectorSection::COUNTS * classes, nullptr},
            {"vector_class_older", "u8", 2 * older, nullptr},
            {"vector_class_sums", "u8", classes * size, nullptr},
            {"vector_products", "u8", size * (size + 1) / 2, nullptr},
            {"vector_mean", "f4", covariance_.mean().size(), nullptr},
            {"vector_factor", "f4", covariance_.factor().size(), nullptr},
        };
    }

    // Fill the sections that were measured.
    void dump(const std::vector<Section>& sections) const {
        auto* const facts = data<std::uint64_t>(sections, VectorSection::facts);
        facts[0] = sums_.dimension();
        facts[1] = static_cast<std::uint64_t>(sums_.retired());
        facts[2] = static_cast<std::uint64_t>(refreshed_);
        auto* sizes = data<std::uint16_t>(sections, VectorSection::name_sizes);
        auto* names = data<char>(sections, VectorSection::names);
        auto* counts = data<std::uint64_t>(sections, VectorSection::counts);
        auto* older = data<std::uint64_t>(sections, VectorSection::older);
        auto* sums = data<std::int64_t>(sections, VectorSection::sums);
        for (std::size_t at = 0; at < classes_.size(); ++at) {
            const std::uint32_t id = classes_[at];
            const std::string_view name = names_.name(id);
            *sizes++ = static_cast<std::uint16_t>(name.size());
            names = std::copy(name.begin(), name.end(), names);
            *counts++ = static_cast<std::uint64_t>(sums_[id].count);
            *counts++ = sums_[id].born;
            *counts++ = sums_[id].last;
            for (const std::uint64_t event : sums_[id].older) {
                *older++ = at;
                *older++ = event;
            }
            sums = std::copy_n(sums_.sum(id), sums_.dimension(), sums);
        }
        copy(sums_.all_products(), data<std::int64_t>(sections, VectorSection::products));
        copy(covariance_.mean(), data<float>(sections, VectorSection::mean));
        copy(covariance_.factor(), data<float>(sections, VectorSection::factor));
    }

private:
    template <class T>
    static T* data(const std::vector<Section>& sections, std::size_t section) {
        return static_cast<T*>(sections[section].data);
    }
    template <class T>
    static void copy(const std::vector<T>& numbers, T* to) {
        std::copy(numbers.begin(), numbers.end(), to);
    }

    const Vocabulary& names_;
    const std::vector<std::uint32_t> classes_;
    const VectorSums& sums_;
    const Covariance& covariance_;
    const std::int64_t refreshed_;
};

// Reads the sections of the vectors. It throws std::invalid_argument("section: fault") if they
// contradict each other.
// Threads: one.
class VectorSectionsReader {
public:
    explicit VectorSectionsReader(const std::vector<Section>& sections)
        : facts_(run<std::uint64_t>(sections, VectorSection::facts)),
          name_sizes_(run<std::uint16_t>(sections, VectorSection::name_sizes)),
          names_(run<char>(sections, VectorSection::names)),
          counts_(run<std::uint64_t>(sections, VectorSection::counts)),
          older_(run<std::uint64_t>(sections, VectorSection::older)),
          sums_(run<std::int64_t>(sections, VectorSection::sums)),
          products_(run<std::int64_t>(sections, VectorSection::products)),
          mean_(run<float>(sections, VectorSection::mean)),
          factor_(run<float>(sections, VectorSection::factor)) {
        check_sizes();
        check_covariance();
    }

    std::size_t dimension() const { return facts_.data[0]; }
    std::int64_t retired() const { return static_cast<std::int64_t>(facts_.data[1]); }
    std::int64_t refreshed() const { return static_cast<std::int64_t>(facts_.data[2]); }
    const std::int64_t* products() const { return products_.data; }
    std::vector<float> mean() const { return copy(mean_); }
    std::vector<float> factor() const { return copy(factor_); }

    // Call `add(name, counts, sum)` for each class, in the order of their names.
    template <class F>
    void read_classes(F&& add) const {
        std::size_t begin = 0;  // of the name
        std::uint64_t pair = 0, all = 0;
        std::string_view before;
        for (std::uint64_t at = 0; at < name_sizes_.size; ++at) {
            const std::size_t name_size = name_sizes_.data[at];
            need(names_.size - begin >= name_size, "vector_class_name_sizes",
                 "names are cut short");
            const std::string_view name(names_.data + begin, name_size);
            begin += name_size;
            need(!name.empty() && name.size() <= LONGEST_NAME && is_utf8(name),
                 "vector_class_names", "a name is not one");
            need(at == 0 || before < name, "vector_class_names", "the names are out of order");
            before = name;
            VectorSums::ClassSum of = counts_of(at);
            all += static_cast<std::uint64_t>(of.count);
            need(all + facts_.data[1] <= MOST_UNITS, "vector_class_counts",
                 "no count can be so large");
            for (; pair < older_.size && older_.data[pair] == at; pair += 2) {
                need(older_.data[pair + 1] < of.born, "vector_class_older",
                     "an event is not older");
                of.older.push_back(older_.data[pair + 1]);
            }
            add(name, of, sum_of(at, of.count));
        }
        need(pair == older_.size, "vector_class_older", "an event is of no class");
        need(begin == names_.size, "vector_class_name_sizes", "more name bytes than names");
    }

private:
    static constexpr auto MOST_UNITS = static_cast<std::uint64_t>(VectorSums::MOST_UNITS);
    static constexpr std::int64_t LARGEST_SUM = std::int64_t{1} << 62;
    // Of a factor of a matrix whose mean diagonal is 1; no pivot is below 1e-9.
    static constexpr float LARGEST_FACTOR = 65, LEAST_OF_DIAGONAL = 3e-5f;

    template <class T>
    static Run<const T> run(const std::vector<Section>& sections, std::size_t section) {
        return {static_cast<const T*>(sections[section].data), sections[section].size};
    }
    static std::vector<float> copy(Run<const float> run) {
        return {run.data, run.data + run.size};
    }
    template <class T, class F>
    static bool all_of(Run<const T> run, F&& is_one) {
        return std::all_of(run.data, run.data + run.size, is_one);
    }

    void check_sizes() const {
        need(facts_.size == VectorSection::FACTS, "vector_facts", "it has another number of facts");
        const std::uint64_t size = facts_.data[0], classes = name_sizes_.size;
        const std::uint64_t pairs = size * (size + 1) / 2;
        need(size >= LEAST_DIMENSION && size <= MOST_DIMENSION, "vector_facts",
             "there is no such dimension");
        need(facts_.data[1] <= MOST_UNITS && facts_.data[2] <= MOST_UNITS, "vector_facts",
             "no count can be so large");
        need(classes > 0 && counts_.size == VectorSection::COUNTS * classes &&
                 sums_.size == classes * size,
             "vector_class_counts", "the arrays of the classes do not fit together");
        need(older_.size % 2 == 0, "vector_class_older", "it is not an array of pairs");
        need(products_.size == pairs, "vector_products", "they are not those of the dimension");
        need(mean_.size == size, "vector_mean", "it is not that of the dimension");
        need(factor_.size == 0 || factor_.size == pairs, "vector_factor",
             "it is not that of the dimension");
    }

    void check_covariance() const {
        need(all_of(mean_, [](float one) { return std::fabs(one) <= 1; }), "vector_mean",
             "a number is not one of a mean");
        need(all_of(factor_, [](float one) { return std::fabs(one) <= LARGEST_FACTOR; }),
             "vector_factor", "a number is too large");
        for (std::size_t at = 0, row = 0; at < factor_.size; at += ++row + 1)
            need(factor_.data[at] >= LEAST_OF_DIAGONAL, "vector_factor",
                 "a number of its diagonal is too small");
        need(all_of(products_,
                    [](std::int64_t one) { return one <= LARGEST_SUM && one >= -LARGEST_SUM; }),
             "vector_products", "a sum is too large");
    }

    VectorSums::ClassSum counts_of(std::uint64_t cls) const {
        const std::uint64_t* const of = counts_.data + VectorSection::COUNTS * cls;
        need(of[0] > 0 && of[0] <= MOST_UNITS && of[1] <= of[2] && of[2] <= LARGEST_COUNT,
             "vector_class_counts", "no class has such counts");
        return {static_cast<std::int64_t>(of[0]), of[1], of[2]};
    }

    const std::int64_t* sum_of(std::uint64_t cls, std::int64_t count) const {
        const Run<const std::int64_t> sum{sums_.data + cls * dimension(), dimension()};
        const std::int64_t most = count * static_cast<std::int64_t>(VECTOR_LENGTH);
        need(all_of(sum, [&](std::int64_t one) { return one <= most && one >= -most; }),
             "vector_class_sums", "a sum is larger than its events can make it");
        return sum.data;
    }

    const Run<const std::uint64_t> facts_;
    const Run<const std::uint16_t> name_sizes_;
    const Run<const char> names_;
    const Run<const std::uint64_t> counts_, older_;
    const Run<const std::int64_t> sums_, products_;
    const Run<const float> mean_, factor_;
};

}  // namespace manyclass
