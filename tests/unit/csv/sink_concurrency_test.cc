// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <sstream>
#include <vector>

#include "csv/row.h"
#include "csv/sink.h"
#include "temporary_folder.h"

namespace syscost::csv {
namespace {

using ::syscost::testing::read_file;
using ::syscost::testing::TemporaryFolder;

constexpr int kWriters = 10;
constexpr int kBlocks = 200;

/// A writer appends three lines at once that belong together. They are long, so they often cross a page.
std::string block(int writer, int number) {
  std::string text;
  for (const char* part : {"first", "second", "third"}) {
    text += std::to_string(writer) + " " + std::to_string(number) + " " + part + " " + std::string(400, 'x') + "\n";
  }
  return text;
}

/// Starts a process that opens the file itself, as another test program would.
pid_t start_writer(const std::string& path, int writer) {
  pid_t pid = fork();
  if (pid != 0) return pid;
  Result<Sink> sink = Sink::open(path);
  bool ok = sink.ok();
  for (int number = 0; ok && number < kBlocks; ++number) ok = sink.value().append(block(writer, number)).ok();
  _exit(ok ? 0 : 1);
}

TEST(SinkConcurrency, TenProcessesLoseNoRowAndMixNoBlock) {
  TemporaryFolder folder;
  const std::string path = folder.file("out.csv");
  std::vector<pid_t> writers;
  for (int writer = 0; writer < kWriters; ++writer) writers.push_back(start_writer(path, writer));
  for (pid_t pid : writers) {
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }

  std::istringstream lines(read_file(path));
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(line + "\n", header_line());
  std::map<int, int> next;  // block number each writer comes to next
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    int writer = 0;
    int number = 0;
    ASSERT_TRUE(words >> writer >> number) << line;
    ASSERT_EQ(number, next[writer]++);
    std::string rest;
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(std::getline(lines, rest));
      line += "\n" + rest;
    }
    ASSERT_EQ(line + "\n", block(writer, number));
  }
  for (int writer = 0; writer < kWriters; ++writer) EXPECT_EQ(next[writer], kBlocks) << "writer " << writer;
}

TEST(SinkConcurrency, AWriterThatIsKilledTakesNoRowOfOthersWithIt) {
  TemporaryFolder folder;
  const std::string path = folder.file("out.csv");
  Result<Sink> sink = Sink::open(path);
  ASSERT_TRUE(sink.ok());
  ASSERT_TRUE(sink.value().append("before\n").ok());
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t pid = fork();
  if (pid == 0) {
    Result<Sink> other = Sink::open(path);
    if (other.ok() && other.value().append("torn,row").ok()) [[maybe_unused]]
      auto written = write(ready[1], "x", 1);
    pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  ASSERT_TRUE(sink.value().append("after\n").ok());
  EXPECT_EQ(read_file(path), header_line() + "before\ntorn,row\nafter\n");
}

}  // namespace
}  // namespace syscost::csv
