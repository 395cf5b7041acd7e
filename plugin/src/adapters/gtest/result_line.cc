// SPDX-License-Identifier: MIT
#include "adapters/gtest/result_line.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "adapters/gtest/versions.h"
#include "libc/symbols.h"
#include "syscost/counting.h"

namespace syscost::gtest_adapter {
namespace {

bool has_property(const testing::TestInfo& test, const std::string& name) {
  const testing::TestResult& result = *test.result();
  for (int i = 0; i < result.test_property_count(); ++i) {
    if (name == result.GetTestProperty(i).key()) return true;
  }
  return false;
}

/// GoogleTest records ints and strings only, and ints are too short for nanoseconds: numbers go as strings.
void record(const testing::TestInfo& test, const std::string& name, std::uint64_t value) {
  if (!has_property(test, name)) return testing::Test::RecordProperty(name, std::to_string(value));
  adapter::say("test " + full_name(test) + " records the property " + name +
               " itself: its value stays, and ours is left out");
}

void record(const testing::TestInfo& test, const std::string& name, const Count& count) {
  if (std::optional<std::uint64_t> value = count.value()) record(test, name, *value);
}

/// A name fit for XML attributes and JSON keys: letters, digits and underscores.
std::string property_name(std::string text) {
  for (char& c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!is_plain) c = '_';
  }
  return text;
}

/// Would GoogleTest colour its output? Its own answer is internal, so the same questions are asked; NO_COLOR counts
/// more.
bool uses_colour() {
  const char* no_color = adapter::variable("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const std::string color = SYSCOST_GTEST_FLAG(color);
  if (SYSCOST_LIBC(strcasecmp)(color.c_str(), "auto") != 0) {
    return SYSCOST_LIBC(strcasecmp)(color.c_str(), "yes") == 0 ||
           SYSCOST_LIBC(strcasecmp)(color.c_str(), "true") == 0 || SYSCOST_LIBC(strcasecmp)(color.c_str(), "t") == 0 ||
           color == "1";
  }
  const char* term = adapter::variable("TERM");
  static const bool is_terminal = SYSCOST_LIBC(isatty)(STDOUT_FILENO) != 0;
  return is_terminal && term != nullptr && *term != '\0' && SYSCOST_LIBC(strcmp)(term, "dumb") != 0;
}

/// False when it is known that the test itself made no syscall. A backend may know entries only, or calls only; asking
/// it to compare what it does not know would end the user's test as one that cannot be measured.
bool may_have_counted(const adapter::Report& report) {
  for (const Count& count : {report.cost.entries(report.counted), report.cost.calls(report.counted)}) {
    if (std::optional<std::uint64_t> value = count.value()) return *value != 0;
  }
  return true;
}

}  // namespace

void record_properties(const adapter::Report& report, const testing::TestInfo& test) {
  const Count calls = report.cost.calls(report.counted);
  const Count entries = report.cost.entries(report.counted);
  record(test, "syscost_calls", calls);
  record(test, "syscost_entries", entries);
  record(test, "syscost_errors", report.cost.errors(report.counted));
  record(test, "syscost_kernel_ns", report.cost.kernel_ns(report.counted));
  record(test, "syscost_lost", report.cost.lost());
  // A number of one syscall is 0 also where the backend does not measure it.
  for (const SyscallCost& syscall : report.cost.syscalls()) {
    const std::string name = property_name(syscall.name);
    if (calls.value().has_value()) {
      record(test, "syscost_calls_" + name, syscall.calls);
    } else if (entries.value().has_value()) {
      record(test, "syscost_entries_" + name, syscall.entries);
    }
  }
}

void print_line(const adapter::Report& report, const std::string& test) {
  // Through stdio, like GoogleTest's printer, so that the two stay in order.
  const bool colour = uses_colour();
  const auto print = [&](const std::string& line) {
    SYSCOST_LIBC(printf)
    ("%s[ SYSCOST  ] %s%s%s%s\n", colour ? "\033[0;36m" : "", colour ? "\033[m" : "", test.c_str(),
     test.empty() ? "" : ": ", line.c_str());
  };
  for (const std::string& loop : report.loops) print(loop);
  // A test that is nothing but its loops has nothing else to say.
  if (report.loops.empty() || may_have_counted(report)) {
    print(report.line);
    for (const std::string& line : report.tools) print(line);
  }
  SYSCOST_LIBC(fflush)(stdout);
}

}  // namespace syscost::gtest_adapter
