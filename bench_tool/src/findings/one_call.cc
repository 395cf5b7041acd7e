// SPDX-License-Identifier: MIT
#include "findings/one_call.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>
#include <string_view>

#include "findings/syscall_families.h"

namespace syscost::bench::findings {
namespace {

using trace::Frame;

/// Names of the functions that frameworks make of a test: GoogleTest, Catch2 (two of its versions), doctest,
/// Boost.Test.
constexpr std::array<std::string_view, 5> kTestFunctions = {"TestBody", "CATCH2_INTERNAL_TEST_", "C_A_T_C_H_T_E_S_T_",
                                                            "DOCTEST_ANON_FUNC_", "::test_method"};

bool is_test_function(std::string_view function) {
  return std::any_of(kTestFunctions.begin(), kTestFunctions.end(),
                     [&](std::string_view part) { return function.find(part) != std::string_view::npos; });
}

bool is_main(std::string_view function) {
  return function == "main" || function.starts_with("main(");
}

/// True if the file's name, or that of one of its two innermost folders, says that it is for tests.
bool is_named_test(std::string_view source) {
  std::size_t from = source.size();
  for (int i = 0; i < 3 && from != std::string_view::npos && from > 0; ++i) from = source.rfind('/', from - 1);
  std::string name(source.substr(from == std::string_view::npos ? 0 : from));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.find("test") != std::string::npos || name.find("bench") != std::string::npos;
}

bool is_of_system(std::string_view path) {
  return path.starts_with("/usr/") || path.starts_with("/lib");
}

/// Where each thread but the first begins, in libc.
bool is_thread_start(std::string_view function) {
  static constexpr std::array<std::string_view, 5> kStarts = {"start_thread", "clone", "clone3", "__clone", "__clone3"};
  return is_one_of(kStarts, function);
}

}  // namespace

OneCall::OneCall(const trace::TraceFile& trace) : trace_(trace) {
  std::set<std::string_view> own;  // files with tests or main
  for (const Frame& frame : trace.frames) {
    if (!frame.source.empty() && (is_test_function(frame.function) || is_main(frame.function)))
      own.insert(frame.source);
  }
  std::vector<bool> is_test;
  for (const Frame& frame : trace.frames) {
    has_lines_.push_back(!frame.source.empty() && !frame.function.empty() && !is_of_system(frame.source) &&
                         !is_of_system(frame.module));
    is_test.push_back(is_test_function(frame.function) || own.contains(frame.source) || is_named_test(frame.source));
  }
  for (const std::vector<std::uint32_t>& frames : trace.stacks) {
    Stack stack;
    bool has_code = false;  // with lines
    bool is_known = !frames.empty() && is_thread_start(trace.frames[frames.front()].function);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const std::uint32_t frame = frames[i];
      if (is_test[frame]) stack.test_end = i + 1;
      has_code = has_code || has_lines_[frame];
      is_known = is_known && (!trace.frames[frame].source.empty() || is_of_system(trace.frames[frame].module));
    }
    stack.is_of_thread = is_known && has_code && stack.test_end == 0;
    stacks_.push_back(stack);
  }
}

std::string_view OneCall::system_function(const trace::Call& call) const {
  std::string_view function;
  for (const std::uint32_t place : trace_.stacks[call.stack]) {
    const Frame& frame = trace_.frames[place];
    if (!is_of_system(frame.module)) {
      function = {};
    } else if (function.empty()) {
      function = frame.function;
    }
  }
  return function;
}

bool OneCall::makes(const trace::Call& a, const trace::Call& b) const {
  return fork_of(a, b).is_one_call;
}

bool OneCall::makes_in_order(const trace::Call& a, const trace::Call& b) const {
  const Fork fork = fork_of(a, b);
  return fork.is_one_call && fork.a != nullptr && fork.a->module == fork.b->module && fork.a->offset < fork.b->offset;
}

OneCall::Fork OneCall::fork_of(const trace::Call& a, const trace::Call& b) const {
  if (a.stack == 0 || b.stack == 0 || a.thread != b.thread) return {};
  const Stack& of_a = stacks_[a.stack];
  const Stack& of_b = stacks_[b.stack];
  if (of_a.is_of_thread && of_b.is_of_thread) return {true};
  if (of_a.test_end == 0 || of_a.test_end != of_b.test_end) return {};
  const std::vector<std::uint32_t>& frames_a = trace_.stacks[a.stack];
  const std::vector<std::uint32_t>& frames_b = trace_.stacks[b.stack];
  const auto [at_a, at_b] = std::mismatch(frames_a.begin(), frames_a.end(), frames_b.begin(), frames_b.end());
  if (at_a == frames_a.end() || at_b == frames_b.end()) return {};
  // The test's own code is at two places: it makes two calls.
  if (static_cast<std::size_t>(at_a - frames_a.begin()) < of_a.test_end) return {};
  const Frame& in_a = trace_.frames[*at_a];
  const Frame& in_b = trace_.frames[*at_b];
  return {has_lines_[*at_a] && in_a.function == in_b.function, &in_a, &in_b};
}

}  // namespace syscost::bench::findings
