// SPDX-License-Identifier: MIT
//
// How fast bench reads: `syscost_bench_speed [ROWS [FOLDER]]`.
//
// Writes CSVs of ROWS syscall rows (default 1 000 000), then times the CSV library alone, which is the floor, beside
// bench's commands on the same bytes. Prints the best of three with the peak of resident memory. Not a test: speed is
// judged by people, as a ratio within one run.
#include <fmt/format.h>
#include <libfccp/csv.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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
#include <utility>

#include "cli/run.h"
#include "make_rows.h"
#include "syscost/schema.h"

namespace {

using syscost::bench::perf::make_rows;
using syscost::bench::perf::MakeRows;
using Library = io::CSVReader<syscost::schema::kColumnCount, io::trim_chars<>, io::double_quote_escape<',', '"'>>;

template <std::size_t... I>
std::uint64_t count_rows(const std::string& path, std::index_sequence<I...> /*columns*/) {
  Library library(path);
  std::array<char*, sizeof...(I)> cells{};
  std::uint64_t rows = 0;
  while (library.read_row(cells[I]...)) ++rows;
  return rows;
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
  const int code = syscost::bench::cli::run(args, out, err);
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

}  // namespace

int main(int argc, char** argv) {
  MakeRows shape;
  if (argc > 1) shape.syscall_rows = std::strtoull(argv[1], nullptr, 10);
  if (argc > 3 || shape.syscall_rows == 0) {
    fmt::print(stderr, "usage: syscost_bench_speed [ROWS [FOLDER]], ROWS at least 1\n");
    return 2;
  }
  const std::string folder = argc > 2 ? argv[2] : std::filesystem::temp_directory_path().string();
  const std::string whole = folder + "/syscost_speed_rows.csv";
  const std::string old_half = folder + "/syscost_speed_old.csv";
  const std::string new_half = folder + "/syscost_speed_new.csv";
  write(whole, shape);
  MakeRows half = shape;
  half.syscall_rows = shape.syscall_rows / 2;
  write(old_half, half);
  half.extra_calls = 1;
  write(new_half, half);

  constexpr auto kColumns = std::make_index_sequence<syscost::schema::kColumnCount>();
  measure("CSV library alone, all columns", [&] { return count_rows(whole, kColumns) != 0; });
  measure("bench summary", [&] { return bench({"summary", whole}); });
  measure("bench show, one test", [&] {
    return bench({"show", whole, "StorageEngine7.KeepsRecordsInOrder77", "read"});
  });
  measure("bench compare, half of the rows each", [&] { return bench({"compare", old_half, new_half}); });
  if (std::getenv("KEEP") == nullptr)
    for (const std::string& path : {whole, old_half, new_half}) std::filesystem::remove(path);
  return 0;
}
