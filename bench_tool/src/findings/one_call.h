// SPDX-License-Identifier: MIT
//
// OneCall: did one call that the test makes lead to several syscalls?
//
// A test may do small things one by one, because it tests them: it writes a record, and the next one. What a library
// does within one call of the test is another matter: the test asked once. Call stacks tell these apart. The innermost
// function of the test's own code stands at one place for both syscalls, and a function below it goes on from one
// syscall to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/trace_file.h"

namespace syscost::bench::findings {

class OneCall {
 public:
  /// Of the stacks of `trace`, which must outlive it.
  explicit OneCall(const trace::TraceFile& trace);

  /// True if one call of the test's code leads to both, as far as a function with lines is at another place in each.
  /// Or if a thread makes both that runs no code of the test. False if a stack is not known.
  bool makes(const trace::Call& a, const trace::Call& b) const;
  /// The same, and that function makes `b` further down. A loop around it would come back to `a`.
  bool makes_in_order(const trace::Call& a, const trace::Call& b) const;
  /// The function of a system's library that the program called for this: `malloc` of an mmap; "" if it is not known.
  std::string_view system_function(const trace::Call& call) const;

 private:
  /// What the function that goes on from `a` to `b` is in their stacks.
  struct Fork {
    bool is_one_call = false;
    const trace::Frame* a = nullptr;  ///< Null in a thread without code of the test.
    const trace::Frame* b = nullptr;
  };
  struct Stack {
    std::size_t test_end = 0;   ///< So many frames, from the outermost on, end with the test's own code.
    bool is_of_thread = false;  ///< A thread's whole stack, of code with lines, without code of the test.
  };

  Fork fork_of(const trace::Call& a, const trace::Call& b) const;

  const trace::TraceFile& trace_;
  std::vector<bool> has_lines_;  ///< By frame: a function of the program's, and its line is known.
  std::vector<Stack> stacks_;
};

}  // namespace syscost::bench::findings
