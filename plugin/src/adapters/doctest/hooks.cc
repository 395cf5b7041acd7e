// SPDX-License-Identifier: MIT
//
// Windows around the tests of doctest.
//
// Reporters hear of a test's start and end. Between the start and the body doctest sets signal handlers, so the window
// is around the body: at the start, our function takes the place of the body in the TestCase.
#include "adapters/doctest/hooks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/bodies/test_bodies.h"
#include "agent/find/overridden.h"
#include "agent/find/texts.h"
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
  bool is_running = false;  ///< A test, of which the first reporter that hears tells us.
};
Doctest& doctest() {
  static auto* const its = new Doctest;
  return *its;
}

/// A text that ends with NUL and has no control characters.
std::optional<std::string> text_at(std::uintptr_t at) {
  constexpr std::size_t kMost = 4096;
  std::string text;
  while (text.size() < kMost) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the program's object holds
    const auto one = read_value<char>(reinterpret_cast<const char*>(at) + text.size());
    if (!one) return std::nullopt;
    if (*one == '\0') return text;
    if (static_cast<unsigned char>(*one) < 0x20) return std::nullopt;
    text += *one;
  }
  return text;
}

/// TestCaseData. Since 2.5: the file's name, a line, the test's name, its suite. Before: the file's name in 24 bytes.
std::string name_of(const void* test_case) {
  const auto words = read_value<std::array<std::uintptr_t, 6>>(test_case);
  if (!words) return {};
  const std::optional<std::string> newer = text_at((*words)[0]) ? text_at((*words)[2]) : std::nullopt;
  const bool is_newer = newer && (*words)[1] < (std::uintptr_t{1} << 32U) && !newer->empty();
  const std::optional<std::string> name = is_newer ? newer : text_at((*words)[4]);
  const std::optional<std::string> suite = text_at((*words)[is_newer ? 3 : 5]);
  if (!suite || suite->empty()) return name.value_or("");
  return *suite + "." + name.value_or("");
}

void run_measured_body() {
  run_body(doctest().body);
}

/// TestCase is TestCaseData, and then the function that is the body: the first word there that points to code.
Body* place_of_body(const void* test_case) {
  constexpr int kFirst = 5;
  constexpr int kLast = 17;
  auto* const words = static_cast<std::uintptr_t*>(const_cast<void*>(test_case));
  for (int i = kFirst; i < kLast; ++i) {
    const auto word = read_value<std::uintptr_t>(words + i);
    const bool is_code = word && std::any_of(doctest().modules.begin(), doctest().modules.end(),
                                             [&](const Module& module) { return module.has_code(*word); });
    if (is_code) return reinterpret_cast<Body*>(words + i);
  }
  return nullptr;
}

void on_run_start(const void* reporter) {
  static bool is_started = false;
  if (!is_started) test_bodies().run_start("doctest");
  is_started = true;
  doctest().reporters.call(reporter, kRunStart);
}

void on_run_end(const void* reporter, const void* stats) {
  test_bodies().run_end();
  doctest().reporters.call(reporter, kRunEnd, stats);
}

void on_test_start(const void* reporter, const void* test_case) {
  doctest().reporters.call(reporter, kTestStart, test_case);
  if (doctest().is_running) return;
  doctest().is_running = true;
  test_bodies().test_start(name_of(test_case));
  Body* const place = place_of_body(test_case);
  if (place == nullptr) {
    adapter::refuse({"the tests of this program's doctest lie in memory as in no version from 2.3.8 to 2.5.2",
                     "measure it as a whole: bench run --process"});
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
