// Connections on their way from the workers to the event loop.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace manyclass::http {

// A file descriptor that other threads make readable.
class Wake {
public:
    Wake() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    }
    Wake(const Wake&) = delete;
    Wake& operator=(const Wake&) = delete;
    ~Wake() { close(fd_); }

    int fd() const { return fd_; }

    // Both can only fail when the descriptor is readable already, or not readable.
    void wake() {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = write(fd_, &one, sizeof one);
    }
    void clear() {
        std::uint64_t count;
        [[maybe_unused]] const auto got = read(fd_, &count, sizeof count);
    }

private:
    const int fd_;
};

// A connection that a worker does not go on with: bytes it has received and not answered, and bytes
// of an answer it could not send.
struct Handed {
    int fd;
    std::string received, unsent;
};

// Threads: any.
class Handover {
public:
    ~Handover() {
        for (const Handed& each : handed_) close(each.fd);
    }

    int fd() const { return wake_.fd(); }

    void give(Handed handed) {
        const std::size_t size = handed.received.size() + handed.unsent.size();
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            handed_.push_back(std::move(handed));
            bytes_ += size;
        }
        wake_.wake();
    }

    std::vector<Handed> take() {
        wake_.clear();
        const std::lock_guard<std::mutex> guard(mutex_);
        bytes_ = 0;
        return std::exchange(handed_, {});
    }

    // Of requests and answers that wait.
    std::size_t bytes() const { return bytes_; }

private:
    std::mutex mutex_;
    std::vector<Handed> handed_;
    std::atomic<std::size_t> bytes_{0};
    Wake wake_;
};

}  // namespace manyclass::http
