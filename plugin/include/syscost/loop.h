// SPDX-License-Identifier: MIT
//
// A measured loop: how long one call takes and which syscalls it makes, from different passes of the same body.
//
//     for (auto it : syscost::loop("flush")) log.flush(batch);
//
// If you request nothing (no --syscost_csv, no --syscost_profile, no other request), the body runs once,
// unmeasured. Otherwise it runs in passes of `cycles` calls each: warm-up passes, `repeats` timed passes with the
// backend detached, then as many counted passes; the times of counted passes are thrown away. Timed pass i and
// counted pass i become repetition i of the loop's rows, kind `loop`: `wall_ns` is the whole pass in ns, `iterations`
// is its calls. The test around the loop is not charged with it, and its row says so.
//
// Without --syscost_cycles the calls of a pass are calibrated so that everything takes about a second (a tenth of one
// with --syscost_quick). An iteration costs a decrement and a branch.
//
// A loop runs on the thread that reached it; what other threads of the process do meanwhile is counted too. One loop
// runs at a time: one inside another, or on another thread beside it, runs its body once for each time it is reached,
// with a message the first time. So does a loop in a fork child; a child that inherits a running loop ends the pass it
// is in.
//
// Errors do not reach the caller: a message on stderr says what is missing. If no backend can count, there are times
// and no counts. While a Scope is open, on this or another thread, there are counts and no times, because the
// backend has to stay attached. A Scope, a measure() or an assertion of ours in the body counts in every pass, as it
// does without a request: the first one attaches the backend again, and the loop has no times. (On another thread,
// dispatch can do so only before the next pass; see docs/loops.md.) `break`, `return` and exceptions end a loop early:
// what whole passes measured is kept.
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
  /// `name` is copied; it is column `window` of the rows. If you requested something and no session runs yet, starts
  /// the session. If the session cannot do what you requested, the program ends with exit code 2, as at the start of a
  /// test program.
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

  std::unique_ptr<session::LoopRun> run_;  // null: no numbers were requested
  bool has_run_ = false;
};

/// See Loop.
[[nodiscard]] inline Loop loop(std::string_view name) {
  return Loop(name);
}

/// Makes the compiler compute `value`, and finish earlier writes to memory, although no code reads them. Adds no
/// instruction, except to put a value into a register or memory if it is in neither.
template <class Value>
inline void do_not_optimize(const Value& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace syscost
