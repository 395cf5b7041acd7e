// SPDX-License-Identifier: MIT
//
// Google Benchmark's JSON as it really is: one number that is none, one byte of a name or one odd tool must not lose
// the times of all other benchmarks, and no file of it is left out of a folder silently.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../csv/temporary_folder.h"
#include "bench.h"
#include "model/benchmark_json.h"

namespace syscost::bench {
namespace {

const std::string kContext = R"("context":{"date":"2026-11-21T01:52:31+00:00","host_name":"h","executable":"./b"})";

std::string entry(const std::string& name, const std::string& real_time = "5", const std::string& more = "") {
  return R"({"name":")" + name + R"(","run_name":")" + name +
         R"(","run_type":"iteration","iterations":10,"real_time":)" + real_time + R"(,"cpu_time":5,"time_unit":"ns")" +
         more + "}";
}

std::string file_of(const std::string& entries) {
  return "{" + kContext + ",\"benchmarks\":[" + entries + "]}";
}

class BenchmarkJson : public ::testing::Test {
 protected:
  /// The output of `bench summary` for a file with this text; its exit code is in code_.
  std::string summary_of(const std::string& text) {
    std::ofstream(folder_.file("b.json")) << text;
    return printed({"summary", folder_.file("b.json")});
  }
  std::string printed(const std::vector<std::string>& args) {
    std::ostringstream out;
    std::ostringstream err;
    code_ = bench_main(args, out, err);
    said_ = err.str();
    return out.str();
  }
  bool has_said(const std::string& words) const { return said_.find(words) != std::string::npos; }

  syscost::testing::TemporaryFolder folder_;
  int code_ = 0;
  std::string said_;
};

TEST_F(BenchmarkJson, IsReadWithNumbersThatAreNone) {
  for (const std::string number : {"NaN", "-NaN", "Infinity", "-Infinity", "nan", "-nan", "inf", "-inf", "-nan(ind)"}) {
    const std::string text = summary_of(file_of(entry("BM_A", "5", ",\"ratio\":" + number) + "," + entry("BM_B", "7")));
    EXPECT_EQ(code_, 0) << number << ": " << said_;
    EXPECT_NE(text.find("BM_A"), std::string::npos) << number;
    EXPECT_NE(text.find("BM_B"), std::string::npos) << number;
    EXPECT_EQ(said_, "") << number;
  }
}

TEST_F(BenchmarkJson, KeepsWordsInNames) {
  const std::string text =
      summary_of(file_of(entry("BM_NaN/Infinity -NaN", "5", R"(,"label":"-inf \"NaN\"","r":NaN)")));
  EXPECT_EQ(code_, 0) << said_;
  EXPECT_NE(text.find("BM_NaN/Infinity -NaN"), std::string::npos) << text;
}

TEST_F(BenchmarkJson, ShowsBytesOfANameThatAreNoText) {
  const std::string text = summary_of(
      file_of(entry("BM_\xE4") + "," + entry("BM_\x01") + "," + entry("BM_\\d") + "," + entry("BM_\\ud800x")));
  EXPECT_EQ(code_, 0) << said_;
  for (const std::string name : {"BM_\\xe4", "BM_\\x01", "BM_\\d", "BM_\\ud800x"}) {
    EXPECT_NE(text.find(name), std::string::npos) << name << '\n' << text;
  }
}

TEST(RepairedJson, ChangesNothingElse) {
  const std::string text =
      R"({"a": [1e-5, -2.5E+3, true, false, null, "x\"NaN\\"], "b\u00e4\ud83d\ude00": {}, "c": ""})";
  EXPECT_EQ(model::repaired_json(text), text);
  EXPECT_EQ(model::repaired_json("[NaN,-Infinity , \"NaN\"]"), "[null,null , \"NaN\"]");
  EXPECT_EQ(model::repaired_json("\"abc"), "\"abc");
  EXPECT_EQ(model::repaired_json("\"\\"), "\"\\\\");
  EXPECT_EQ(model::repaired_json("nan("), "null");
}

TEST_F(BenchmarkJson, HasNoTimeWhereTheFileHasNone) {
  for (const std::string time : {"-1000", "NaN", "-Infinity", "null"}) {
    const std::string text = summary_of(file_of(entry("BM_Back", time) + "," + entry("BM_Good")));
    EXPECT_EQ(code_, 0) << said_;
    EXPECT_TRUE(has_said("note: benchmark BM_Back: real_time ")) << said_;
    EXPECT_NE(text.find("BM_Good"), std::string::npos);
    EXPECT_NE(text.find("n/a"), std::string::npos) << text;
  }
  summary_of(file_of(entry("BM_Text", "\"5\"")));
  EXPECT_EQ(code_, 2);
  EXPECT_TRUE(has_said("benchmark BM_Text: real_time is not a number")) << said_;
}

TEST_F(BenchmarkJson, IsNamedWithTheEntryWhereItIsNotJson) {
  summary_of(file_of(entry("BM_A") + "," + entry("BM_Bad", "5", ",\"x\":1.2.3") + "," + entry("BM_C")));
  EXPECT_EQ(code_, 2);
  EXPECT_TRUE(has_said("not JSON: in or after the entry BM_Bad")) << said_;
  EXPECT_FALSE(has_said("killed")) << said_;
  summary_of(file_of(entry("BM_Huge", "5", ",\"x\":1e999")));
  EXPECT_EQ(code_, 2);
  EXPECT_TRUE(has_said("not JSON: ")) << said_;
  const std::string whole = file_of(entry("BM_A") + "," + entry("BM_Last"));
  summary_of(whole.substr(0, whole.size() - 20));
  EXPECT_EQ(code_, 2);
  EXPECT_TRUE(has_said("perhaps of a benchmark that was killed: in or after the entry BM_Last")) << said_;
}

// Before 1.5 no entry said what it is.
TEST_F(BenchmarkJson, OfOldVersionsIsReadWithoutItsAggregates) {
  const auto old = [](const std::string& name) {
    return R"({"name":")" + name + R"(","iterations":10,"real_time":5,"cpu_time":5,"time_unit":"ns"})";
  };
  const std::string text = summary_of(file_of(
      old("BM_A") + "," + old("BM_A") + "," + old("BM_A_mean") + "," + old("BM_A_median") + "," + old("BM_A_stddev") +
      R"(,{"name":"BM_A_BigO","cpu_coefficient":1,"real_coefficient":1,"big_o":"N","time_unit":"ns"})" +
      R"(,{"name":"BM_A_RMS","rms":0.02},)" + old("BM_Geo_mean")));
  EXPECT_EQ(code_, 0) << said_;
  EXPECT_EQ(text.find("BM_A_"), std::string::npos) << text;
  EXPECT_NE(text.find("BM_Geo_mean"), std::string::npos) << "a name alone proves nothing: " << text;
}

TEST_F(BenchmarkJson, MayCountIterationsInNumbersWithAPoint) {
  const std::string text =
      summary_of(file_of(R"({"name":"BM_A","iterations":10.0,"real_time":5,"cpu_time":5,"time_unit":"ns"})"));
  EXPECT_EQ(code_, 0) << said_;
  EXPECT_NE(text.find("BM_A"), std::string::npos) << text;
}

TEST_F(BenchmarkJson, IsFoundInAFolderInEachForm) {
  const std::string sorted = "{\"benchmarks\":[" + entry("BM_Sorted") + "]," + kContext + "}";
  const std::string marked = "\xEF\xBB\xBF" + file_of(entry("BM_Marked"));
  const std::string spaced =
      "\n \t{ \"note\" : [ \"context\", {\"benchmarks\": []} ],\n" + file_of(entry("BM_Spaced")).substr(1);
  for (const auto& [name, text] :
       {std::pair("sorted", sorted), std::pair("marked", marked), std::pair("spaced", spaced)}) {
    std::ofstream(folder_.file(std::string(name) + ".json")) << text;
  }
  // Files of other tools, which may have one of the keys.
  std::ofstream(folder_.file("python.json")) << R"({"machine_info": {}, "benchmarks": [{"name": "x"}]})";
  std::ofstream(folder_.file("compile_commands.json")) << "[{\"context\": {}, \"benchmarks\": []}]";
  const std::string text = printed({"summary", folder_.path()});
  EXPECT_EQ(code_, 0) << said_;
  for (const std::string name : {"BM_Sorted", "BM_Marked", "BM_Spaced"}) {
    EXPECT_NE(text.find(name), std::string::npos) << name << '\n' << text;
  }
  EXPECT_EQ(said_, "");
}

TEST_F(BenchmarkJson, OfWhichTheKindCannotBeToldIsNamed) {
  std::ofstream(folder_.file("good.json")) << file_of(entry("BM_Good"));
  std::ofstream(folder_.file("torn.json")) << "{\"benchmarks\":[" + entry("BM_Torn").substr(0, 30);
  std::ofstream(folder_.file("empty.json")) << "";
  const std::string text = printed({"summary", folder_.path()});
  EXPECT_EQ(code_, 0) << said_;
  EXPECT_NE(text.find("BM_Good"), std::string::npos);
  EXPECT_TRUE(has_said("torn.json: note: not whole JSON; left out")) << said_;
  EXPECT_TRUE(has_said("empty.json: note: empty; left out")) << said_;
  // One that begins as Google Benchmark's do is one.
  std::ofstream(folder_.file("torn.json")) << file_of(entry("BM_Torn")).substr(0, 150);
  printed({"summary", folder_.path()});
  EXPECT_EQ(code_, 2);
  EXPECT_TRUE(has_said("torn.json: not whole JSON")) << said_;
}

TEST_F(BenchmarkJson, OfAnotherEncodingIsRefusedInAWord) {
  std::string wide = "\xFF\xFE";
  for (const char c : file_of(entry("BM_A"))) wide += std::string(1, c) + '\0';
  summary_of(wide);
  EXPECT_EQ(code_, 2);
  EXPECT_TRUE(has_said("UTF-16, and JSON is UTF-8")) << said_;
  printed({"summary", folder_.path()});
  EXPECT_EQ(code_, 2) << "in a folder, too";
  EXPECT_TRUE(has_said("UTF-16, and JSON is UTF-8")) << said_;
}

TEST_F(BenchmarkJson, WithoutATimeIsNoComparison) {
  std::ofstream(folder_.file("old.json")) << file_of(entry("BM_A", "NaN") + "," + entry("BM_B"));
  std::ofstream(folder_.file("new.json")) << file_of(entry("BM_A") + "," + entry("BM_B"));
  const std::string text = printed({"compare", folder_.file("old.json"), folder_.file("new.json"), "--all"});
  EXPECT_NE(text.find("n/a -> "), std::string::npos) << text;
  EXPECT_EQ(text.find("0 ns"), std::string::npos) << text;
}

}  // namespace
}  // namespace syscost::bench
