// Workers, each in a thread of its own.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "service/http/native/worker.hpp"

namespace manyclass::http {

// Ownership: the pool closes the listeners; ranker, learner, queue, handover and counts are the
// caller's, and outlive it.
// Threads: one at a time; any may read the counts.
class WorkerPool {
public:
    WorkerPool(std::size_t workers, const WorkerParts& parts,
               const std::vector<double>& ranking_bounds, const std::vector<double>& request_bounds)
        : parts_(parts) {
        for (std::size_t number = 0; number < workers; ++number)
            workers_.push_back(
                std::make_unique<Worker>(parts_, number, ranking_bounds, request_bounds));
        for (const auto& worker : workers_) {
            std::vector<Worker*> others;
            for (const auto& other : workers_)
                if (other != worker) others.push_back(other.get());
            worker->know(std::move(others));
        }
    }
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;
    ~WorkerPool() { stop(); }

    void start() {
        sigset_t all, before;  // signals are for the interpreter's thread
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        for (std::size_t number = 0; number < workers_.size(); ++number) {
            threads_.emplace_back([worker = workers_[number].get()] { worker->run(); });
            const std::string name = "ranking-" + std::to_string(number);
            pthread_setname_np(threads_.back().native_handle(), name.c_str());
        }
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

    // Let a worker go on with a connection between two requests.
    void give(int fd) { workers_[next_++ % workers_.size()]->give(fd); }

    // Let a worker send the answers to requests whose events it has queued.
    void answer(std::size_t worker, std::vector<LearnAnswer> answers) {
        workers_[worker]->answer(std::move(answers));
    }

    // Have an idle connection of a worker closed; false when none is idle.
    bool close_idle() {
        Worker* longest = nullptr;
        for (const auto& worker : workers_)
            if (longest == nullptr || worker->idle_since() < longest->idle_since())
                longest = worker.get();
        if (longest == nullptr || longest->idle_since() == Worker::NEVER) return false;
        longest->close_one();
        return true;
    }

    // Stop accepting, answer the requests that have come, close the idle connections.
    void stop() {
        for (const auto& worker : workers_) worker->stop();
        for (std::thread& thread : threads_) thread.join();
        threads_.clear();
        for (const int listener : parts_.listeners) close(listener);
        parts_.listeners.clear();
    }

    std::size_t size() const { return workers_.size(); }
    const PlainCounts& counts(std::size_t worker) const { return workers_[worker]->counts(); }

private:
    WorkerParts parts_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<std::thread> threads_;
    std::size_t next_ = 0;
};

}  // namespace manyclass::http
