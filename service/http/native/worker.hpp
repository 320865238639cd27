// A thread that answers plain requests on connections of its own, without the interpreter.
//
//   listeners -> accept -> receive -> PlainRanker ---------------------------------> send
//                             |    -> PlainLearner -> LearnQueue -> event loop -> LearnAnswer
//                             |                                                        |
//                             +---- all other requests, answers not sent at once ------+
//                                                 |
//                                              Handover -> event loop
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <exception>
#include <iterator>
#include <limits>
#include <list>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "service/http/native/http_date.hpp"
#include "service/http/native/learn_answer.hpp"
#include "service/http/native/worker_parts.hpp"

namespace manyclass::http {

// Ownership: a worker closes its connections; the listeners are the caller's. A connection with
// anything but a plain request is handed over, with the bytes received; the loop may give it back
// between two requests. So each request is read by one side alone. A connection whose event is with
// the loop is neither read, closed nor handed over before its answer comes, or the end.
// Threads: `run` is the thread; any other may call `give`, `answer`, `stop`, `close_one` and read the
// counts.
class Worker {
public:
    static constexpr double NEVER = std::numeric_limits<double>::infinity();

    Worker(const WorkerParts& parts, std::size_t number, const std::vector<double>& ranking_bounds,
           const std::vector<double>& request_bounds)
        : parts_(parts),
          number_(number),
          task_(ranking_bounds, request_bounds),
          epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        if (epoll_ < 0) throw_errno("epoll_create1");
        watch(wake_.fd(), EPOLLIN, &wake_);
        listen();
        if (!is_listening_) throw_errno("epoll_ctl");
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    ~Worker() {
        while (!connections_.empty()) drop(connections_.front());
        for (const int fd : given_) close(fd);
        close(epoll_);
    }

    // Answer until `stop`; then answer the requests that have come, and close all connections.
    void run() {
        double ticked_at = seconds_now();
        while (!stopping_) {
            if (parts_.handover.bytes() > MOST_MOVING_BYTES) {  // the loop is busy
                pause();
                continue;
            }
            if (!is_listening_ && now_ - paused_at_ >= PAUSE_MILLISECONDS / 1e3) listen();
            handle_events(is_listening_ ? 1000 : PAUSE_MILLISECONDS);
            if (const double now = seconds_now(); now - ticked_at >= 1) {
                ticked_at = now;
                tick();
            }
        }
        stop_listening();
        handle_events(0);  // connections that were given last, whose requests come below
        for (std::size_t left = connections_.size() / EVENTS_AT_ONCE + 1; left > 0; --left)
            handle_events(0);
        while (!connections_.empty()) {
            Connection& first = connections_.front();
            if (first.held.empty()) drop(first);
            else hand_over(first, {}, {});
        }
    }

    void stop() {
        stopping_ = true;
        wake_.wake();
    }

    // Let the worker go on with a connection between two requests.
    void give(int fd) {
        {
            const std::lock_guard<std::mutex> guard(given_mutex_);
            given_.push_back(fd);
            ++parts_.counts.moving;
        }
        wake_.wake();
    }

    // Let the worker send the answers to requests whose events it has queued.
    void answer(std::vector<LearnAnswer> answers) {
        {
            const std::lock_guard<std::mutex> guard(given_mutex_);
            if (answers_.empty()) answers_ = std::move(answers);
            else std::move(answers.begin(), answers.end(), std::back_inserter(answers_));
        }
        wake_.wake();
    }

    // Let the worker close the connection that is idle for the longest time.
    void close_one() {
        ++to_close_;
        wake_.wake();
    }

    // The time at which the connection was last used that is idle for the longest; NEVER without one.
    double idle_since() const { return idle_since_.load(std::memory_order_relaxed); }
    const PlainCounts& counts() const { return task_.counts; }

    // The other workers: one may have an idle connection when this one has none. Before `run`.
    void know(std::vector<Worker*> others) { others_ = std::move(others); }

private:
    static constexpr std::size_t BUFFER_BYTES = 131'072;  // more than any plain request
    static constexpr int ACCEPTED_AT_ONCE = 16, EVENTS_AT_ONCE = 64;
    static constexpr double MOST_HELD_SECONDS = 1;
    static constexpr std::size_t MOST_HELD_BYTES = 4'194'304;  // beyond: the loop, which has a budget
    static constexpr std::size_t MOST_MOVING = 256;  // connections; beyond, none is accepted
    static constexpr std::size_t MOST_ABOVE = 16;    // above the limit, until the loop refuses them
    static constexpr std::size_t MOST_MOVING_BYTES = 16'777'216;  // beyond, nothing is received
    static constexpr int PAUSE_MILLISECONDS = 10;

    struct Connection {
        int fd;                 // -1: gone
        double used_at;         // accepted, received or answered
        bool has_asked;
        bool is_watched = true;       // bytes it receives make an event
        double learns_since = NEVER;  // its event is with the loop
        std::string held = {};        // the first bytes of a request that may be plain
        std::list<Connection>::iterator place = {};

        bool learns() const { return learns_since != NEVER; }
    };
    using Connections = std::list<Connection>;

    [[noreturn]] static void throw_errno(const char* what) {
        throw std::system_error(errno, std::generic_category(), what);
    }

    // --- events --------------------------------------------------------------------------------

    bool try_watch(int fd, std::uint32_t events, const void* about) {
        epoll_event event{};
        event.events = events;
        event.data.ptr = const_cast<void*>(about);
        return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
    }
    void watch(int fd, std::uint32_t events, const void* about) {
        if (!try_watch(fd, events, about)) throw_errno("epoll_ctl");
    }
    void unwatch(int fd) { epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr); }

    // One of the workers is woken for a new connection, not all.
    void listen() {
        is_listening_ = true;
        for (const int& listener : parts_.listeners)
            is_listening_ &= try_watch(listener, EPOLLIN | EPOLLEXCLUSIVE, &listener);
    }
    void stop_listening() {
        for (const int listener : parts_.listeners) unwatch(listener);
        is_listening_ = false;
        paused_at_ = now_;
    }

    static void pause() {
        std::this_thread::sleep_for(std::chrono::milliseconds(PAUSE_MILLISECONDS));
    }

    bool is_listener(const void* about) const {
        const int* const first = parts_.listeners.data();
        return about >= first && about < first + parts_.listeners.size();
    }

    void handle_events(int milliseconds) {
        std::array<epoll_event, EVENTS_AT_ONCE> events;
        const int count = epoll_wait(epoll_, events.data(), EVENTS_AT_ONCE, milliseconds);
        now_ = seconds_now();
        for (int at = 0; at < count; ++at) {
            const void* const about = events[static_cast<std::size_t>(at)].data.ptr;
            if (about == &wake_) take_given();
            else if (is_listener(about)) accept_on(*static_cast<const int*>(about));
            else receive(*static_cast<Connection*>(events[static_cast<std::size_t>(at)].data.ptr));
        }
        gone_.clear();  // no event refers to them any more
        if (std::exchange(has_queued_, false)) parts_.queue.wake();
        for (; to_close_ > 0; --to_close_) close_oldest_idle();
        note_idle();
    }

    // Once a second: close connections that were quiet for too long, and hand over a request whose
    // second piece has not come, because the loop has limits for slow clients.
    void tick() {
        for (auto at = connections_.begin(); at != connections_.end();) {
            Connection& each = *at++;
            const double quiet = now_ - each.used_at;
            if (each.learns()) continue;
            if (!each.held.empty()) {
                if (quiet >= MOST_HELD_SECONDS) hand_over(each, {}, {});
            } else if (quiet >= (each.has_asked ? parts_.limits.keep_alive_seconds
                                                : parts_.limits.quiet_seconds)) {
                drop(each);
            }
        }
        gone_.clear();
    }

    // --- connections ---------------------------------------------------------------------------

    void accept_on(int listener) {
        for (int accepted = 0; accepted < ACCEPTED_AT_ONCE; ++accepted) {
            if (parts_.counts.moving >= MOST_MOVING ||  // the loop is busy
                parts_.counts.all() >= parts_.limits.most_connections + MOST_ABOVE) {
                stop_listening();
                return;
            }
            const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (fd < 0) {
                const bool is_short = errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
                                      errno == ENOMEM;
                if (is_short) stop_listening();  // of descriptors or memory
                return;
            }
            const int yes = 1;
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
            take_in(fd, false);
        }
    }

    void take_given() {
        wake_.clear();
        std::vector<int> given;
        std::vector<LearnAnswer> answers;
        {
            const std::lock_guard<std::mutex> guard(given_mutex_);
            given.swap(given_);
            answers.swap(answers_);
        }
        for (const int fd : given) take_in(fd, true);
        for (const LearnAnswer& each : answers)
            end_learning(*static_cast<Connection*>(each.connection), each);
    }

    // `is_given`: by the loop, where it counted already.
    void take_in(int fd, bool is_given) {
        if (is_given) --parts_.counts.moving;
        const bool has_room = is_given ||
                              parts_.counts.all() < parts_.limits.most_connections || make_room();
        try {
            connections_.push_back(Connection{fd, now_, is_given});
        } catch (const std::bad_alloc&) {
            close(fd);
            return;
        }
        Connection& it = connections_.back();
        it.place = std::prev(connections_.end());
        ++parts_.counts.workers;
        if (!has_room) hand_over(it, {}, {});  // the loop has an idle one to close, or refuses this
        else if (!try_watch(fd, EPOLLIN, &it)) drop(it);
    }

    // Have the connection closed that is idle for the longest time, of this worker or of another;
    // false when there is none.
    bool make_room() {
        Worker* longest = this;
        for (Worker* const other : others_)
            if (other->idle_since() < longest->idle_since()) longest = other;
        if (longest == this) return close_oldest_idle();
        longest->close_one();
        return true;
    }

    bool close_oldest_idle() {
        for (Connection& each : connections_)
            if (is_idle(each)) {
                drop(each);
                ++parts_.counts.closed_idle;
                note_idle();
                return true;
            }
        return false;
    }

    // True if no byte of a request has come.
    static bool is_idle(const Connection& it) {
        char first;
        return it.held.empty() && !it.learns() && recv(it.fd, &first, sizeof first, MSG_PEEK) < 0 &&
               errno == EAGAIN;
    }

    void note_idle() {
        const auto oldest = std::find_if(
            connections_.begin(), connections_.end(),
            [](const Connection& each) { return each.held.empty() && !each.learns(); });
        idle_since_.store(oldest == connections_.end() ? NEVER : oldest->used_at,
                          std::memory_order_relaxed);
    }

    // Forget a connection, without closing its descriptor.
    void forget(Connection& it) {
        held_bytes_ -= it.held.size();
        it.fd = -1;
        gone_.splice(gone_.end(), connections_, it.place);
        --parts_.counts.workers;
    }

    void drop(Connection& it) {
        unwatch(it.fd);  // the loop may not have closed its descriptor yet, which keeps the events
        close(it.fd);
        forget(it);
    }

    void hand_over(Connection& it, std::string_view received, std::string_view unsent) {
        const int fd = it.fd;
        unwatch(fd);
        forget(it);  // first, or it would count twice when the loop takes it over at once
        ++parts_.counts.moving;
        try {
            parts_.handover.give({fd, it.held + std::string(received), std::string(unsent)});
        } catch (const std::bad_alloc&) {  // memory is too short even for the refusal
            --parts_.counts.moving;
            close(fd);
        }
    }

    void note_use(Connection& it) {
        it.used_at = now_;
        connections_.splice(connections_.end(), connections_, it.place);
    }

    // --- requests ------------------------------------------------------------------------------

    void receive(Connection& it) {
        if (it.fd < 0) return;
        if (it.learns()) {  // a further request, or the client has gone
            unwatch(it.fd);
            it.is_watched = false;
            return;
        }
        const ssize_t size = recv(it.fd, buffer_.data(), buffer_.size(), 0);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (size < 0 || (size == 0 && it.held.empty())) {
            drop(it);
            return;
        }
        const std::string_view received(buffer_.data(), static_cast<std::size_t>(size));
        try {
            if (size == 0 || !answer(it, received)) hand_over(it, received, {});
        } catch (const std::exception&) {  // of memory or of the learner: the loop reports it
            hand_over(it, received, {});
        }
    }

    // Answer a plain request, or hold its first piece; false for other requests.
    bool answer(Connection& it, std::string_view received) {
        std::string whole;
        if (!it.held.empty()) received = whole.append(it.held).append(received);
        const bool ranks = parts_.ranker.read_head(received, task_.request);
        if (!ranks && !parts_.learner.read_head(received, task_.request)) return false;
        if (!task_.request.is_whole()) return hold(it, received);
        return ranks ? rank(it) : learn(it);
    }

    bool rank(Connection& it) {
        const std::string_view answer = parts_.ranker.answer(task_, first_lines(), seconds_now());
        if (answer.empty()) return false;
        note_request(it);
        send_answer(it, answer);
        return true;
    }

    // Let the loop learn the event of a request; false when Python has to read it.
    bool learn(Connection& it) {
        const double began = seconds_now();
        if (!parts_.learner.read(task_.request, event_) ||
            !parts_.queue.offer(event_, {number_, &it}))
            return false;
        note_request(it);
        it.learns_since = began;
        has_queued_ = true;
        return true;
    }

    // Send the answer to a request to learn, and receive again.
    void end_learning(Connection& it, const LearnAnswer& answer) {
        const double began = std::exchange(it.learns_since, NEVER);
        if (answer.refusal.empty()) task_.counts.learn_request.observe(seconds_now() - began);
        try {
            send_answer(it, answer.whole(first_lines(), parts_.ranker.last_headers()));
        } catch (const std::bad_alloc&) {
            drop(it);
        }
        if (it.fd < 0 || it.is_watched) return;
        it.is_watched = try_watch(it.fd, EPOLLIN, &it);
        if (!it.is_watched) drop(it);
    }

    void note_request(Connection& it) {
        held_bytes_ -= it.held.size();
        it.held.clear();
        it.has_asked = true;
    }

    // Keep the first piece of a request; of a request in three pieces the loop gets all.
    bool hold(Connection& it, std::string_view received) {
        if (!it.held.empty() || held_bytes_ + received.size() > MOST_HELD_BYTES) return false;
        it.held.assign(received);
        held_bytes_ += it.held.size();
        note_use(it);
        return true;
    }

    void send_answer(Connection& it, std::string_view answer) {
        const ssize_t sent = send(it.fd, answer.data(), answer.size(), MSG_NOSIGNAL);
        if (sent == static_cast<ssize_t>(answer.size())) {
            note_use(it);
        } else if (sent >= 0 || errno == EAGAIN || errno == EINTR) {
            hand_over(it, {}, answer.substr(static_cast<std::size_t>(std::max<ssize_t>(sent, 0))));
        } else {
            drop(it);
        }
    }

    // The status line and the date, as the event loop's server sends them.
    std::string_view first_lines() {
        const std::time_t second = std::time(nullptr);
        if (second != dated_) {
            dated_ = second;
            first_lines_ = "HTTP/1.1 200 OK\r\ndate: " + http_date(second) + "\r\n";
        }
        return first_lines_;
    }

    const WorkerParts& parts_;
    const std::size_t number_;
    RankTask task_;
    PlainEvent event_;  // read last, with memory for the next
    const int epoll_;
    Wake wake_;
    std::vector<Worker*> others_;
    std::mutex given_mutex_;
    std::vector<int> given_;
    std::vector<LearnAnswer> answers_;
    Connections connections_, gone_;  // the one used the longest time ago first
    std::size_t held_bytes_ = 0;      // of first pieces
    bool is_listening_ = false;
    bool has_queued_ = false;  // events since the loop was woken
    double now_ = 0, paused_at_ = 0;
    std::time_t dated_ = -1;
    std::string first_lines_;
    std::vector<char> buffer_ = std::vector<char>(BUFFER_BYTES);
    std::atomic<bool> stopping_{false};
    std::atomic<std::size_t> to_close_{0};
    std::atomic<double> idle_since_{NEVER};
};

}  // namespace manyclass::http
