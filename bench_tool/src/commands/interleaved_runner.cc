// SPDX-License-Identifier: MIT
#include "commands/interleaved_runner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <system_error>
#include <utility>

#include "commands/child.h"
#include "csv/printable.h"
#include "os/files.h"
#include "os/remove_tree.h"
#include "render/output_file.h"

namespace syscost::bench::commands {
namespace {

namespace fs = std::filesystem;

volatile std::sig_atomic_t interrupted = 0;
constexpr std::array<int, 3> kRequests = {SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, kRequests.size()> before_us;

void note_interrupt(int /*signal*/) {
  interrupted = 1;
}

/// Writes the times of the command itself into a file that `compare` can read. Returns what is wrong, or "".
std::string write_whole(const fs::path& path, const ChildEnd& end) {
  const nlohmann::ordered_json entry = {
      {"name", "whole command"},  {"run_name", "whole command"}, {"run_type", "iteration"}, {"iterations", 1},
      {"real_time", end.wall_ns}, {"cpu_time", end.cpu_ns},      {"time_unit", "ns"}};
  const nlohmann::ordered_json file = {{"context", nlohmann::ordered_json::object()},
                                       {"benchmarks", nlohmann::ordered_json::array({entry})}};
  return render::write_output(path.string(), {"{", "file of times"}, file.dump(2) + '\n');
}

}  // namespace

MeasurementFolder::MeasurementFolder(const std::string& keep, std::ostream& err) : is_kept_(!keep.empty()), err_(err) {
  std::error_code error;
  if (is_kept_) {
    path_ = fs::absolute(keep, error);
    fs::create_directories(path_, error);
    if (!error && !fs::is_empty(path_, error) && !error) {
      fault_ = fmt::format("--keep {}: the folder holds files already; give a new one", keep);
    }
  } else {
    const fs::path prefix = fs::temp_directory_path(error) / "syscost-ab.";
    if (!error) path_ = make_own_folder(prefix.string());
    if (!error && path_.empty()) {
      fault_ = fmt::format("no folder for the files of the runs, {}...: {}", prefix.string(), std::strerror(errno));
    }
  }
  for (const char* side : {"a", "b"}) {
    if (!error && fault_.empty()) fs::create_directory(path_ / side, error);
  }
  if (error) fault_ = fmt::format("no folder for the files of the runs, {}: {}", path_.string(), error.message());
}

MeasurementFolder::~MeasurementFolder() {
  if (is_kept_ || path_.empty()) return;
  const std::string left = text_of(remove_tree(path_));
  if (!left.empty()) err_ << "bench: not removed: " << csv::printable(left) << '\n';
}

InterruptRequest::InterruptRequest() {
  interrupted = 0;
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < kRequests.size(); ++i) ::sigaction(kRequests[i], &action, &before_us[i]);
}

InterruptRequest::~InterruptRequest() {
  for (std::size_t i = 0; i < kRequests.size(); ++i) ::sigaction(kRequests[i], &before_us[i], nullptr);
}

bool InterruptRequest::is_made() {
  return interrupted != 0;
}

double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

InterleavedRunner::InterleavedRunner(std::vector<std::string> a, std::vector<std::string> b, const fs::path& folder,
                                     Clock clock, bool has_whole)
    : clock_(std::move(clock)), has_whole_(has_whole), begin_s_(clock_()) {
  sides_.push_back({"A", std::move(a), folder / "a"});
  sides_.push_back({"B", std::move(b), folder / "b"});
}

std::string InterleavedRunner::run_round() {
  const std::size_t first = rounds_ % 2;
  for (std::size_t side : {first, 1 - first}) {
    std::string fault = InterruptRequest::is_made() ? "" : run_once(sides_[side]);
    // If an interrupt ended the command, it did not fail.
    if (InterruptRequest::is_made()) fault.clear();
    if (InterruptRequest::is_made() || !fault.empty()) {
      drop_round();
      return fault;
    }
  }
  ++rounds_;
  return {};
}

std::size_t InterleavedRunner::rounds_that_fit(double budget_s) const {
  constexpr double kShortestRound = 1e-9;
  const double elapsed = elapsed_s();
  const double round_s = rounds_ == 0 ? 0 : elapsed / static_cast<double>(rounds_);
  // Whole rounds: a round that ends a moment too late does not fit. The bound keeps the number in a size_t.
  return static_cast<std::size_t>(std::clamp((budget_s - elapsed) / std::max(round_s, kShortestRound), 0.0, 1e9));
}

std::string InterleavedRunner::run_once(const Side& side) const {
  const fs::path csv = side.folder / fmt::format("{:06}.csv", rounds_ + 1);
  const fs::path json = side.folder / fmt::format("{:06}.json", rounds_ + 1);
  // A benchmark that is not linked with us still writes its times.
  const std::vector<std::string> variables = {"SYSCOST_CSV=" + csv.string(),
                                              fmt::format("SYSCOST_RUN_ID=ab-{}-{}", side.name, rounds_ + 1),
                                              "BENCHMARK_OUT=" + json.string(), "BENCHMARK_OUT_FORMAT=json"};
  std::string output;
  const ChildEnd end = run_child(
      side.command,
      [&](std::string_view piece) {
        // Only the end is ever shown; a test may print gigabytes.
        constexpr std::size_t kKept = 1 << 16;
        output += piece;
        if (output.size() > 2 * kKept) output.erase(0, output.size() - kKept);
      },
      variables);
  const std::string command = fmt::format("{} ({})", side.name, fmt::join(side.command, " "));
  if (end.error != 0) return fmt::format("{} cannot be run: {}\n", command, std::generic_category().message(end.error));
  if (end.status != 0) {
    return fmt::format("{} failed in round {}: {}. It printed:\n{}", command, rounds_ + 1, status_text(end.status),
                       tail_of(output));
  }
  if (has_whole_) {
    const fs::path whole = side.folder / fmt::format("{:06}.whole.json", rounds_ + 1);
    if (const std::string fault = write_whole(whole, end); !fault.empty()) return fault + '\n';
  }
  std::error_code ignored;
  // A program that is linked with syscost has written both files. The CSV has more.
  if (fs::exists(csv, ignored)) {
    fs::remove(json, ignored);
    return {};
  }
  if (!fs::exists(json, ignored) && has_whole_) return {};  // any command may be timed
  if (!fs::exists(json, ignored)) {
    return fmt::format(
        "{} wrote no file: it is neither linked with syscost nor a Google Benchmark, or it names its own file "
        "(--syscost_csv, --benchmark_out; leave these out)\n",
        command);
  }
  if (fs::file_size(json, ignored) == 0) {
    return fmt::format("{} ran no benchmark. It printed:\n{}", command, tail_of(output));
  }
  return {};
}

void InterleavedRunner::drop_round() const {
  std::error_code ignored;
  for (const Side& side : sides_) {
    for (const char* extension : {"csv", "json", "whole.json"}) {
      fs::remove(side.folder / fmt::format("{:06}.{}", rounds_ + 1, extension), ignored);
    }
  }
}

}  // namespace syscost::bench::commands
