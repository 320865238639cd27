// Reads the vector of an instance from JSON, without Python objects, in one of three forms
//
//   [0.12, -0.53, ...]      "<base64 of float32 numbers>"      {"int8": "<base64>"}
//
// The float32 numbers are little-endian; base64 is the standard one, with padding. There is no
// slower reader: this one tells each fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/vector.hpp"
#include "text/json_cursor.hpp"

namespace manyclass {

// The fault of a value that is not a vector.
enum class VectorFault {
    none,
    form,        // none of the three
    number,      // an element of the array is not a number, or too large for a double
    base64,      // the string is not base64
    bytes,       // it does not hold whole float32 numbers
    dimension,   // there are too few or too many numbers
    not_finite,  // a number is NaN or infinite
    zero,        // all numbers are 0
};

class JsonVector {
public:
    // One reader for each thread; it keeps its memory from call to call.
    [[gnu::noinline]] static JsonVector& mine();

    // Read the value at the cursor, which then stands behind it. After a fault use no result.
    VectorFault read(JsonCursor& json);

    // Append the vector that was read to an instance without one.
    void write(std::string& instance) const { append_vector(instance, vector_of(read_)); }

    // The count of numbers that were read, at most one more than there may be; after a fault in an
    // element of the array, its place.
    std::size_t count() const { return count_; }

private:
    VectorFault read_array(JsonCursor& json);
    VectorFault read_int8(JsonCursor& json);
    VectorFault read_float32(std::string_view base64);
    VectorFault decode(std::string_view base64);
    VectorFault normalise();

    std::vector<double> numbers_ = std::vector<double>(MOST_DIMENSION + 1);
    std::size_t count_ = 0;
    std::string bytes_;  // that a text of base64 stands for
    std::string read_;   // an instance with the vector alone
};

}  // namespace manyclass
