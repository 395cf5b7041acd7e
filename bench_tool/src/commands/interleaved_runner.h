// SPDX-License-Identifier: MIT
//
// InterleavedRunner: runs two commands in turns, each run with a file of its own.
//
// The order is A B, B A, A B, ...: a drift of the machine affects both sides alike. Only whole rounds are kept.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace syscost::bench::commands {

/// A folder for the files of a measurement. It is removed at the end, unless the user keeps it; `err` learns what could
/// not be removed.
class MeasurementFolder {
 public:
  /// `keep`: where to keep the files; empty = a temporary folder. If that fails, fault() has the reason.
  MeasurementFolder(const std::string& keep, std::ostream& err);
  ~MeasurementFolder();
  MeasurementFolder(const MeasurementFolder&) = delete;
  MeasurementFolder& operator=(const MeasurementFolder&) = delete;

  const std::string& fault() const { return fault_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool is_kept_ = false;
  std::ostream& err_;
  std::string fault_;
};

/// While it lives, the first Ctrl-C, SIGTERM or SIGHUP only requests the end; a second one ends the program as usual.
class InterruptRequest {
 public:
  InterruptRequest();
  ~InterruptRequest();
  InterruptRequest(const InterruptRequest&) = delete;
  InterruptRequest& operator=(const InterruptRequest&) = delete;

  static bool is_made();
};

/// Seconds since some instant of the past.
using Clock = std::function<double()>;

/// The monotonic clock.
double monotonic_s();

class InterleavedRunner {
 public:
  /// The files go to sub-folders `a` and `b` of `folder`. With `has_whole`, each run writes one more file: the times of
  /// the whole command, from its start to its end, in Google Benchmark's format.
  InterleavedRunner(std::vector<std::string> a, std::vector<std::string> b, const std::filesystem::path& folder,
                    Clock clock, bool has_whole = false);

  /// Runs both commands once. Returns the error, or "". An interrupted round leaves no files.
  std::string run_round();

  std::size_t rounds() const { return rounds_; }
  double elapsed_s() const { return clock_() - begin_s_; }
  /// How many more rounds end within `budget_s` of the beginning, if they take what those so far took on average.
  std::size_t rounds_that_fit(double budget_s) const;
  std::string folder_of_a() const { return sides_[0].folder.string(); }
  std::string folder_of_b() const { return sides_[1].folder.string(); }

 private:
  struct Side {
    const char* name;
    std::vector<std::string> command;
    std::filesystem::path folder;
  };

  std::string run_once(const Side& side) const;
  void drop_round() const;

  std::vector<Side> sides_;
  std::size_t rounds_ = 0;
  Clock clock_;
  bool has_whole_ = false;
  double begin_s_;
};

}  // namespace syscost::bench::commands
