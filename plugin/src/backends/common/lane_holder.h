// SPDX-License-Identifier: MIT
//
// LaneHolder: which thread is inside a lane, and that it has ended without leaving it.
//
// A robust mutex is the one thing in memory that the kernel changes when a thread ends. Nothing here is a system call,
// because no thread ever waits.
#pragma once

#include <pthread.h>

#include <cerrno>

namespace syscost {

/// Callers hold a lock around every function.
class LaneHolder {
 public:
  enum class Answer { free, abandoned, held };

  LaneHolder() {
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex_, &robust);
    pthread_mutexattr_destroy(&robust);
  }
  ~LaneHolder() { pthread_mutex_destroy(&mutex_); }
  LaneHolder(const LaneHolder&) = delete;
  LaneHolder& operator=(const LaneHolder&) = delete;

  /// Makes the calling thread the holder, unless a living thread is.
  Answer take() {
    const int error = pthread_mutex_trylock(&mutex_);
    if (error == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
    return error == 0 ? Answer::free : error == EOWNERDEAD ? Answer::abandoned : Answer::held;
  }
  /// By the holder. By another thread: nothing changes until the holder ends.
  void give_back() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_{};
};

}  // namespace syscost
