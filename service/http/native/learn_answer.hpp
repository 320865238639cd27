// Writes the answer to a request to learn one event, head and body, byte for byte as the routes and
// uvicorn send it: schemas/learn.py declares the body, answers.py the headers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace manyclass::http {

// The answer to the request of a connection: of the event learned, or a refusal, all bytes of it.
struct LearnAnswer {
    void* connection = nullptr;
    std::uint64_t seq = 0;
    std::uint32_t rank = 0;  // of the best true class before learning; 0: it was not retrieved
    bool is_updated = false;
    bool is_duplicate = false;  // of the event of this `seq`
    std::string refusal = {};

    // Return the body.
    std::string body() const {
        std::string body = "{\"seq\":";
        return body.append(std::to_string(seq))
            .append(is_duplicate ? ",\"accepted\":0,\"duplicates\":1,\"rank_before\":"
                                 : ",\"accepted\":1,\"duplicates\":0,\"rank_before\":")
            .append(rank == 0 ? "null" : std::to_string(rank))
            .append(is_updated ? ",\"updated\":true}" : ",\"updated\":false}");
    }

    // Return all bytes. `first` are the status line and the headers of the server, `last` headers
    // behind those of the body, each with its line end.
    std::string whole(std::string_view first, std::string_view last) const {
        if (!refusal.empty()) return refusal;
        const std::string body = this->body();
        std::string answer;
        answer.reserve(first.size() + last.size() + body.size() + 80);
        return answer.append(first)
            .append("content-type: application/json\r\ncontent-length: ")
            .append(std::to_string(body.size()))
            .append("\r\n")
            .append(last)
            .append("\r\n")
            .append(body);
    }
};

}  // namespace manyclass::http
