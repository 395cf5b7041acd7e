// SPDX-License-Identifier: MIT
//
// Many rows at once: none is lost between reader, model and summary.
#include <gtest/gtest.h>

#include <sstream>

#include "make_rows.h"
#include "model/group.h"
#include "model/loader.h"
#include "stats/window_summary.h"

namespace syscost::bench {
namespace {

TEST(Volume, EveryGeneratedRowIsCounted) {
  perf::MakeRows shape;
  shape.syscall_rows = 20'000;
  std::ostringstream text;
  const std::uint64_t rows = perf::make_rows(shape, text);
  csv::Problems problems;
  model::Dataset data = model::load_text("rows.csv", text.str(), {}, problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(data.rows.size() + data.samples.size(), rows);
  const auto groups = model::group_samples(data);
  EXPECT_EQ(groups.size(), 100U);
  EXPECT_EQ(stats::summarize(data, groups.front(), false).n, shape.repetitions);
}

}  // namespace
}  // namespace syscost::bench
