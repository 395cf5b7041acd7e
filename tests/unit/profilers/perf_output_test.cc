// SPDX-License-Identifier: MIT
//
// Output of perf 6.1, and the figures that are read from it.
#include "extras/profilers/perf/perf_profiler.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace syscost::profilers {
namespace {

constexpr const char* kStat =
    "Events disabled\nEvents enabled\nEvents disabled\n"
    R"({"counter-value" : "0.101019", "unit" : "msec", "event" : "task-clock", "event-runtime" : 101019, "pcnt-running" : 100.00, "metric-value" : 0.000055, "metric-unit" : "CPUs utilized"})"
    "\n"
    R"({"counter-value" : "3.000000", "unit" : "", "event" : "page-faults", "event-runtime" : 101019, "pcnt-running" : 50.00, "metric-value" : 0.000000, "metric-unit" : "/sec"})"
    "\n"
    R"({"counter-value" : "<not supported>", "unit" : "", "event" : "cycles", "event-runtime" : 0, "pcnt-running" : 100.00, "metric-value" : 0.000000, "metric-unit" : ""})"
    "\n"
    R"({"counter-value" : "<not supported>", "unit" : "", "event" : "branches", "event-runtime" : 0, "pcnt-running" : 100.00, "metric-value" : 0.000000, "metric-unit" : ""})"
    "\n";

TEST(PerfCounters, HaveAValueOrTheReasonThatThereIsNone) {
  const Result<std::vector<PerfCounter>> counters = read_counters(kStat);
  ASSERT_TRUE(counters.ok());
  ASSERT_EQ(counters.value().size(), 4U);
  EXPECT_EQ(counters.value()[0].value, 0.101019);
  EXPECT_EQ(counters.value()[1].percent_counted, 50);
  EXPECT_EQ(counters.value()[2].value, std::nullopt);
  EXPECT_EQ(counters.value()[2].reason, "<not supported>");
  EXPECT_EQ(summary_of(counters.value()),
            "  task-clock         0.101019 msec\n"
            "  page-faults        3\n"
            "  n/a: cycles, branches: <not supported>\n");
  const nlohmann::json json = nlohmann::json::parse(to_json(counters.value()));
  EXPECT_EQ(json["counters"][1]["percent_counted"], 50);
  EXPECT_FALSE(json["counters"][2].contains("value"));
}

TEST(PerfCounters, OfAnotherShapeAreReadOrLeftOutAndNeverThrow) {
  const Result<std::vector<PerfCounter>> counters =
      read_counters(R"({"counter-value" : 7, "unit" : null, "event" : "page-faults", "pcnt-running" : "100.00"})"
                    "\n{\"counter-value\" : \"1\", \"event\" : 5}\n[1]\n{\n");
  ASSERT_TRUE(counters.ok());
  ASSERT_EQ(counters.value().size(), 1U);
  EXPECT_EQ(counters.value()[0].value, 7);
  EXPECT_FALSE(read_counters("").ok());
  EXPECT_FALSE(read_counters("Events enabled\n").ok());
}

TEST(PerfStacks, AreNotThereWhereNoSampleWasTaken) {
  EXPECT_FALSE(has_stacks(""));
  EXPECT_FALSE(has_stacks(R"({"n": "all", "l": "root", "v": 0, "c": []})"));
  EXPECT_FALSE(has_stacks(R"(<script>var stacks = [{"n": "all", "l": "root", "v": 0, "c": []}];</script>)"));
  EXPECT_TRUE(has_stacks(
      R"({"n": "all", "l": "root", "v": 0, "c": [{"n": "a", "l": "", "v": 0, "c": [{"n": "f", "l": "", "v": 1, "c": []}]
}]
})"));
}

}  // namespace
}  // namespace syscost::profilers
