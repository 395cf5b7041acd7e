// SPDX-License-Identifier: MIT
#include "model/programs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "csv_text.h"
#include "loaded.h"

namespace syscost::bench {
namespace {

using model::Dataset;
using model::tell_programs_apart;
using testing::Cells;
using testing::load;
using testing::run_row;
using testing::test_row;

struct Program {
  std::string path;  ///< "" = no row has it.
  std::string build = "";
  std::string pid = "17";
  std::string run = "r1";
  std::string host = "h";
};

/// The rows of programs `t` with these paths, one test each.
std::string rows_of(const std::vector<Program>& programs) {
  std::string rows;
  for (const Program& one : programs) {
    const Cells common = {
        {"program", "t"}, {"build_id", one.build}, {"pid", one.pid}, {"run_id", one.run}, {"host", one.host}};
    Cells begin = common;
    begin["window"] = "begin";
    begin["detail"] = one.path.empty() ? "cpus=2" : "cpus=2;program_path=" + one.path;
    rows += run_row(begin) + test_row(common);
  }
  return rows;
}

Dataset data_of(const std::vector<Program>& programs) {
  model::LoadOptions all;
  all.all_runs = true;
  return load(rows_of(programs), all).data;
}

using Names = std::vector<std::string>;

/// The program of each sample.
Names names_in(const Dataset& data) {
  Names names;
  for (const model::Sample& sample : data.samples) names.push_back(data.text(data.context(sample).program));
  return names;
}

Names names_of(const std::vector<Program>& programs) {
  return names_in(data_of(programs));
}

TEST(ProgramNames, HaveTheFolderThatTellsTwoBuildsOfOneRunApart) {
  EXPECT_EQ(names_of({{"/x/a/t", "aa", "1"}, {"/x/b/t", "bb", "2"}}), (Names{"a/t", "b/t"}));
  EXPECT_EQ(names_of({{"/x/a/bin/t", "aa", "1"}, {"/x/b/bin/t", "bb", "2"}}), (Names{"a/bin/t", "b/bin/t"}));
  EXPECT_EQ(names_of({{"/x/t", "aa", "1"}, {"/x/b/t", "bb", "2"}}), (Names{"t", "b/t"}));
  EXPECT_EQ(names_of({{"/ab/t", "aa", "1"}, {"/ac/t", "bb", "2"}}), (Names{"ab/t", "ac/t"}));
}

TEST(ProgramNames, WithoutBuildIdsComeFromThePathsAlone) {
  // Both started in the same millisecond, so that their rows differ in the process id alone.
  EXPECT_EQ(names_of({{"/x/a/t", "", "1"}, {"/x/b/t", "", "2"}}), (Names{"a/t", "b/t"}));
}

TEST(ProgramNames, EndInTheNameOfTheLinkThatStartedTheProgram) {
  EXPECT_EQ(names_of({{"/x/a/tests-1.2", "aa", "1"}, {"/x/b/tests-1.3", "bb", "2"}}), (Names{"a/t", "b/t"}));
}

TEST(ProgramNames, StayForCopiesOfOneBuild) {
  EXPECT_EQ(names_of({{"/tmp/1/t", "aa", "1"}, {"/tmp/2/t", "aa", "2"}}), (Names{"t", "t"}));
}

TEST(ProgramNames, StayForAProgramThatWasBuiltAgainInItsPlace) {
  EXPECT_EQ(names_of({{"/x/t", "aa", "1"}, {"/x/t", "bb", "2"}}), (Names{"t", "t"}));
}

TEST(ProgramNames, StayForBuildsOfSeveralRunsAndHosts) {
  EXPECT_EQ(names_of({{"/old/t", "aa", "1"}, {"/new/t", "bb", "2", "r2"}}), (Names{"t", "t"}));
  EXPECT_EQ(names_of({{"/1/t", "aa", "1"}, {"/2/t", "bb", "2", "r1", "h2"}}), (Names{"t", "t"}));
}

TEST(ProgramNames, OfAnOlderSyscostHaveTheBuild) {
  EXPECT_EQ(names_of({{"", "0123456789", "1"}, {"", "abcdefabcdef", "2"}}),
            (Names{"build-01234567/t", "build-abcdefab/t"}));
  EXPECT_EQ(names_of({{"", "0123456789", "1"}, {"", "0123456789", "2"}}), (Names{"t", "t"}));
}

TEST(ProgramNames, AreTheSameInBothFilesWhereverTheBuildFolderIs) {
  Dataset before = data_of({{"/old/a/t", "aa", "1"}, {"/old/b/t", "bb", "2"}});
  Dataset after = data_of({{"/ci/new/a/t", "cc", "1"}, {"/ci/new/b/t", "dd", "2"}});
  tell_programs_apart({&before, &after});
  EXPECT_EQ(names_in(before), (Names{"a/t", "b/t"}));
  EXPECT_EQ(names_in(after), (Names{"a/t", "b/t"}));
}

TEST(ProgramNames, OfASideWithOneOfThemAreThoseOfTheOtherSide) {
  const std::vector<Program> both = {{"/x/t", "aa", "1"}, {"/x/b/t", "bb", "2"}};
  for (const bool is_first : {false, true}) {
    Dataset two = data_of(both);
    Dataset lower = data_of({{"/y/b/t", "cc"}});
    Dataset upper = data_of({{"/y/t", "cc"}});
    tell_programs_apart(is_first ? std::vector{&two, &lower, &upper} : std::vector{&upper, &lower, &two});
    EXPECT_EQ(names_in(two), (Names{"t", "b/t"}));
    EXPECT_EQ(names_in(lower), Names{"b/t"});
    EXPECT_EQ(names_in(upper), Names{"t"});
  }
}

TEST(ProgramNames, StayIfAThirdProgramStandsElsewhere) {
  Dataset before = data_of({{"/x/a/t", "aa", "1"}, {"/x/b/t", "bb", "2"}});
  Dataset after = data_of({{"/x/a/t", "aa", "1"}, {"/x/b/t", "bb", "2"}, {"/y/t", "cc", "3"}});
  tell_programs_apart({&before, &after});
  EXPECT_EQ(names_in(after), (Names{"a/t", "b/t", "y/t"}));
}

TEST(ProgramNames, AreThoseOfTheBaseline) {
  Dataset one = data_of({{"/z/b/t", "cc"}});
  tell_programs_apart({&one}, {"a/t", "b/t"});
  EXPECT_EQ(names_in(one), Names{"b/t"});
  Dataset other = data_of({{"/z/t", "cc"}});
  tell_programs_apart({&other}, {"a/t", "b/t"});
  EXPECT_EQ(names_in(other), Names{"t"});
}

TEST(ProgramNames, OfAnOlderFileComeFromTheBuildInTheOther) {
  Dataset before = data_of({{"", "aa"}});
  Dataset after = data_of({{"/x/a/t", "aa", "1"}, {"/x/b/t", "bb", "2"}});
  tell_programs_apart({&before, &after});
  EXPECT_EQ(names_in(before), Names{"a/t"});
}

}  // namespace
}  // namespace syscost::bench
