// SPDX-License-Identifier: MIT
//
// Windows around the tests of a GoogleTest that was not compiled with us.
//
// GoogleTest tells each event to one object of testing::internal::TestEventRepeater, which tells all listeners. Our
// functions stand in the slots of that class's vtable, so they are outside of every listener, the printer included: a
// window opens after all listeners heard of a start, and closes before they hear of an end.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/gtest/test_windows.h"
#include "agent/common/variables.h"
#include "agent/find/classes.h"
#include "agent/find/texts.h"
#include "agent/gtest/layouts.h"
#include "agent/hooks.h"
#include "syscost/adapter.h"
#include "syscost/counting.h"

namespace syscost::agent {
namespace {

using gtest::EventSlots;
using gtest::PartResult;

/// A version of GoogleTest in the program. Most programs have one.
struct Version {
  const std::uintptr_t* vtable = nullptr;
  const EventSlots* events = nullptr;
  bool may_be_libcxx = false;
};

/// Made before main() and never changed afterwards.
struct Repeaters {
  std::vector<Version> versions;
  Overridden functions;
};
Repeaters& repeaters() {
  static auto* const its = new Repeaters;
  return *its;
}

const Version& version_of(const void* repeater) {
  const auto* const vtable = *static_cast<const std::uintptr_t* const*>(repeater);
  const std::vector<Version>& all = repeaters().versions;
  return *std::find_if(all.begin(), all.end(), [&](const Version& one) { return one.vtable == vtable; });
}

/// How much GoogleTest's printer shows of tests.
enum class Printer { none, brief, full };

/// The run of this process's tests. Static objects are gone at the end of a process while threads may still fail tests.
struct Run {
  gtest_adapter::TestWindows windows;
  names::EqualNames names;
  std::string only_test;  ///< If one is to run, and it is known; else empty.
  /// Runs the program's tests now; null between two runs. A test of GoogleTest itself makes more of them. A program
  /// may hold two GoogleTests, of which each runs tests.
  std::atomic<const void*> repeater{nullptr};
  StringLayout strings = StringLayout::libstdcxx;
  std::size_t vector_at = 0;  ///< gtest::Suite::vector_at
  /// Its tests could not be read when they ran: they go on, and only how they end is told.
  std::atomic<bool> is_unmeasured{false};
  std::atomic<bool> has_failed{false};
  std::atomic<bool> is_skipped{false};
  std::atomic<bool> has_anything_failed{false};  ///< In a test or outside, since the last run of tests.
};
Run& run() {
  static auto* const its = new Run;
  return *its;
}

[[noreturn]] void refuse_version() {
  refuse("this program's GoogleTest is no version that syscost knows (1.8 to 1.18)",
         "link the program with syscost::gtest, or measure it as a whole: bench run --process");
}

const char* g_program = "";

using Note = bool (*)(const char* word, const char* text);
Note preloads_note() {
  return reinterpret_cast<Note>(dlsym(RTLD_DEFAULT, "syscost_preload_note"));
}

/// For what shows only when tests run already: to end the program now would be a verdict of ours.
void leave_unmeasured() {
  run().is_unmeasured = true;
  adapter::do_unseen([] {
    const Note note = preloads_note();
    if (note != nullptr && note(kNoteUnreadable, g_program)) return;
    adapter::say(
        "this program's GoogleTest is no version that syscost knows (1.8 to 1.18): its tests are not measured");
  });
}

bool is_ours(const void* repeater) {
  return run().repeater == repeater && gtest::forwards(repeater);
}
bool is_measured(const void* repeater) {
  return is_ours(repeater) && !run().is_unmeasured;
}

template <class... Arguments>
void pass_on(const void* repeater, int EventSlots::*event, Arguments... arguments) {
  repeaters().functions.call(repeater, version_of(repeater).events->*event, arguments...);
}

/// TestEventRepeater: vtable, a bool, the vector of listeners. A printer is known by its class's name; a program
/// without RTTI has no names, and nearly every program has the printer.
Printer printer_of(const void* repeater) {
  struct Listener {
    const void* const* slots;
  };
  struct Repeater {
    const void* slots;
    bool forwards;
  };
  struct Listeners {
    const Listener* const* begin;
    const Listener* const* end;
  };
  const char* const vector = static_cast<const char*>(repeater) + sizeof(Repeater) + run().vector_at;
  const auto& its = *reinterpret_cast<const Listeners*>(vector);
  for (const Listener* const* listener = its.begin; listener < its.end; ++listener) {
    const auto* const typeinfo = static_cast<const char* const*>((*listener)->slots[-1]);
    if (typeinfo == nullptr) return Printer::full;
    const std::string_view name = typeinfo[1];
    if (name.find("PrettyUnitTestResultPrinter") != std::string_view::npos) return Printer::full;
    if (name.find("BriefUnitTestResultPrinter") != std::string_view::npos) return Printer::brief;
  }
  return Printer::none;
}

// ---- the run's start ------------------------------------------------------------------------------------------------

std::string argument(std::string_view name, const char* variable) {
  const char* const from_environment = adapter::variable(variable);
  std::string value = from_environment != nullptr ? from_environment : "";
  for (const std::string& one : adapter::started_with()) {
    const std::string_view text = one;
    if (text.starts_with(name) && text.size() > name.size() && text[name.size()] == '=')
      value = text.substr(name.size() + 1);
  }
  return value;
}

/// How much of the program's tests runs. By the tests where they are found, else by the filter.
const char* selection(const void* unit_test, bool may_be_libcxx) {
  if (const auto suites = gtest::read_suites(unit_test, may_be_libcxx)) {
    std::vector<const gtest::Test*> all;
    std::vector<const gtest::Test*> chosen;
    std::size_t enabled = 0;
    for (const gtest::Suite& suite : *suites) {
      if (!suite.tests.empty()) run().vector_at = suite.vector_at;
      for (const gtest::Test& test : suite.tests) {
        all.push_back(&test);
        if (test.is_chosen) chosen.push_back(&test);
        enabled += test.is_disabled ? 0 : 1;
      }
    }
    names::EqualNames& names = run().names;
    names.set_all(
        all.size(), [&](std::size_t i) { return all[i]->name; }, [&](std::size_t i) { return all[i]->place; });
    if (chosen.size() == 1) run().only_test = names.of(chosen[0]->name, chosen[0]->place);
    return chosen.size() == 1 ? "isolated" : chosen.size() == enabled ? "whole" : "subset";
  }
  const std::string filter = argument("--gtest_filter", "GTEST_FILTER");
  if (filter.empty() || filter == "*") return adapter::variable("GTEST_TOTAL_SHARDS") != nullptr ? "subset" : "whole";
  return filter.find_first_of("*?:-") == std::string::npos ? "isolated" : "subset";
}

void on_program_start(const void* repeater, const void* unit_test) {
  pass_on(repeater, &EventSlots::program_start, unit_test);
  const void* none = nullptr;
  if (!gtest::forwards(repeater) || (!run().repeater.compare_exchange_strong(none, repeater) && none != repeater)) {
    return;
  }
  run().only_test.clear();
  run().is_unmeasured = false;
  run().strings = StringLayout::libstdcxx;
  run().vector_at = 0;
  adapter::Framework framework;
  framework.name = "GoogleTest";
  adapter::do_unseen([&] { framework.selection = selection(unit_test, version_of(repeater).may_be_libcxx); });
  adapter::start_or_exit(framework);
}

void on_iteration_start(const void* repeater, const void* unit_test, int iteration) {
  pass_on(repeater, &EventSlots::iteration_start, unit_test, iteration);
  if (is_measured(repeater)) run().windows.iteration_start();
}

// ---- windows --------------------------------------------------------------------------------------------------------

void begin_environments(const void* repeater, const void* unit_test, int EventSlots::*slot, const char* window) {
  pass_on(repeater, slot, unit_test);
  if (is_measured(repeater)) run().windows.environments_start(window, run().only_test);
}
void end_environments(const void* repeater, const void* unit_test, int EventSlots::*slot) {
  if (is_measured(repeater)) run().windows.environments_end();
  pass_on(repeater, slot, unit_test);
}
void on_set_up_start(const void* repeater, const void* unit_test) {
  begin_environments(repeater, unit_test, &EventSlots::set_up_start, "set-up");
}
void on_set_up_end(const void* repeater, const void* unit_test) {
  end_environments(repeater, unit_test, &EventSlots::set_up_end);
}
void on_tear_down_start(const void* repeater, const void* unit_test) {
  begin_environments(repeater, unit_test, &EventSlots::tear_down_start, "tear-down");
}
void on_tear_down_end(const void* repeater, const void* unit_test) {
  end_environments(repeater, unit_test, &EventSlots::tear_down_end);
}

std::optional<gtest::Suite> read_suite(const void* test_suite, bool may_be_libcxx) {
  for (const StringLayout layout : {StringLayout::libstdcxx, StringLayout::libcxx, StringLayout::libstdcxx_old}) {
    if (layout == StringLayout::libcxx && !may_be_libcxx) continue;
    std::optional<gtest::Suite> suite = gtest::read_suite(test_suite, layout);
    if (!suite || suite->tests.empty()) continue;
    run().strings = layout;
    run().vector_at = suite->vector_at;
    return suite;
  }
  return std::nullopt;
}

void on_suite_start(const void* repeater, const void* test_suite) {
  pass_on(repeater, &EventSlots::suite_start, test_suite);
  if (!is_measured(repeater)) return;
  std::optional<gtest::Suite> suite;
  adapter::do_unseen([&] { suite = read_suite(test_suite, version_of(repeater).may_be_libcxx); });
  if (!suite) {
    leave_unmeasured();
    return;
  }
  run().windows.suite_start(suite->name, suite->chosen());
}
void on_suite_end(const void* repeater, const void* test_suite) {
  if (is_measured(repeater)) run().windows.suite_end();
  pass_on(repeater, &EventSlots::suite_end, test_suite);
}

void say_that_numbers_depend_on_order() {
  static bool is_said = false;
  if (run().names.has_all() || std::exchange(is_said, true)) return;
  adapter::say(
      "the list of this program's tests cannot be read, so tests with equal names are numbered as they run\n"
      "  fix: run all tests in one order, give them names of their own, or link syscost::gtest");
}

void on_test_start(const void* repeater, const void* test_info) {
  const bool measures = is_measured(repeater);
  if (measures) run().windows.before_test();
  pass_on(repeater, &EventSlots::test_start, test_info);
  if (!measures) return;
  run().has_failed = run().is_skipped = false;
  std::string name;
  adapter::do_unseen([&] {
    const std::optional<gtest::Test> test = gtest::read_test(test_info, run().strings);
    if (!test) return;
    name = run().names.of(test->name, test->place);
    if (name != test->name) say_that_numbers_depend_on_order();
  });
  if (name.empty()) {
    leave_unmeasured();
  } else {
    run().windows.test_start(name);
  }
}

void on_test_disabled(const void* repeater, const void* test_info) {
  pass_on(repeater, &EventSlots::test_disabled, test_info);
  if (is_measured(repeater) && printer_of(repeater) == Printer::full) run().windows.note_printed_line();
}

/// Any thread, and in any world: it uses nothing that belongs to a thread.
void see_part_result(const void* repeater, const void* part_result) {
  const PartResult result = gtest::read_part_result(part_result);
  if (is_ours(repeater) && result != PartResult::success) {
    (result == PartResult::skip ? run().is_skipped : run().has_failed) = true;
    if (result != PartResult::skip) run().has_anything_failed = true;
    if (is_measured(repeater) && printer_of(repeater) != Printer::none) run().windows.note_printed_line();
  }
}

void on_part_result(const void* repeater, const void* part_result) {
  see_part_result(repeater, part_result);
  pass_on(repeater, &EventSlots::part_result, part_result);
}

void print(const adapter::Report& report) {
  for (const std::string& loop : report.loops) std::printf("[ SYSCOST  ] %s\n", loop.c_str());
  std::printf("[ SYSCOST  ] %s\n", report.line.c_str());
  for (const std::string& line : report.tools) std::printf("[ SYSCOST  ] %s\n", line.c_str());
  std::fflush(stdout);
}

/// The running test's, so far.
const char* outcome() {
  if (run().has_failed) return "failed";
  return run().is_skipped ? "skipped" : "passed";
}

void on_test_end(const void* repeater, const void* test_info) {
  const bool measures = is_measured(repeater);
  if (measures) {
    const adapter::Report report = adapter::close_unsettled(outcome(), run().windows.printed_lines());
    if (adapter::prints_lines() && !adapter::is_fork_child()) adapter::do_unseen([&] { print(report); });
  }
  pass_on(repeater, &EventSlots::test_end, test_info);
  if (!measures) return;
  adapter::settle_outcome(outcome());  // a listener may have failed the test
  run().windows.after_test(0);
}

void on_program_end(const void* repeater, const void* unit_test) {
  if (is_ours(repeater)) {
    adapter::finish_tests(run().has_anything_failed ? "failed" : "passed");
    run().repeater = nullptr;
    run().has_anything_failed = false;
  }
  pass_on(repeater, &EventSlots::program_end, unit_test);
}

// ---- putting them in ------------------------------------------------------------------------------------------------

constexpr const char* kRepeater = "N7testing8internal17TestEventRepeaterE";

/// If the listener of syscost::gtest hears this start, its session has stopped the preload. So if the preload still
/// passes on, no listener is there, and the tests have no rows.
void on_start_beside_linked(const void* repeater, const void* unit_test) {
  pass_on(repeater, &EventSlots::program_start, unit_test);
  if (!gtest::forwards(repeater)) return;
  auto* const is_passing_on = reinterpret_cast<bool (*)()>(dlsym(RTLD_DEFAULT, "syscost_preload_is_passing_on"));
  const Note note = preloads_note();
  if (is_passing_on != nullptr && note != nullptr && is_passing_on()) note(kNoteBeside, g_program);
}

/// By two texts that each version has: a program may print the first by itself.
bool holds_gtest(const Modules& modules) {
  const auto holds = [&](std::string_view text) {
    return std::any_of(modules.begin(), modules.end(),
                       [&](const Module& module) { return find_bytes(module, text.data(), text.size()) != nullptr; });
  };
  return holds("[ RUN      ] ") && holds("internal_run_death_test");
}

void hook(const Modules& modules, const Vtable& vtable) {
  const EventSlots* const events = gtest::event_slots(vtable.count);
  if (events == nullptr) refuse_version();
  const bool may_be_libcxx = std::any_of(modules.begin(), modules.end(), mentions_libcxx);
  repeaters().versions.push_back({vtable.slots, events, may_be_libcxx});
  run();  // made now: see_part_result() must not allocate
  const auto check = [](bool is_in) {
    if (is_in) return;
    refuse("this program's pages cannot be written, so its tests cannot be measured",
           "link the program with syscost::gtest");
  };
  Overridden& functions = repeaters().functions;
  const auto put_in = [&](int slot, auto* function) {
    if (slot == gtest::kNoSuchEvent) return;
    check(functions.put_in(modules, vtable, slot, reinterpret_cast<std::uintptr_t>(function)));
  };
  put_in(events->program_start, on_program_start);
  put_in(events->iteration_start, on_iteration_start);
  put_in(events->set_up_start, on_set_up_start);
  put_in(events->set_up_end, on_set_up_end);
  put_in(events->suite_start, on_suite_start);
  put_in(events->test_start, on_test_start);
  put_in(events->test_disabled, on_test_disabled);
  if (worlds() != nullptr) {
    check(
        functions.put_before(modules, vtable, events->part_result, reinterpret_cast<std::uintptr_t>(&see_part_result)));
  } else {
    put_in(events->part_result, on_part_result);
  }
  put_in(events->test_end, on_test_end);
  put_in(events->suite_end, on_suite_end);
  put_in(events->tear_down_start, on_tear_down_start);
  put_in(events->tear_down_end, on_tear_down_end);
  put_in(events->program_end, on_program_end);
}

}  // namespace

void watch_unlinked_gtest(const Modules& modules, const char* program) {
  g_program = program;
  const std::vector<Vtable> vtables = vtables_by_typeinfo(modules, kRepeater);
  if (vtables.size() < 2) return;
  for (const Vtable& vtable : vtables) {
    const EventSlots* const events = gtest::event_slots(vtable.count);
    if (events == nullptr) continue;
    repeaters().versions.push_back({vtable.slots, events, false});
    static_cast<void>(repeaters().functions.put_in(modules, vtable, events->program_start,
                                                   reinterpret_cast<std::uintptr_t>(on_start_beside_linked)));
  }
}

bool hook_gtest(const Modules& modules, const char* program) {
  g_program = program;
  std::vector<Vtable> vtables = vtables_by_typeinfo(modules, kRepeater);
  if (vtables.empty()) vtables = vtables_by_symbol(modules, "_ZTVN7testing8internal17TestEventRepeaterE");
  if (vtables.empty() && holds_gtest(modules)) {
    vtables = repeaters_by_shape(modules);
    // Two classes of this shape: one of them is the user's, and it is not known which.
    if (vtables.size() != 1) {
      adapter::say(
          "GoogleTest is in this program, but its class TestEventRepeater was not found: its tests are not measured\n"
          "  fix: build it with RTTI, or do not strip it");
      return false;
    }
  }
  for (const Vtable& vtable : vtables) hook(modules, vtable);
  return !vtables.empty();
}

}  // namespace syscost::agent
