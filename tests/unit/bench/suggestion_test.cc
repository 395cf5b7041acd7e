// SPDX-License-Identifier: MIT
#include "model/choice.h"

#include <gtest/gtest.h>

namespace syscost::bench::model {
namespace {

const std::vector<std::string> kNames = {"Log.Reads", "Log.Writes", "Log.WritesTwice", "Net.Sends"};

TEST(Suggestion, FindsTypingErrors) {
  EXPECT_EQ(did_you_mean("Log.Raeds", kNames), "did you mean Log.Reads?");
  EXPECT_EQ(did_you_mean("log.Write", kNames), "did you mean Log.Writes or Log.WritesTwice?");
}

TEST(Suggestion, TakesAPartForWhatHoldsIt) {
  EXPECT_EQ(suggestions("*send?", kNames), std::vector<std::string>{"Net.Sends"});
}

TEST(Suggestion, SaysNothingWhereNothingIsNear) {
  EXPECT_EQ(did_you_mean("Xylophone", kNames), "");
  EXPECT_EQ(did_you_mean("*", kNames), "");
  EXPECT_EQ(did_you_mean(std::string(1000, 'x'), kNames), "");
}

TEST(Suggestion, EndsAMessage) {
  const std::vector<std::string> keys = {"max", "max-growth", "measure"};
  EXPECT_EQ(or_rather("max-grwoth", keys), "; did you mean max-growth?");
  EXPECT_EQ(or_rather("mesure", keys), "; did you mean measure?");
  EXPECT_EQ(or_rather("colour", keys), "");
}

}  // namespace
}  // namespace syscost::bench::model
