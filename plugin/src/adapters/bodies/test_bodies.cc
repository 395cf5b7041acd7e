// SPDX-License-Identifier: MIT
#include "adapters/bodies/test_bodies.h"

#include <cstdio>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libc/symbols.h"
#include "syscost/adapter.h"
#include "syscost/counting.h"

namespace syscost::bodies_adapter {
namespace {

bool begins_with(std::string_view text, std::string_view beginning) {
  return text.compare(0, beginning.size(), beginning) == 0;
}

/// Options of Catch2 with a value that may be a word of its own. Those that select tests are not among them.
bool takes_next_word(std::string_view option) {
  for (const char* const one : {"-r",
                                "--reporter",
                                "-o",
                                "--out",
                                "-n",
                                "--name",
                                "-x",
                                "--abortx",
                                "-w",
                                "--warn",
                                "-d",
                                "--durations",
                                "-D",
                                "--min-duration",
                                "-v",
                                "--verbosity",
                                "--order",
                                "--rng-seed",
                                "--use-colour",
                                "--colour-mode",
                                "--wait-for-keypress"}) {
    if (option == one) return true;
  }
  return false;
}

/// Both frameworks take the names of tests as arguments without a dash, or filters with -tc and the like.
const char* selection() {
  std::vector<std::string> arguments = adapter::started_with();
  std::vector<char*> argv;
  for (std::string& one : arguments) argv.push_back(one.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(arguments.size());
  adapter::take_prefixed_options(&argc, argv.data());
  for (int i = 1; i < argc; ++i) {
    const std::string_view one = argv[static_cast<std::size_t>(i)];
    if (takes_next_word(one)) {
      ++i;
      continue;
    }
    if (!begins_with(one, "-") || begins_with(one, "-t") || begins_with(one, "--test") || begins_with(one, "--shard"))
      return "subset";
  }
  return "whole";
}

}  // namespace

void TestBodies::prepare(std::string build_type) {
  build_type_ = std::move(build_type);
  is_asked_ = true;
}

void TestBodies::run_start(const char* framework) {
  if (!is_asked_) return adapter::open_for_faults();
  adapter::Framework its;
  its.name = framework;
  its.build_type = build_type_;
  its.selection = selection();
  adapter::start_or_exit(its);
  is_started_ = true;
}

void TestBodies::run_end() {
  if (!is_started_) return;
  if (const int missing = std::exchange(tests_without_body_, 0); missing > 0) {
    adapter::note_problem({std::to_string(missing) + (missing == 1 ? " test" : " tests") +
                               " ran and could not be measured, the last of them " + test_ +
                               ": their bodies are not where syscost looks for them",
                           "measure the program as a whole: bench run --process"});
  }
  // The framework's own outcome of the run is not read.
  adapter::finish_tests({});
}

void TestBodies::test_start(const std::string& name, const names::TestPlace& place) {
  adapter::do_unseen([&] { test_ = names_.of(name, place); });
  if (is_started_) adapter::begin_tests({});
}

void TestBodies::body_start(bool can_fail) {
  {
    const std::lock_guard guard(failure_lock_);
    can_fail_ = can_fail;
  }
  if (!is_started_ || adapter::is_fork_child()) return;
  if (is_window_open_) return resume();
  adapter::WindowName name;
  name.test = test_;
  name.repetition = repetitions_[test_]++;
  is_window_open_ = true;
  adapter::open_window(name);
}

void TestBodies::body_end() {
  if (is_window_open_ && !adapter::is_fork_child()) {
    is_paused_ = true;
    adapter::pause_window();  // it may call fail()
  }
  const std::lock_guard guard(failure_lock_);
  can_fail_ = false;
}

void TestBodies::resume() {
  if (!is_paused_) return;
  is_paused_ = false;
  adapter::resume_window();
}

void TestBodies::test_end(const char* outcome) {
  // The body ended by an exception of its own after fail(), or a signal ended it: the test has failed anyway.
  std::string failure;
  {
    const std::lock_guard guard(failure_lock_);
    failure.swap(failure_);
  }
  if (!failure.empty()) adapter::say("test " + test_ + ": " + failure);
  if (!is_window_open_) {
    if (is_started_ && !adapter::is_fork_child()) ++tests_without_body_;
    return;
  }
  is_window_open_ = false;
  resume();
  const adapter::Report report = adapter::close_window(outcome);
  if (!adapter::prints_lines() || adapter::is_fork_child()) return;
  adapter::do_unseen([&] {
    for (const std::string& loop : report.loops)
      SYSCOST_LIBC(printf)("[ SYSCOST  ] %s: %s\n", test_.c_str(), loop.c_str());
    SYSCOST_LIBC(printf)("[ SYSCOST  ] %s: %s\n", test_.c_str(), report.line.c_str());
    for (const std::string& line : report.tools)
      SYSCOST_LIBC(printf)("[ SYSCOST  ] %s: %s\n", test_.c_str(), line.c_str());
    SYSCOST_LIBC(fflush)(stdout);
  });
}

bool TestBodies::fail(std::string_view message) {
  const std::lock_guard guard(failure_lock_);
  if (!can_fail_ || std::uncaught_exceptions() > 0) return false;
  failure_.append(failure_.empty() ? "" : "\n").append(message);
  return true;
}

void TestBodies::throw_failure() {
  std::string failure;
  {
    const std::lock_guard guard(failure_lock_);
    failure.swap(failure_);
  }
  if (!failure.empty()) throw std::runtime_error(failure);
}

void TestBodies::fail_by_exceptions() {
  static constexpr adapter::TestReporter kReporter = {
      // The frameworks print the test's line beside an exception, and not that of a Forbid.
      [](std::string_view message, const adapter::SourceLine& at) {
        return test_bodies().fail(at.before().append(message));
      },
      [](const Unavailable& why, const adapter::SourceLine& at) {
        const std::string text = "syscost: " + at.before() + why.reason + ' ' + why.how_to_fix;
        // It goes on: no version of the frameworks can be told to skip from here.
        if (adapter::skips_unavailable(why) || !test_bodies().fail(text))
          SYSCOST_LIBC(fprintf)(stderr, "%s\n", text.c_str());
      },
      nullptr};
  adapter::set_test_reporter(&kReporter);
}

TestBodies& test_bodies() {
  static auto* const its = new TestBodies;
  return *its;
}

}  // namespace syscost::bodies_adapter
