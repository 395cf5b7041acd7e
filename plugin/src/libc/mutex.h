// SPDX-License-Identifier: MIT
//
// A mutex of libc, for our code that is a part of the program: std::mutex would call the program's functions, if it
// defines those of libc's names.
#pragma once

#include <pthread.h>

#include "libc/symbols.h"

#pragma GCC visibility push(hidden)
namespace syscost::libc {

/// Satisfies BasicLockable. Not recursive; not for signal handlers.
class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() {
    static const auto its_lock = SYSCOST_LIBC(pthread_mutex_lock);
    its_lock(&mutex_);
  }
  void unlock() {
    static const auto its_unlock = SYSCOST_LIBC(pthread_mutex_unlock);
    its_unlock(&mutex_);
  }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

}  // namespace syscost::libc
#pragma GCC visibility pop
