// SPDX-License-Identifier: MIT
//
// Windows around the tests of Catch2, version 2 and 3.
//
// Reporters hear of a test's start and end; the body runs in a class that derives from ITestInvoker. A reporter may
// pass events on to others, so the outermost call counts.
#include "adapters/bodies/test_bodies.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/names/equal_names.h"
#include "agent/find/classes.h"
#include "agent/find/texts.h"
#include "syscost/adapter.h"
#include "syscost/counting.h"

namespace syscost::catch2_adapter {
namespace {

using namespace syscost::agent;  // NOLINT(google-build-using-namespace): what finds classes and reads their objects
using bodies_adapter::run_body;
using bodies_adapter::test_bodies;

/// Where the reporters' functions stand, by the order of their declarations.
struct ReporterSlots {
  int run_start, test_start, test_end, run_end;
};
constexpr ReporterSlots kVersion3{4, 5, 16, 17};
/// Version 2's, where benchmarks are left out, and where they are not (CATCH_CONFIG_ENABLE_BENCHMARKING).
constexpr ReporterSlots kVersion2{5, 7, 12, 14};
constexpr ReporterSlots kVersion2Benchmarks{5, 7, 16, 18};
constexpr int kSlotsOfVersion2 = 18;
constexpr int kSlotsOfVersion2Benchmarks = 22;

struct Catch2 {
  Overridden reporters;
  Overridden invokers;
  Overridden hubs;
  const void* registry = nullptr;  ///< Version 3's list of tests, when Catch2 has asked for it.
  ReporterSlots slots{};
  bool is_version_2 = false;
  bool may_be_libcxx = false;
  int depth = 0;  ///< How many reporters are passing an event on.
};
Catch2& catch2() {
  static auto* const its = new Catch2;
  return *its;
}

/// Calls the reporter's own function for an event; `before` is called once, before the outermost.
template <class Before, class... Arguments>
void pass_on(const void* reporter, int slot, Before before, Arguments... arguments) {
  struct Depth {
    Depth() { ++catch2().depth; }
    ~Depth() { --catch2().depth; }
  };
  if (catch2().depth == 0) before();
  const Depth depth;
  catch2().reporters.call(reporter, slot, arguments...);
}

StringLayout strings_of(const void* first) {
  for (const StringLayout layout : {StringLayout::libstdcxx, StringLayout::libcxx, StringLayout::libstdcxx_old}) {
    if (layout == StringLayout::libcxx && !catch2().may_be_libcxx) continue;
    if (read_string(first, layout)) return layout;
  }
  return StringLayout::libstdcxx;
}

/// Reads `count` numbers at `at`. If exactly one of them is 1 and the others are 0, returns its index; else nothing.
std::optional<std::size_t> single_one(const void* at, std::size_t count) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = read_value<std::uint64_t>(static_cast<const std::uint64_t*>(at) + i);
    if (!value || *value > 1 || (*value == 1 && found)) return std::nullopt;
    if (*value == 1) found = i;
  }
  return found;
}

/// TestCaseStats has the totals of assertions, and then those of tests, of which this one is one: passed, failed,
/// failed as it should; skipped, since 3.3.
const char* outcome(const void* stats) {
  constexpr std::array kOutcomes = {"passed", "failed", "passed", "skipped"};
  const char* const bytes = static_cast<const char*>(stats);
  std::optional<std::size_t> which;
  if (catch2().is_version_2) {
    // vtable; TestCaseInfo: three strings, two vectors, a place in a file, a number; an int; three counts.
    constexpr std::size_t kBesideStrings = 8 + 2 * 24 + 16 + 8 + 8 + 3 * 8;
    which = single_one(bytes + kBesideStrings + 3 * string_bytes(strings_of(bytes + 8)), 3);
  } else {
    constexpr std::size_t kPointer = 8;
    which = single_one(bytes + kPointer + 4 * 8, 4);
    if (!which) which = single_one(bytes + kPointer + 3 * 8, 3);
  }
  return which ? kOutcomes[*which] : "";
}

void on_run_start(const void* reporter, const void* info) {
  pass_on(
      reporter, catch2().slots.run_start, [] { test_bodies().run_start("Catch2"); }, info);
}

void on_run_end(const void* reporter, const void* stats) {
  pass_on(
      reporter, catch2().slots.run_end, [] { test_bodies().run_end(); }, stats);
}

// ---- names ----------------------------------------------------------------------------------------------------------

/// A test's name in our rows, and where it is.
struct Test {
  std::string name;
  names::TestPlace place;
};

/// TestCaseInfo begins with the test's name. In version 3 follow a pointer and a length, a string, a vector, and the
/// place in a file. In version 2 no two tests have one name, so the name tells them apart, also where two look the
/// same.
Test read_test(const void* info) {
  const StringLayout layout = strings_of(info);
  Test test{read_string(info, layout).value_or(""), {}};
  if (catch2().is_version_2) {
    test.place.file = test.name;
    return test;
  }
  const std::size_t place = 2 * string_bytes(layout) + 2 * sizeof(void*) + 3 * sizeof(void*);
  const auto words = read_value<std::array<std::uintptr_t, 2>>(static_cast<const char*>(info) + place);
  if (words) test.place = {info, read_bytes((*words)[0]).value_or(""), (*words)[1]};
  return test;
}

/// TestRegistry begins, after its vtable, with a vector of pointers to TestCaseInfo.
void learn_names() {
  const void* const registry = catch2().registry;
  if (registry == nullptr) return;
  std::optional<VectorWords> words = VectorWords::of(static_cast<const char*>(registry) + sizeof(void*));
  std::vector<const void*> all;
  while (words && words->left() > 0) {
    const std::optional<std::uintptr_t> word = words->next();
    if (!word) return;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the program's vector holds
    all.push_back(reinterpret_cast<const void*>(*word));
  }
  if (!words) return;
  test_bodies().names().set_all(
      all.size(), [&](std::size_t i) { return read_test(all[i]).name; },
      [&](std::size_t i) { return read_test(all[i]).place; });
}

/// Where IRegistryHub, the first of its bases, has getTestCaseRegistry().
constexpr int kTestRegistrySlot = 3;

const void* on_test_registry(const void* hub) {
  return catch2().registry = catch2().hubs.call_for<const void*>(hub, kTestRegistrySlot);
}

void on_test_start(const void* reporter, const void* info) {
  const auto begin = [info] {
    static bool knows_names = false;
    Test test;
    adapter::do_unseen([&] {
      if (!std::exchange(knows_names, true)) learn_names();
      test = read_test(info);
    });
    test_bodies().test_start(test.name, test.place);
  };
  pass_on(reporter, catch2().slots.test_start, begin, info);
}

void on_test_end(const void* reporter, const void* stats) {
  pass_on(
      reporter, catch2().slots.test_end, [stats] { test_bodies().test_end(outcome(stats)); }, stats);
}

/// Code that prepares and ends a fixture that stays runs where an exception would end the program.
enum class Part { body, fixture };

template <int Slot, Part Its>
void on_body(const void* invoker) {
  run_body([invoker] { catch2().invokers.call(invoker, Slot); }, Its == Part::body);
}

template <class Function>
void put_in(Overridden& overridden, const Modules& modules, const std::vector<Vtable>& vtables, int slot,
            Function* function) {
  for (const Vtable& vtable : vtables) {
    if (slot >= vtable.count) continue;
    if (!overridden.put_in(modules, vtable, slot, reinterpret_cast<std::uintptr_t>(function))) {
      adapter::refuse({"this program's pages cannot be written, so its tests cannot be measured",
                       "measure it as a whole: --process"});
    }
  }
}

int least_slots(const std::vector<Vtable>& vtables, int enough) {
  int least = 0;
  for (const Vtable& vtable : vtables) {
    if (vtable.count >= enough && (least == 0 || vtable.count < least)) least = vtable.count;
  }
  return least;
}

}  // namespace

bool hook(const Modules& modules) {
  Catch2& its = catch2();
  std::vector<Vtable> reporters = vtables_of_derived(modules, "N5Catch14IEventListenerE");
  its.slots = kVersion3;
  if (reporters.empty()) {
    reporters = vtables_of_derived(modules, "N5Catch18IStreamingReporterE");
    its.is_version_2 = true;
    const bool has_benchmarks = least_slots(reporters, kSlotsOfVersion2) >= kSlotsOfVersion2Benchmarks;
    its.slots = has_benchmarks ? kVersion2Benchmarks : kVersion2;
  }
  const std::vector<Vtable> invokers = vtables_of_derived(modules, "N5Catch12ITestInvokerE");
  if (reporters.empty() || invokers.empty()) return false;
  its.may_be_libcxx = std::any_of(modules.begin(), modules.end(), mentions_libcxx);
  put_in(its.reporters, modules, reporters, its.slots.run_start, on_run_start);
  put_in(its.reporters, modules, reporters, its.slots.test_start, on_test_start);
  put_in(its.reporters, modules, reporters, its.slots.test_end, on_test_end);
  put_in(its.reporters, modules, reporters, its.slots.run_end, on_run_end);
  if (!its.is_version_2) {
    put_in(its.hubs, modules, vtables_of_derived(modules, "N5Catch12IRegistryHubE"), kTestRegistrySlot,
           on_test_registry);
  }
  // ITestInvoker has invoke() and two destructors; since 3.7, before them, what prepares and ends a fixture that stays.
  constexpr int kSlotsSince37 = 5;
  if (least_slots(invokers, 3) >= kSlotsSince37) {
    put_in(its.invokers, modules, invokers, 0, on_body<0, Part::fixture>);
    put_in(its.invokers, modules, invokers, 1, on_body<1, Part::fixture>);
    put_in(its.invokers, modules, invokers, 2, on_body<2, Part::body>);
  } else {
    put_in(its.invokers, modules, invokers, 0, on_body<0, Part::body>);
  }
  // Catch2 compiled without exceptions throws none of its own either. A program of libc++ does not know ours.
  const bool has_exceptions = std::any_of(modules.begin(), modules.end(), [](const Module& module) {
    constexpr std::string_view kItsException = "N5Catch20TestFailureExceptionE";
    return find_bytes(module, kItsException.data(), kItsException.size()) != nullptr;
  });
  if (has_exceptions && !its.may_be_libcxx) test_bodies().fail_by_exceptions();
  return true;
}

}  // namespace syscost::catch2_adapter
