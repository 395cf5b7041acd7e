// SPDX-License-Identifier: MIT
//
// Start-up: the fixed cost of a measured program, as CPU time beside the same program that is not measured.
//
// CPU time and not wall time: other work of the machine does not add to it, and a test runner with as many jobs as
// processors pays exactly this. The work that syscost leaves to other processes counts, too. This process becomes the
// parent of processes that outlive the program (the eBPF helper that it starts), waits for them and adds their CPU
// time. For a helper that ran before, it adds what the helper used while the program ran.
#include <dirent.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "figures.h"
#include "process.h"
#include "reports.h"

namespace overhead {
namespace {

using Clock = std::chrono::steady_clock;

/// The project's own goals.
constexpr double kDispatchGoalMs = 5;
constexpr double kEbpfGoalMs = 10;
/// How long a process that a program started may run on after it.
constexpr std::chrono::seconds kPatience{10};

struct Cost {
  double program_ms = 0;
  double others_ms = 0;
  double wall_ms = 0;

  double cpu_ms() const { return program_ms + others_ms; }
};

constexpr std::string_view kHelper = "syscost-ebpf-he";  // as the kernel calls it: 15 letters at most

/// Our child that is called so by the kernel; nullopt when there is none.
std::optional<std::filesystem::path> child_called(std::string_view name) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::string stat;
    if (!std::getline(std::ifstream(entry.path() / "stat"), stat)) continue;
    const std::size_t end = stat.rfind(')');
    const std::size_t begin = stat.find('(');
    if (end == std::string::npos || stat.substr(begin + 1, end - begin - 1) != name) continue;
    if (std::atoi(stat.c_str() + end + 4) == getpid()) return entry.path();  // `) S PARENT`
  }
  return std::nullopt;
}

std::optional<double> cpu_ms_of_helper() {
  const auto folder = child_called(kHelper);
  if (!folder) return std::nullopt;
  double ns = 0;
  std::ifstream(*folder / "schedstat") >> ns;
  return ns / 1e6;
}

/// Waits for the processes that we inherited from programs that have ended. Returns the sum of their CPU times.
double reap_orphans_ms(const std::string& program) {
  // The helper would stay for a further program.
  if (const auto helper = child_called(kHelper)) kill(std::atoi(helper->filename().c_str()), SIGTERM);
  double all_ms = 0;
  for (const Clock::time_point begin = Clock::now();;) {
    const std::optional<double> one_ms = Process::reap_any_ms();
    if (one_ms) {
      all_ms += *one_ms;
    } else if (!Process::has_children()) {
      return all_ms;
    } else if (Clock::now() - begin > kPatience) {
      throw std::runtime_error(program + " left a process that does not end");
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

Cost run_program(const std::string& program, const std::vector<std::string>& flags) {
  std::vector<std::string> command = {beside(program), "--gtest_brief=1"};
  command.insert(command.end(), flags.begin(), flags.end());
  const Clock::time_point begin = Clock::now();
  Process process(command);
  const int status = process.wait();
  const double wall_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  if (status != 0) throw std::runtime_error(process.output().substr(0, process.output().find('\n')));
  return {process.cpu_ms(), 0, wall_ms};
}

/// For a program that leaves no process running, except those that it started.
Cost run_alone(const std::string& program, const std::vector<std::string>& flags) {
  Cost cost = run_program(program, flags);
  cost.others_ms = reap_orphans_ms(program);
  return cost;
}

/// The same while another measured process keeps the eBPF helper.
Cost run_beside_helper(const std::string& program, const std::vector<std::string>& flags) {
  Process keeper({beside("overhead_worker"), "stay", "1"});
  if (!keeper.read_until("ready")) throw std::runtime_error(keeper.output().substr(0, keeper.output().find('\n')));
  const std::optional<double> before_ms = cpu_ms_of_helper();
  if (!before_ms) throw std::runtime_error("no helper of ours: another one, for everyone, serves this machine");
  Cost cost = run_program(program, flags);
  cost.others_ms = cpu_ms_of_helper().value_or(*before_ms) - *before_ms;
  keeper.signal(SIGKILL);
  keeper.wait();
  reap_orphans_ms(program);
  return cost;
}

struct Variant {
  const char* name;
  std::function<Cost()> run;
  std::optional<double> goal_ms;
  std::vector<Cost> costs;
  std::vector<double> added_ms;  ///< Per round, to that round's program that is not linked.
  std::string failure;
};

std::vector<Variant> variants(const std::string& csv) {
  const auto measured = [csv](const char* backend) {
    return std::vector<std::string>{"--syscost_csv=" + csv, std::string("--syscost_backend=") + backend};
  };
  const std::string linked = "overhead_start_linked";
  const auto alone = [=](const char* backend) { return [=] { return run_alone(linked, measured(backend)); }; };
  return {
      {"not linked", [] { return run_alone("overhead_start_bare", {}); }, {}, {}, {}, {}},
      {"linked, not asked", [=] { return run_alone(linked, {}); }, {}, {}, {}, {}},
      {"dispatch", alone("dispatch"), kDispatchGoalMs, {}, {}, {}},
      {"ebpf, helper running", [=] { return run_beside_helper(linked, measured("ebpf")); }, kEbpfGoalMs, {}, {}, {}},
      {"ebpf, starts the helper", alone("ebpf"), {}, {}, {}, {}},
      {"seccomp", alone("seccomp"), {}, {}, {}, {}}};
}

void run_round(std::vector<Variant>& all, int round, const std::string& csv) {
  std::optional<double> bare_ms;
  std::vector<std::pair<Variant*, double>> others;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Variant& variant = all[(i + static_cast<std::size_t>(round)) % all.size()];
    if (!variant.failure.empty()) continue;
    try {
      const Cost cost = variant.run();
      variant.costs.push_back(cost);
      if (&variant == &all.front()) {
        bare_ms = cost.cpu_ms();
      } else {
        others.emplace_back(&variant, cost.cpu_ms());
      }
    } catch (const std::exception& error) {
      variant.failure = error.what();
      reap_orphans_ms(variant.name);  // not the next one's
    }
    std::filesystem::remove(csv);
  }
  if (!bare_ms) return;
  for (const auto& [variant, cpu_ms] : others) variant->added_ms.push_back(cpu_ms - *bare_ms);
}

double median_cost(const std::vector<Cost>& costs, double Cost::*field) {
  std::vector<double> values;
  for (const Cost& cost : costs) values.push_back(cost.*field);
  return median(std::move(values));
}

void print(const std::vector<Variant>& all, int rounds) {
  fmt::print(
      "\nstart-up: CPU time (user and system) of a program with one empty test, ms, median of {} runs in turns;\n"
      "added: to the one that is not linked, in the same round, with what other processes used for it\n",
      rounds);
  fmt::print("{:<26}{:>10}{:>14}{:>10}{:>14}{:>10}\n", "program", "its own", "in others", "added", "x not linked",
             "wall");
  double bare_ms = 0;
  for (const Variant& variant : all) {
    if (!variant.failure.empty() || variant.costs.empty()) {
      fmt::print("{:<26}{:>10}  {}\n", variant.name, "n/a", variant.failure);
      continue;
    }
    const double own_ms = median_cost(variant.costs, &Cost::program_ms);
    const double others_ms = median_cost(variant.costs, &Cost::others_ms);
    const double wall_ms = median_cost(variant.costs, &Cost::wall_ms);
    if (&variant == &all.front()) {
      bare_ms = own_ms;
      fmt::print("{:<26}{:>10.2f}{:>14.2f}{:>10}{:>14}{:>10.1f}\n", variant.name, own_ms, others_ms, "", "", wall_ms);
    } else if (variant.added_ms.empty()) {
      fmt::print("{:<26}{:>10.2f}{:>14.2f}\n", variant.name, own_ms, others_ms);
    } else {
      fmt::print("{:<26}{:>10.2f}{:>14.2f}{:>+10.2f}{:>14.1f}{:>10.1f}\n", variant.name, own_ms, others_ms,
                 median(variant.added_ms), (own_ms + others_ms) / bare_ms, wall_ms);
    }
  }
  for (const Variant& variant : all) {
    if (!variant.goal_ms || variant.added_ms.empty() || !variant.failure.empty()) continue;
    fmt::print("  goal: {} adds at most {:g} ms: {}\n", variant.name, *variant.goal_ms,
               median(variant.added_ms) <= *variant.goal_ms ? "met" : "NOT MET");
  }
}

}  // namespace

void report_start_up(int rounds) {
  // A program finds its helper by a name in the network namespace. In a namespace of our own there is no other helper,
  // and ours serves no other program. Without the right to make one, the machine should have no other measured program.
  static_cast<void>(unshare(CLONE_NEWNET));
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const std::string csv = "/tmp/syscost_overhead_" + std::to_string(getpid()) + ".csv";
  std::vector<Variant> all = variants(csv);
  // The first run of each fills caches, the page cache's and ours.
  run_round(all, 0, csv);
  for (Variant& variant : all) {
    variant.costs.clear();
    variant.added_ms.clear();
  }
  const int runs = 2 * rounds;
  for (int round = 0; round < runs; ++round) run_round(all, round, csv);
  print(all, runs);
}

}  // namespace overhead
