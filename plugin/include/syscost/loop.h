// SPDX-License-Identifier: MIT
//
// A measured loop: how long one call takes and which syscalls it makes, from different passes of the same body.
//
//     for (auto it : syscost::loop("flush")) log.flush(batch);
//
// Nobody asked for numbers (no --syscost_csv, no --syscost_profile syscalls): the body runs once. Else it runs in
// passes of `cycles` calls each: warm-up passes, `repeats` timed passes with the instrument taken off, then as many
// counted passes whose times are thrown away. Pass i of both becomes repetition i of a row of kind `loop`. The test
// around the loop is not charged with it, and its row says so.
//
// Without --syscost_cycles the calls of a pass are calibrated so that everything takes about a second (a tenth of one
// with --syscost_quick). An iteration costs a decrement and a branch.
//
// A loop runs on one thread, one at a time; a loop inside another, and a loop in a fork child, run their body once for
// each time they are reached. `break`, `return` and exceptions end it early: what whole passes measured is kept. Scopes
// and assertions of ours inside the body answer "unavailable" in timed passes: ask about a loop's counts by its row.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "syscost/export.h"

namespace syscost {

namespace session {
class LoopRun;  // src/session/loop_run.h
}

class SYSCOST_EXPORT Loop {
 public:
  /// `name` is copied; column `window` of the rows.
  explicit Loop(std::string_view name);
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
      if (left_ == 0) [[unlikely]] {
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

/// Makes the compiler compute `value` although nobody reads it. Costs no instruction of its own.
template <class Value>
inline void do_not_optimize(const Value& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace syscost
