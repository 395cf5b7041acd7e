// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "csv_text.h"
#include "model/loader.h"
#include "model/run_selection.h"
#include "otlp/metrics.h"
#include "otlp/sender.h"
#include "otlp/spans.h"
#include "syscost/histogram.h"

namespace syscost::bench::otlp {
namespace {

using testing::header;
using testing::syscall_row;
using testing::test_row;

/// The spans of a text, by name; those of the processes are left out.
std::map<std::string, Span> spans_of(const std::string& text) {
  csv::Problems problems;
  model::LoadOptions load;
  load.keep_histograms = true;
  const model::Dataset data = model::load_text("out.csv", text, load, problems);
  std::map<std::string, Span> spans;
  for (const ProcessRun& process : process_runs(data, problems)) {
    const Span whole = process_span(data, process);
    spans["process " + std::to_string(process.pid)] = whole;
    for (const PlacedWindow& window : process.windows) {
      if (!window.is_span) continue;
      Span span = window_span(data, process, window);
      std::string name = span.name;
      if (spans.count(name) != 0) name += " again";
      spans[name] = std::move(span);
    }
  }
  EXPECT_TRUE(problems.empty());
  return spans;
}

TEST(UnixTime, IsExact) {
  EXPECT_EQ(model::unix_ns("1970-01-01T00:00:00Z"), 0U);
  EXPECT_EQ(model::unix_ns("2026-11-21T01:52:31.123456Z"), 1795225951123456000U);
  EXPECT_EQ(model::unix_ns("2024-02-29T23:59:59.999999999Z"), 1709251199999999999U);
  EXPECT_EQ(model::unix_ns("2026-11-21T03:52:31+02:00"), model::unix_ns("2026-11-21T01:52:31Z"));
  EXPECT_EQ(model::unix_ns("2026-11-20T23:22:31-02:30"), model::unix_ns("2026-11-21T01:52:31Z"));
  for (const char* text : {"", "Z", "2026-11-21", "2026-02-30T00:00:00Z", "1969-12-31T23:59:59Z",
                           "1970-01-01T00:00:00+01:00", "9999-01-01T00:00:00Z", "2026-11-21T01:52:31+0200"}) {
    EXPECT_FALSE(model::unix_ns(text).has_value()) << text;
  }
}

TEST(Ids, DifferWhereTheKeyDiffers) {
  EXPECT_EQ(trace_id_of("r1"), trace_id_of("r1"));
  EXPECT_NE(trace_id_of("r1"), trace_id_of("r2"));
  EXPECT_NE(key_of({"a", "b"}), key_of({"ab"}));
  EXPECT_NE(key_of({"a", ""}), key_of({"", "a"}));
  std::set<std::string> ids;
  for (int i = 0; i < 10'000; ++i) ids.insert(span_id_of(std::to_string(i)));
  EXPECT_EQ(ids.size(), 10'000U);
}

TEST(Layout, PutsWindowsOneAfterTheOtherFromTheStartOfTheirProcess) {
  const auto spans = spans_of(header() + test_row({{"test", "Log.A"}, {"wall_ns", "100"}}) +
                              test_row({{"test", "Log.B"}, {"wall_ns", "30"}}) +
                              test_row({{"test", "Log.C"}, {"wall_ns", "1"}, {"pid", "99"}}));
  const Span& a = spans.at("Log.A");
  EXPECT_EQ(a.end_unix_ns - a.start_unix_ns, 100U);
  EXPECT_EQ(spans.at("Log.B").start_unix_ns, a.end_unix_ns);
  EXPECT_EQ(spans.at("Log.B").parent_span_id, a.parent_span_id);
  EXPECT_EQ(spans.at("Log.C").start_unix_ns, a.start_unix_ns);
  EXPECT_NE(spans.at("Log.C").parent_span_id, a.parent_span_id);
  EXPECT_EQ(spans.at("Log.C").parent_span_id, spans.at("process 99").span_id);
  EXPECT_EQ(spans.at("Log.C").trace_id, a.trace_id);
}

TEST(Layout, PutsAScopeIntoItsTest) {
  const auto spans = spans_of(
      header() + test_row({{"test", "Log.A"}, {"wall_ns", "100"}}) +
      test_row({{"kind", "scope"}, {"test", "Log.B"}, {"window", "outer"}, {"wall_ns", "20"}, {"outcome", ""}}) +
      test_row({{"kind", "scope"},
                {"test", "Log.B"},
                {"window", "inner"},
                {"parent", "outer"},
                {"wall_ns", "10"},
                {"outcome", ""}}) +
      test_row({{"test", "Log.B"}, {"wall_ns", "50"}}));
  const Span& test = spans.at("Log.B");
  const Span& outer = spans.at("scope Log.B, outer");
  const Span& inner = spans.at("scope Log.B, inner in outer");
  EXPECT_EQ(test.start_unix_ns, spans.at("Log.A").end_unix_ns);
  EXPECT_EQ(outer.parent_span_id, test.span_id);
  EXPECT_EQ(inner.parent_span_id, outer.span_id);
  EXPECT_EQ(outer.start_unix_ns, test.start_unix_ns);
  EXPECT_EQ(inner.start_unix_ns, test.start_unix_ns);
}

TEST(Layout, DoesNotGuessInWhichRepetitionAScopeRan) {
  const auto spans = spans_of(header() + test_row({{"kind", "scope"}, {"window", "flush"}, {"outcome", ""}}) +
                              test_row() + test_row({{"repetition", "1"}}));
  EXPECT_EQ(spans.at("scope Suite.Test, flush").parent_span_id, spans.at("Suite.Test").parent_span_id);
}

TEST(Layout, SurvivesScopesThatNameEachOther) {
  const auto spans =
      spans_of(header() + test_row({{"kind", "scope"}, {"window", "a"}, {"parent", "b"}, {"outcome", ""}}) +
               test_row({{"kind", "scope"}, {"window", "b"}, {"parent", "a"}, {"outcome", ""}}) +
               test_row({{"kind", "scope"}, {"window", "c"}, {"parent", "c"}, {"outcome", ""}}));
  EXPECT_EQ(spans.size(), 4U);
}

TEST(Layout, TakesTheLargestNumbers) {
  const auto spans = spans_of(header() + test_row({{"test", "Log.A"}, {"wall_ns", "18446744073709551614"}}) +
                              test_row({{"test", "Log.B"}, {"wall_ns", "18446744073709551614"}}));
  for (const auto& [name, span] : spans) EXPECT_GE(span.end_unix_ns, span.start_unix_ns) << name;
}

TEST(SpanStatus, IsThatOfTheTest) {
  const auto spans =
      spans_of(header() + test_row({{"test", "A.Passed"}}) + test_row({{"test", "A.Failed"}, {"outcome", "failed"}}) +
               test_row({{"test", "A.Skipped"}, {"outcome", "skipped"}}) +
               test_row({{"test", "A.Died"}, {"outcome", ""}}) + syscall_row({{"test", "A.Killed"}}));
  EXPECT_EQ(spans.at("A.Passed").status, Status::ok);
  EXPECT_EQ(spans.at("A.Failed").status, Status::error);
  EXPECT_EQ(spans.at("A.Skipped").status, Status::unset);
  EXPECT_EQ(spans.at("A.Died").status, Status::error);
  EXPECT_NE(spans.at("A.Died").status_message, "");
  EXPECT_EQ(spans.at("A.Killed").status, Status::error);
}

/// The points of one window with one `write`.
std::vector<HistogramPoint> histograms_of(const std::string& histogram, std::uint64_t count, Buckets buckets) {
  csv::Problems problems;
  model::LoadOptions load;
  load.keep_histograms = true;
  const std::string text = std::to_string(count);
  const model::Dataset data = model::load_text("out.csv",
                                               header() +
                                                   syscall_row({{"histogram", histogram},
                                                                {"latency_count", text},
                                                                {"latency_sum_ns", "9"},
                                                                {"calls", text},
                                                                {"entries", text}}) +
                                                   test_row(),
                                               load, problems);
  std::vector<HistogramPoint> points;
  const PointHandler handle = {[](NumberPoint&&) {}, [&](HistogramPoint&& point) { points.push_back(point); }};
  for (const ProcessRun& process : process_runs(data, problems)) {
    for (const PlacedWindow& window : process.windows) window_points(data, process, window, buckets, handle, problems);
  }
  EXPECT_TRUE(problems.empty());
  return points;
}

TEST(HistogramPoint, HoldsEachBucketOfOursInOneOfItsOwn) {
  std::string text;
  for (std::size_t i = 0; i < kHistogramBuckets; ++i) text += std::to_string(histogram_lower_ns(i)) + ":1 ";
  text.pop_back();
  for (const Buckets buckets : {Buckets::octaves, Buckets::fine}) {
    const std::vector<HistogramPoint> points = histograms_of(text, kHistogramBuckets, buckets);
    ASSERT_EQ(points.size(), 1U);
    const std::vector<std::uint64_t>& bounds = *points[0].bounds;
    ASSERT_EQ(points[0].counts.size(), bounds.size() + 1);
    for (std::size_t i = 0; i < kHistogramBuckets; ++i) {
      // The first and the last value of a bucket of ours are in the same one of the point.
      const auto first = std::lower_bound(bounds.begin(), bounds.end(), histogram_lower_ns(i));
      if (i + 1 < kHistogramBuckets) {
        EXPECT_EQ(std::lower_bound(bounds.begin(), bounds.end(), histogram_upper_ns(i) - 1), first) << i;
      } else {
        EXPECT_EQ(first, bounds.end());  // longer values are counted there, too
      }
    }
    if (buckets == Buckets::fine) {
      EXPECT_EQ(points[0].counts, std::vector<std::uint64_t>(kHistogramBuckets, 1));
    } else {
      EXPECT_EQ(points[0].counts.size(), 34U);
      EXPECT_EQ(points[0].counts[1], 8U);
    }
  }
}

TEST(Points, SayWhichNumbersOtlpHasNoRoomFor) {
  csv::Problems problems;
  const model::Dataset data = model::load_text(
      "out.csv",
      header() + test_row({{"total_calls", "9223372036854775807"}, {"wall_ns", "9223372036854775808"}}) +
          syscall_row({{"calls", "9223372036854775808"}, {"bytes", "9223372036854775809"}}),
      {}, problems);
  std::map<std::string_view, std::int64_t> numbers;
  for (const ProcessRun& process : process_runs(data, problems)) {
    for (const PlacedWindow& window : process.windows) {
      window_points(
          data, process, window, Buckets::octaves,
          {[&](NumberPoint&& point) { numbers.emplace(point.metric->name, point.value); }, [](HistogramPoint&&) {}},
          problems);
    }
  }
  EXPECT_EQ(numbers.at("syscost.total_calls"), INT64_MAX);
  EXPECT_FALSE(numbers.contains("syscost.calls"));
  const std::vector<std::string> texts = problems.texts();
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0], "out.csv:2: syscost.wall_time: above 2^63 - 1, the most that OTLP has; left out");
  EXPECT_EQ(texts[1], "out.csv:3: syscost.calls, syscost.bytes: above 2^63 - 1, the most that OTLP has; left out");
}

TEST(Requests, AreHandedOverBeforeTheyAreTooLong) {
  std::vector<Request> taken;
  Requests requests(Signal::traces, [&](Request&& request) {
    taken.push_back(std::move(request));
    return true;
  });
  requests.begin_resource("{\"attributes\":[]}");
  Span span;
  span.name = std::string(1000, 'x');
  for (int i = 0; i < 3000; ++i) requests.add(span);
  requests.finish();
  requests.finish();
  ASSERT_EQ(taken.size(), 4U);
  std::size_t items = 0;
  for (const Request& request : taken) {
    EXPECT_LT(request.body.size(), Requests::kMostBytes + 20'000);
    EXPECT_TRUE(request.body.starts_with("{\"resourceSpans\":[{\"resource\":{\"attributes\":[]}"));
    items += request.items;
  }
  EXPECT_EQ(items, 3000U);
}

TEST(Requests, EndWithTheFirstThatFails) {
  int calls = 0;
  Requests requests(Signal::traces, [&](Request&&) {
    ++calls;
    return false;
  });
  requests.begin_resource("{}");
  for (int i = 0; i < 3; ++i) {
    requests.add(Span());
    requests.finish();
  }
  EXPECT_TRUE(requests.has_failed());
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace syscost::bench::otlp
