// SPDX-License-Identifier: MIT
#include "cli/run.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <string>

namespace syscost::bench::cli {
namespace {

const std::string kData = std::string(SYSCOST_SOURCE_DIR) + "/tests/cli/data/";

/// A full disk.
class Full : public std::streambuf {
  int overflow(int /*c*/) override { return traits_type::eof(); }
};

TEST(Run, EndsNonZeroWhenItsOutputCannotBeWritten) {
  Full full;
  std::ostream out(&full);
  std::ostringstream err;
  EXPECT_EQ(run({"summary", kData + "slow.csv"}, out, err), 2);
  EXPECT_EQ(err.str(), "bench: the output could not be written (disk full, or a closed pipe)\n");
}

TEST(Run, TellsWhenAFolderIsUnreadableAsAFile) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(run({"summary", "/proc/self/mem"}, out, err), 2);
  EXPECT_NE(err.str().find("/proc/self/mem: cannot be read: "), std::string::npos) << err.str();
}

TEST(Doctor, RunsAProgramThatHasSyscostFromASharedHelper) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(run({"doctor", BENCH_DOCTOR_PROGRAM}, out, err), 0);
  EXPECT_EQ(out.str(), "asked\n");
  EXPECT_EQ(err.str(), "");
}

TEST(Doctor, SaysWhenItCouldNotSearchTheLibraries) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nonexistent", 1);
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(run({"doctor", BENCH_DOCTOR_PROGRAM}, out, err), 2);
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(out.str(), "");
  EXPECT_NE(err.str().find("Its shared libraries were not searched: ldd: No such file or directory"), std::string::npos)
      << err.str();
}

TEST(Run, SaysItsVersion) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(run({"--version"}, out, err), 0);
  EXPECT_EQ(out.str().rfind("bench " SYSCOST_VERSION ", reads CSVs of schema version ", 0), 0U) << out.str();
  EXPECT_EQ(err.str(), "");
}

TEST(Run, PrintsNoColourIntoAPipe) {
  std::ostringstream out;
  std::ostringstream err;
  run({"summary", kData + "slow.csv"}, out, err);
  EXPECT_EQ(out.str().find('\033'), std::string::npos);
}

}  // namespace
}  // namespace syscost::bench::cli
