// SPDX-License-Identifier: MIT
#include "agent/test_bodies.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "agent/hooks.h"
#include "syscost/adapter.h"
#include "syscost/counting.h"

namespace syscost::agent {
namespace {

/// Both frameworks take the names of tests as arguments without a dash, or filters with -tc and the like.
const char* selection() {
  const std::vector<std::string> arguments = adapter::started_with();
  const bool selects =
      std::any_of(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end(), [](const std::string& one) {
        return !one.starts_with('-') || one.starts_with("-t") || one.starts_with("--test") ||
               one.starts_with("--shard");
      });
  return selects ? "subset" : "whole";
}

}  // namespace

void TestBodies::run_start(const char* framework) {
  leave_children_alone();
  adapter::Framework its;
  its.name = framework;
  its.selection = selection();
  adapter::start_or_exit(its);
  is_started_ = true;
}

void TestBodies::run_end() {
  if (is_started_) adapter::finish();
}

void TestBodies::test_start(const std::string& name) {
  test_ = name;
}

void TestBodies::body_start() {
  if (!is_started_ || adapter::is_fork_child()) return;
  if (is_window_open_) return adapter::resume_window();
  adapter::WindowName name;
  name.test = test_;
  name.repetition = repetitions_[test_]++;
  is_window_open_ = true;
  adapter::open_window(name);
}

void TestBodies::body_end() {
  if (is_window_open_ && !adapter::is_fork_child()) adapter::pause_window();
}

void TestBodies::test_end(const char* outcome) {
  if (!is_window_open_) return;
  is_window_open_ = false;
  adapter::resume_window();
  const adapter::Report report = adapter::close_window(outcome);
  if (!adapter::prints_lines() || adapter::is_fork_child()) return;
  for (const std::string& loop : report.loops) std::printf("[ SYSCOST  ] %s: %s\n", test_.c_str(), loop.c_str());
  std::printf("[ SYSCOST  ] %s: %s\n", test_.c_str(), report.line.c_str());
  for (const std::string& line : report.tools) std::printf("[ SYSCOST  ] %s: %s\n", test_.c_str(), line.c_str());
  std::fflush(stdout);
}

TestBodies& test_bodies() {
  static auto* const its = new TestBodies;
  return *its;
}

}  // namespace syscost::agent
