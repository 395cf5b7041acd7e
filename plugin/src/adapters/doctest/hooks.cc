// SPDX-License-Identifier: MIT
//
// Windows around the tests of doctest.
//
// Reporters hear of a test's start and end. Between the start and the body doctest sets signal handlers, so the window
// is around the body: at the start, our function takes the place of the body in the TestCase.
#include "adapters/bodies/test_bodies.h"

#include <algorithm>
#include <array>
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

namespace syscost::doctest_adapter {
namespace {

using namespace syscost::agent;  // NOLINT(google-build-using-namespace): what finds classes and reads their objects
using bodies_adapter::run_body;
using bodies_adapter::test_bodies;

// The slots of doctest::IReporter.
constexpr int kRunStart = 1;
constexpr int kRunEnd = 2;
constexpr int kTestStart = 3;
constexpr int kTestEnd = 5;

using Body = void (*)();

struct Doctest {
  Overridden reporters;
  std::vector<Module> modules;
  Body* place = nullptr;  ///< Where the running test keeps its body; null where ours does not stand there.
  Body body = nullptr;
  bool has_started = false;  ///< A run, of which each reporter hears.
  bool is_running = false;   ///< A test, of which the first reporter that hears tells us.
};
Doctest& doctest() {
  static auto* const its = new Doctest;
  return *its;
}

/// A test's name in our rows, and where it is.
struct Test {
  std::string name;
  names::TestPlace place;
};

/// TestCaseData. Since 2.5: the file's name, a line, the test's name, its suite. Before: doctest's string with the
/// file's name, a line, the test's name, its suite. That string is the text, with its free bytes counted in the last of
/// 24, or a pointer, a size and a capacity. So where a line and a pointer stand in the newer layout, a capacity does in
/// the older.
Test read_test(const void* test_case) {
  constexpr const char* kNoName = "(no name)";
  constexpr std::uintptr_t kLine = (std::uintptr_t{1} << 32U) - 1;
  const auto words = read_value<std::array<std::uintptr_t, 6>>(test_case);
  if (!words) return {kNoName, {test_case, {}, 0}};
  std::optional<std::string> file = read_bytes((*words)[0]);
  const std::optional<std::string> newer = file && (*words)[1] <= kLine ? read_bytes((*words)[2]) : std::nullopt;
  std::string name = (newer ? newer : read_bytes((*words)[4])).value_or("");
  if (name.empty()) name = kNoName;
  const std::string suite = read_bytes((*words)[newer ? 3 : 5]).value_or("");
  if (!file) file = read_bytes(reinterpret_cast<std::uintptr_t>(test_case));
  return {suite.empty() ? name : suite + "." + name, {test_case, file.value_or(""), (*words)[newer ? 1 : 3] & kLine}};
}

/// The tests of the program, which doctest keeps in a std::set. Before each is its node, as libstdc++ has them: colour,
/// parent, left, right. Empty where nothing of that kind lies there.
class Registry {
 public:
  static std::vector<const void*> all(const void* one) {
    Registry registry;
    const std::uintptr_t root = registry.root_above(reinterpret_cast<std::uintptr_t>(one) - sizeof(Node));
    if (root == 0 || !registry.take(root, 0)) return {};
    return std::move(registry.found_);
  }

 private:
  using Node = std::array<std::uintptr_t, 4>;
  static constexpr int kMostLevels = 100;
  enum Link { kColour, kParent, kLeft, kRight };

  static std::optional<Node> node_at(std::uintptr_t at) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the program's tree holds
    return read_value<Node>(reinterpret_cast<const void*>(at));
  }

  /// The set itself is the parent of the root, which is its parent. 0: this is no tree.
  static std::uintptr_t root_above(std::uintptr_t at) {
    for (int level = 0; level < kMostLevels; ++level) {
      const auto node = node_at(at);
      const auto parent = node ? node_at((*node)[kParent]) : std::nullopt;
      if (!parent) return 0;
      if ((*parent)[kParent] == at) return at;
      if ((*parent)[kLeft] != at && (*parent)[kRight] != at) return 0;
      at = (*node)[kParent];
    }
    return 0;
  }

  /// Adds the tests at and below `at`. False if this is no tree.
  bool take(std::uintptr_t at, int level) {
    const auto node = node_at(at);
    if (!node || level == kMostLevels) return false;
    const auto take_below = [&](Link side) {
      const std::uintptr_t child = (*node)[side];
      if (child == 0) return true;
      const auto its = node_at(child);
      return its && (*its)[kParent] == at && take(child, level + 1);
    };
    if (!take_below(kLeft)) return false;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the program's tree holds
    found_.push_back(reinterpret_cast<const void*>(at + sizeof(Node)));
    return take_below(kRight);
  }

  std::vector<const void*> found_;
};

void learn_names(const void* test_case) {
  const std::vector<const void*> all = Registry::all(test_case);
  if (all.empty()) return;
  test_bodies().names().set_all(
      all.size(), [&](std::size_t i) { return read_test(all[i]).name; },
      [&](std::size_t i) { return read_test(all[i]).place; });
}

void run_measured_body() {
  run_body(doctest().body);
}

/// TestCase is TestCaseData, and then the function that is the body: the first word there that points to a function.
Body* place_of_body(const void* test_case) {
  constexpr int kFirst = 5;
  constexpr int kLast = 17;
  auto* const words = static_cast<std::uintptr_t*>(const_cast<void*>(test_case));
  for (int i = kFirst; i < kLast; ++i) {
    const auto word = read_value<std::uintptr_t>(words + i);
    const bool is_body = word && std::any_of(doctest().modules.begin(), doctest().modules.end(),
                                             [&](const Module& module) { return module.has_function(*word); });
    if (is_body) return reinterpret_cast<Body*>(words + i);
  }
  return nullptr;
}

void on_run_start(const void* reporter) {
  if (!std::exchange(doctest().has_started, true)) test_bodies().run_start("doctest");
  doctest().reporters.call(reporter, kRunStart);
}

void on_run_end(const void* reporter, const void* stats) {
  if (std::exchange(doctest().has_started, false)) test_bodies().run_end();
  doctest().reporters.call(reporter, kRunEnd, stats);
}

void on_test_start(const void* reporter, const void* test_case) {
  doctest().reporters.call(reporter, kTestStart, test_case);
  if (doctest().is_running) return;
  doctest().is_running = true;
  static bool knows_names = false;
  Test test;
  Body* place = nullptr;
  adapter::do_unseen([&] {
    if (!std::exchange(knows_names, true)) learn_names(test_case);
    test = read_test(test_case);
    place = place_of_body(test_case);
  });
  test_bodies().test_start(test.name, test.place);
  if (place == nullptr) {
    adapter::refuse(
        {"the bodies of this program's tests are not found: its doctest is no version from 2.3.8 to 2.5.2, or "
         "constants lie among its code (gold, -z noseparate-code), and it has no unwind tables",
         "link it with -Wl,-z,separate-code, or measure it as a whole: bench run --process"});
  }
  doctest().place = place;
  doctest().body = *place;
  *place = run_measured_body;
}

/// CurrentTestCaseStats: two ints, a double, and the reasons of a failure as bits. Three of them mean: as it should be.
void on_test_end(const void* reporter, const void* stats) {
  if (doctest().is_running) {
    doctest().is_running = false;
    if (doctest().place != nullptr) *doctest().place = doctest().body;
    doctest().place = nullptr;
    constexpr unsigned kAsItShouldBe = 64 | 256 | 512;
    const auto reasons = read_value<unsigned>(static_cast<const char*>(stats) + 16);
    const bool has_passed = reasons && (*reasons == 0 || (*reasons & kAsItShouldBe) != 0);
    test_bodies().test_end(!reasons ? "" : has_passed ? "passed" : "failed");
  }
  doctest().reporters.call(reporter, kTestEnd, stats);
}

}  // namespace

bool hook(const Modules& modules) {
  const std::vector<Vtable> reporters = vtables_of_derived(modules, "N7doctest9IReporterE");
  if (reporters.empty()) return false;
  doctest().modules.assign(modules.begin(), modules.end());
  const auto put_in = [&](int slot, auto* function) {
    for (const Vtable& vtable : reporters) {
      if (slot >= vtable.count) continue;
      if (!doctest().reporters.put_in(modules, vtable, slot, reinterpret_cast<std::uintptr_t>(function))) {
        adapter::refuse({"this program's pages cannot be written, so its tests cannot be measured",
                         "measure it as a whole: bench run --process"});
      }
    }
  };
  put_in(kRunStart, on_run_start);
  put_in(kRunEnd, on_run_end);
  put_in(kTestStart, on_test_start);
  put_in(kTestEnd, on_test_end);
  // doctest compiled without exceptions throws none of its own either. A program of libc++ does not know ours.
  const bool has_exceptions = std::any_of(modules.begin(), modules.end(), [](const Module& module) {
    constexpr std::string_view kItsException = "N7doctest6detail20TestFailureExceptionE";
    return find_bytes(module, kItsException.data(), kItsException.size()) != nullptr;
  });
  if (has_exceptions && std::none_of(modules.begin(), modules.end(), mentions_libcxx)) {
    test_bodies().fail_by_exceptions();
  }
  return true;
}

}  // namespace syscost::doctest_adapter
