// SPDX-License-Identifier: MIT
//
// The cost of each profile: every shipped script of bpftrace, and perf. Each run is compared with its own bare calls,
// since the machine's speed may have changed since the run before.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "figures.h"
#include "process.h"
#include "reports.h"

namespace overhead {
namespace {

/// Starting a tool takes about a second; its ratios do not need more runs.
constexpr int kMostRounds = 3;

struct Profile {
  std::string name;
  std::vector<std::string> flags;
  std::vector<double> added_getppid;
  std::vector<double> added_write;
  std::vector<double> ratio;
  std::vector<double> window_ms;
  std::string failure;
};

std::vector<Profile> profiles() {
  std::vector<Profile> all;
  Process list({beside("overhead_traced_calls"), "--syscost_bpf=list"});
  list.wait();
  std::istringstream lines(list.output());
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find(' '));
    all.push_back({"bpftrace " + name, {"--syscost_profile=bpftrace", "--syscost_bpf=" + name}, {}, {}, {}, {}, {}});
  }
  all.push_back({"perf", {"--syscost_profile=perf"}, {}, {}, {}, {}, {}});
  return all;
}

void run_once(Profile& profile, const std::string& artifacts) {
  std::vector<std::string> command = {beside("overhead_traced_calls"), "--syscost_backend=none",
                                      "--syscost_artifacts=" + artifacts};
  command.insert(command.end(), profile.flags.begin(), profile.flags.end());
  Process process(command);
  const int status = process.wait();
  const std::string& output = process.output();
  const std::optional<double> bare = value_of(output, "bare_getppid_ns");
  const std::optional<double> bare_write = value_of(output, "bare_write_ns");
  const std::optional<double> getppid = value_of(output, " getppid_ns");
  const std::optional<double> write = value_of(output, " write_ns");
  const std::optional<double> window = value_of(output, "window_ms");
  if (status != 0 || !bare || !bare_write || !getppid || !write || !window) {
    profile.failure = output.substr(0, output.find('\n'));
    return;
  }
  profile.added_getppid.push_back(*getppid - *bare);
  profile.added_write.push_back(*write - *bare_write);
  profile.ratio.push_back(*getppid / *bare);
  profile.window_ms.push_back(*window);
}

}  // namespace

void report_profiles(int rounds) {
  const int runs = std::min(rounds, kMostRounds);
  const std::string artifacts = "/tmp/syscost_overhead_" + std::to_string(getpid()) + "_artifacts";
  std::vector<Profile> all = profiles();
  for (int round = 0; round < runs; ++round) {
    for (Profile& profile : all) {
      if (profile.failure.empty()) run_once(profile, artifacts);
    }
  }
  std::filesystem::remove_all(artifacts);

  fmt::print(
      "\nprofiles: ns added to one call inside a window, against bare calls of the same run, median of {} runs\n",
      runs);
  fmt::print("{:<24}{:>12}{:>12}{:>16}{:>16}\n", "profile", "getppid", "write", "x bare getppid", "a window, ms");
  for (const Profile& profile : all) {
    if (!profile.failure.empty() || profile.ratio.empty()) {
      fmt::print("{:<24}{:>12}  {}\n", profile.name, "n/a", profile.failure);
      continue;
    }
    fmt::print("{:<24}{:>12}{:>12}{:>16.2f}{:>16.0f}\n", profile.name,
               fmt::format("{:+.0f}", median(profile.added_getppid)),
               fmt::format("{:+.0f}", median(profile.added_write)), median(profile.ratio), median(profile.window_ms));
  }
}

}  // namespace overhead
