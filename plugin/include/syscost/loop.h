// SPDX-License-Identifier: MIT
//
// A measured loop: how long one call takes and which syscalls it makes, from different passes of the same body.
//
//     for (auto it : syscost::loop("flush")) log.flush(batch);
//
// Nobody asked for anything (no --syscost_csv, no --syscost_profile, no other request): the body runs once, and nothing
// of ours does. Else it runs in passes of `cycles` calls each: warm-up passes, `repeats` timed passes with the
// instrument taken off, then as many counted passes whose times are thrown away. Timed pass i and counted pass i become
// repetition i of the loop's rows, kind `loop`: `wall_ns` in ns for the whole pass, `iterations` its calls. The test
// around the loop is not charged with it, and its row says so.
//
// Without --syscost_cycles the calls of a pass are calibrated so that everything takes about a second (a tenth of one
// with --syscost_quick). An iteration costs a decrement and a branch.
//
// A loop runs on the thread that reached it; what other threads of the process do meanwhile is counted too. One loop
// runs at a time: one inside another, or on another thread beside it, runs its body once for each time it is reached,
// with a message the first time. So does a loop in a fork child; a child that inherits a running loop ends the pass it
// is in.
//
// Errors do not reach the caller: a message on stderr says what could not be had. Where nothing can count there are
// times and no counts; inside an open Scope (or beside one on another thread) there are counts and no times, because
// the instrument has to stay. `break`, `return` and exceptions end a loop early: what whole passes measured is kept.
// Scopes and assertions of ours inside the body answer "unavailable" in all passes but the counted ones: ask about a
// loop's counts by its row.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "syscost/export.h"

namespace syscost {

namespace session {
class LoopRun;  // src/session/loops/loop_run.h
}

class SYSCOST_EXPORT Loop {
 public:
  /// `name` is copied; column `window` of the rows. Starts the session when something was asked for and nothing has
  /// yet; what was asked for and cannot be had then ends the program with exit code 2, as at the start of a test
  /// program.
  explicit Loop(std::string_view name);
  /// In the middle of a pass: throws that pass away, keeps the whole ones, and lets the test be charged again.
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Nothing to read. The destructor keeps compilers and analysers from calling the loop's variable unused.
  struct Iteration {
    ~Iteration() {}  // NOLINT(modernize-use-equals-default): a trivial one would not
  };
  struct End {};

  class Iterator {
   public:
    explicit Iterator(Loop& loop) : loop_(&loop) {}
    bool operator!=(End) {
      if (__builtin_expect(left_ == 0 ? 1 : 0, 0) != 0) {  // [[unlikely]] is C++20's
        left_ = loop_->next_pass();
        if (left_ == 0) return false;
      }
      --left_;
      return true;
    }
    Iterator& operator++() { return *this; }
    Iteration operator*() const { return {}; }

   private:
    Loop* loop_;
    std::uint64_t left_ = 0;  // iterations of this pass still to come
  };

  Iterator begin() { return Iterator(*this); }
  End end() const { return {}; }

 private:
  /// Ends the running pass and begins the next; its number of calls, 0 when there is none.
  std::uint64_t next_pass();

  std::unique_ptr<session::LoopRun> run_;  // null: nobody asked for numbers
  bool has_run_ = false;
};

/// See Loop.
[[nodiscard]] inline Loop loop(std::string_view name) {
  return Loop(name);
}

/// Makes the compiler compute `value`, and finish earlier writes to memory, although nobody reads them. No instruction
/// of its own; a value that is in neither register nor memory is put into one.
template <class Value>
inline void do_not_optimize(const Value& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace syscost
