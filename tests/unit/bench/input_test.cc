// SPDX-License-Identifier: MIT
//
// Pipes, which can be read only once or not at all.
#include "csv/input.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <string>

#include "bench.h"
#include "csv_text.h"

namespace syscost::bench {
namespace {

namespace fs = std::filesystem;

const std::string kData = std::string(SYSCOST_SOURCE_DIR) + "/tests/cli/data/";

class Pipe : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "syscost_input_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    ASSERT_EQ(::mkfifo(pipe().c_str(), 0600), 0);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string pipe() const { return folder_ + "/x.csv"; }

  /// Runs bench while `file` is written into the pipe. The writer opens the pipe once, as `cat FILE >PIPE` does.
  int run_while_writing(const std::string& file, const std::vector<std::string>& args) {
    auto writer = std::async(std::launch::async, [&] {
      std::ofstream out(pipe(), std::ios::binary);
      out << std::ifstream(file, std::ios::binary).rdbuf();
    });
    const int code = bench_main(args, out_, err_);
    writer.get();
    return code;
  }

  std::string folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(Pipe, IsOpenedOnce) {
  // A reader that opens it twice waits for ever, in some of these.
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(run_while_writing(kData + "slow.csv", {"summary", pipe()}), 0) << err_.str();
  }
  EXPECT_EQ(err_.str(), "");
}

TEST_F(Pipe, DeliversAGoogleBenchmarkFileToo) {
  EXPECT_EQ(run_while_writing(kData + "google_old.json", {"summary", pipe()}), 0) << err_.str();
  EXPECT_EQ(err_.str(), "");
}

TEST_F(Pipe, IsShownAsTheFileIs) {
  std::ostringstream of_file;
  ASSERT_EQ(bench_main({"show", kData + "slow.csv"}, of_file, err_), 0);
  EXPECT_EQ(run_while_writing(kData + "slow.csv", {"show", pipe()}), 0) << err_.str();
  EXPECT_EQ(out_.str(), of_file.str());
}

TEST_F(Pipe, InAFolderIsLeftOutWithAMessage) {
  fs::copy_file(kData + "slow.csv", folder_ + "/a.csv");
  EXPECT_EQ(bench_main({"summary", folder_}, out_, err_), 2);
  EXPECT_NE(out_.str().find("a.csv"), std::string::npos);
  EXPECT_EQ(err_.str(), pipe() +
                            ": a pipe, not a file; left out, because reading it may never end: give its name as "
                            "RUN to read it\n");
}

TEST_F(Pipe, UnderANameThatTheUserDidNotGiveIsNotOpened) {
  csv::Problems problems;
  EXPECT_FALSE(csv::is_own_file_there(pipe(), problems));
  ASSERT_EQ(problems.count(), 1U);
  EXPECT_EQ(problems.texts().front(), pipe() + ": is no regular file, so it is not read");
  EXPECT_FALSE(csv::is_own_file_there(folder_ + "/none", problems));
  EXPECT_EQ(problems.count(), 1U);
  EXPECT_TRUE(csv::is_own_file_there(kData + "main.csv", problems));
}

TEST_F(Pipe, AloneInAFolderIsTheOnlyMessage) {
  EXPECT_EQ(bench_main({"summary", folder_}, out_, err_), 2);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(err_.str(), pipe() +
                            ": a pipe, not a file; left out, because reading it may never end: give its name as "
                            "RUN to read it\n");
}

TEST(ReadText, EndsAtItsBound) {
  csv::Problems problems;
  EXPECT_FALSE(csv::read_text("/dev/zero", problems, 5 << 20));
  EXPECT_EQ(problems.texts(), std::vector<std::string>{"/dev/zero: longer than 5 MiB: not read"});
  EXPECT_TRUE(csv::read_text(kData + "budgets.toml", problems, fs::file_size(kData + "budgets.toml")));
  EXPECT_FALSE(csv::read_text(kData + "budgets.toml", problems, fs::file_size(kData + "budgets.toml") - 1));
}

TEST(Input, HandsOutItsBeginningAgain) {
  csv::Problems problems;
  csv::Input input(kData + "slow.csv");
  ASSERT_TRUE(input.open(problems));
  std::ostringstream text;
  text << std::ifstream(kData + "slow.csv").rdbuf();
  EXPECT_EQ(input.beginning(), text.str().substr(0, 256));
  std::string all(text.str().size() + 1, '\0');
  EXPECT_EQ(input.bytes()(all.data(), all.size()), text.str().size());
  EXPECT_EQ(input.size(), text.str().size());
}

}  // namespace
}  // namespace syscost::bench
