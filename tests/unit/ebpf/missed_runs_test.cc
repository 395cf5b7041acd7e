// SPDX-License-Identifier: MIT
//
// The files in which the kernel counts missed runs: what is taken for one, and what never is. They come from a helper
// that is root's or our own; still nothing of what it passes may be misread, or waited for.
#include "backends/ebpf/missed_runs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace syscost::ebpf {
namespace {

const std::string kRight =
    "pos:\t0\nflags:\t02000002\nmnt_id:\t17\nino:\t1030\nprog_type:\t17\nprog_jited:\t1\nprog_tag:\t59f4a931744dcdc6\n"
    "memlock:\t4096\nprog_id:\t76607\nrun_time_ns:\t0\nrun_cnt:\t0\nrecursion_misses:\t12\nverified_insns:\t2\n";

std::string with(const std::string& part, const std::string& replacement) {
  std::string text = kRight;
  return text.replace(text.find(part), part.size(), replacement);
}

TEST(MissedRunsTest, AreReadFromTheKernelsText) {
  const std::optional<RunFile> file = parse_run_file(kRight);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->program, 76607U);
  EXPECT_EQ(file->missed_runs, 12U);
  EXPECT_EQ(parse_run_file(with("misses:\t12", "misses:\t18446744073709551615"))->missed_runs, ~std::uint64_t{0});
  EXPECT_TRUE(parse_run_file(with("verified_insns:\t2\n", "")).has_value()) << "a line that came later";
}

TEST(MissedRunsTest, AreReadFromNothingElse) {
  const std::vector<std::string> wrong = {
      "",
      "x",
      with("recursion_misses:\t12\n", ""),
      with("prog_id:\t76607\n", ""),
      with("misses:\t12", "misses:\t"),
      with("misses:\t12", "misses:\t-1"),
      with("misses:\t12", "misses:\t 12"),
      with("misses:\t12", "misses:\t12x"),
      with("misses:\t12", "misses:\t18446744073709551616"),
      with("misses:\t12", "misses:\t12\nrecursion_misses:\t0"),
      with("\nrecursion_misses", "\nno_recursion_misses"),
      kRight.substr(0, kRight.find("12\nverified") + 1),
      std::string(4096, '\n'),
  };
  for (const std::string& text : wrong) EXPECT_FALSE(parse_run_file(text).has_value()) << text;
}

/// Takes each of `descriptors` over; what comes out of them all.
std::optional<std::uint64_t> read_of(const std::vector<int>& descriptors) {
  RunFiles files(descriptors);
  return files.read(Runs::of_all);
}

TEST(MissedRunsTest, OnlyFilesOfProcAreRead) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  std::string path = "/tmp/syscost-run-file-XXXXXX";
  const int regular = mkstemp(path.data());
  ASSERT_GE(regular, 0);
  unlink(path.c_str());
  ASSERT_EQ(write(regular, kRight.data(), kRight.size()), static_cast<ssize_t>(kRight.size()));
  for (const int other : {ends[0], regular, eventfd(0, EFD_CLOEXEC), open("/dev/zero", O_RDONLY | O_CLOEXEC)}) {
    EXPECT_FALSE(read_of({other}).has_value());
    EXPECT_EQ(fcntl(other, F_GETFD), -1) << "it is closed";
  }
  close(ends[1]);
}

TEST(MissedRunsTest, OtherFilesOfProcAreNotTaken) {
  const std::string of_no_program = "/proc/self/fdinfo/" + std::to_string(STDERR_FILENO);
  for (const char* path : {"/proc/self/status", "/proc/self/maps", "/proc/version", of_no_program.c_str()}) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    ASSERT_GE(file, 0) << path;
    EXPECT_FALSE(read_of({file}).has_value()) << path;
  }
  EXPECT_FALSE(read_of({}).has_value());
}

}  // namespace
}  // namespace syscost::ebpf
