// SPDX-License-Identifier: MIT
//
// How fast bench reads: `syscost_bench_speed [ROWS [FOLDER]]`.
//
// Writes CSVs of ROWS syscall rows (default 1 000 000), then times the splitting of its rows alone beside bench's
// commands on the same bytes. Prints the best of three with the peak of resident memory. Not a test: speed is
// judged by people, as a ratio within one run.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "bench.h"
#include "csv/reader.h"
#include "make_rows.h"

namespace {

using syscost::bench::perf::make_rows;
using syscost::bench::perf::MakeRows;

std::uint64_t count_rows(const std::string& path) {
  syscost::bench::csv::Problems problems;
  syscost::bench::csv::Input input(path);
  std::uint64_t rows = 0;
  if (!input.open(problems)) return rows;
  syscost::bench::csv::read_csv(
      path, input.bytes(), [&](const auto&) { return ++rows, std::string(); }, problems);
  return problems.empty() ? rows : 0;
}

/// Best of three, each in a child of its own so that the peak memory is this measurement's; prints a line.
void measure(const char* what, const std::function<bool()>& body) {
  double best_s = 1e9;
  double best_cpu_s = 1e9;
  long peak_kib = 0;
  for (int round = 0; round < 3; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const pid_t child = ::fork();
    if (child < 0) std::exit(2);
    if (child == 0) std::_Exit(body() ? 0 : 2);
    int status = 0;
    rusage usage{};
    ::wait4(child, &status, 0, &usage);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      fmt::print(stderr, "{} failed\n", what);
      std::exit(2);
    }
    best_s = std::min(best_s, elapsed.count());
    auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    best_cpu_s = std::min(best_cpu_s, seconds(usage.ru_utime) + seconds(usage.ru_stime));
    peak_kib = std::max(peak_kib, usage.ru_maxrss);
  }
  fmt::print("{:<36} {:6.2f} s  cpu {:6.2f} s {:6} MiB\n", what, best_s, best_cpu_s, peak_kib / 1024);
  std::fflush(stdout);
}

bool bench(std::vector<std::string> args) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = syscost::bench::bench_main(args, out, err);
  std::fputs(err.str().c_str(), stderr);
  return code == 0 || (code == 1 && args[0] == "compare");
}

void write(const std::string& path, const MakeRows& shape) {
  std::ofstream out(path, std::ios::binary);
  const std::uint64_t rows = out ? make_rows(shape, out) : 0;
  out.close();
  const int cause = errno;
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (!out || error) {
    fmt::print(stderr, "syscost_bench_speed: {} cannot be written: {}\nGive a folder that is there and has room.\n",
               path, std::strerror(cause));
    std::exit(2);
  }
  fmt::print("{}: {} rows, {} MiB\n", path, rows, bytes >> 20U);
}

/// A file of `shape` as long as `use` needs it; with KEEP set it stays.
template <class Use>
void with_file(const std::string& path, const MakeRows& shape, Use use) {
  write(path, shape);
  use();
  if (std::getenv("KEEP") == nullptr) std::filesystem::remove(path);
}

}  // namespace

int main(int argc, char** argv) {
  MakeRows shape;
  if (argc > 1) shape.syscall_rows = std::strtoull(argv[1], nullptr, 10);
  if (argc > 3) shape.repetitions = std::strtoull(argv[3], nullptr, 10);
  if (argc > 4 || shape.syscall_rows == 0 || shape.repetitions == 0) {
    fmt::print(stderr, "usage: syscost_bench_speed [ROWS [FOLDER [REPETITIONS]]], numbers of at least 1\n");
    return 2;
  }
  const std::string folder = argc > 2 ? argv[2] : std::filesystem::temp_directory_path().string();
  const std::string whole = folder + "/syscost_speed_rows.csv";
  with_file(whole, shape, [&] {
    measure("splitting alone, on one core", [&] { return count_rows(whole) != 0; });
    measure("bench summary", [&] { return bench({"summary", whole}); });
    measure("bench show, one test", [&] {
      return bench({"show", whole, "StorageEngine7.KeepsRecordsInOrder77", "read"});
    });
  });

  constexpr std::uint64_t kRuns = 50;
  MakeRows history = shape;
  history.runs = kRuns;
  const std::string fifty = folder + "/syscost_speed_50_runs.csv";
  with_file(fifty, history, [&] {
    measure("bench summary, newest of 50 runs", [&] { return bench({"summary", fifty}); });
    measure("bench runs, 50 runs", [&] { return bench({"runs", fifty}); });
  });
  MakeRows one = shape;
  one.syscall_rows = (shape.syscall_rows + kRuns - 1) / kRuns;
  const std::string alone = folder + "/syscost_speed_run.csv";
  with_file(alone, one, [&] { measure("bench summary, that run alone", [&] { return bench({"summary", alone}); }); });

  MakeRows half = shape;
  half.syscall_rows = (shape.syscall_rows + 1) / 2;
  const std::string old_half = folder + "/syscost_speed_old.csv";
  const std::string new_half = folder + "/syscost_speed_new.csv";
  with_file(old_half, half, [&] {
    half.extra_calls = 1;
    with_file(new_half, half, [&] {
      measure("bench compare, half of the rows each", [&] { return bench({"compare", old_half, new_half}); });
    });
  });
  return 0;
}
