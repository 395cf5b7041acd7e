// SPDX-License-Identifier: MIT
#include "commands/critical_path/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string_view>

#include "commands/shared/artifacts.h"
#include "commands/shared/document.h"
#include "csv/problems.h"
#include "csv/text.h"
#include "render/numbers.h"
#include "render/svg.h"
#include "render/table.h"
#include "render/terminal.h"

namespace syscost::bench::commands {
namespace {

using trace::PathStep;

constexpr ArtifactKind kSched{trace::kSchedName, trace::kSchedName, "sched.csv file",
                              "Run the tests with --syscost_sched (SYSCOST_SCHED=1), which needs the backend ebpf.\n"};

std::vector<const PathStep*> chosen(const cli::TraceOptions& options, const std::vector<PathStep>& steps) {
  std::vector<const PathStep*> listed;
  for (const PathStep& step : steps) listed.push_back(&step);
  const std::size_t most = std::min(options.most.value_or(listed.size()), listed.size());
  if (!options.last.empty()) {
    listed.erase(listed.begin(), listed.end() - static_cast<std::ptrdiff_t>(most));
    return listed;
  }
  if (!options.slowest.empty()) {
    std::stable_sort(listed.begin(), listed.end(),
                     [](const PathStep* a, const PathStep* b) { return a->took_ns() > b->took_ns(); });
  }
  listed.resize(most);
  return listed;
}

/// The folder's: the file has no name of the test.
std::string test_of(const std::string& path) {
  const std::string name = std::filesystem::path(path).parent_path().filename().string();
  return name.empty() ? path : name;
}

}  // namespace

int critical_path(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  const auto fail = [&] {
    problems.print(err);
    return cli::kExitBadInput;
  };
  const std::optional<std::string> name = find_artifact(options, kSched, problems, err);
  if (!name) return fail();
  const std::optional<trace::SchedFile> file = trace::read_sched_file(*name, problems);
  if (!file) return fail();
  const trace::CriticalPath path = trace::critical_path(*file);
  const ShownPath shown{test_of(*name), *file, path, chosen(options.trace, path.steps)};
  if (!options.svg.empty()) {
    if (const std::string fault = render::write_picture(options.svg, path_svg(shown)); !fault.empty()) {
      err << "bench: " << fault << '\n';
      return fail();
    }
  }
  return print({.json = [&] { return path_json(shown); },
                .csv = [&] { return path_csv(shown); },
                .markdown = [&] { return render::code_block(path_text(shown, render::Paint(false), 0)); },
                .text = [&] { return path_text(shown, paint, options.screen.width); }},
               options, problems, out, err);
}

// The critical path for people: what took how long in all, then the steps in their order.

namespace {

using render::Align;
using trace::SchedFile;
using trace::Waker;
using StepKind = trace::PathStep::Kind;

/// `12.345`: microseconds, exact, so that the column adds up.
std::string exact_microseconds(std::uint64_t ns) {
  constexpr std::uint64_t kNs = 1000;
  return fmt::format("{}.{:03}", ns / kNs, ns % kNs);
}

std::string call_place(const std::string& call) {
  return call.empty() ? "outside of a syscall (a page fault)" : "in " + call;
}

bool is_sleep(std::string_view call) {
  return call == "nanosleep" || call == "clock_nanosleep";
}

std::string ended_by(const PathStep& step) {
  switch (step.ended_by) {
    case Waker::interrupt:
      return is_sleep(step.call) ? "a timer" : "an interrupt (a timer or a device)";
    case Waker::other_process:
      return "another process";
    case Waker::kernel_thread:
      return "a thread of the kernel";
    case Waker::thread:
    case Waker::unknown:
      break;
  }
  return "unknown";
}

/// How the step began: `; woken from read by reader 4711, in write`.
std::string begin_text(const SchedFile& file, const PathStep& step) {
  if (step.woken_by == 0) return {};
  const std::string by =
      thread_text(file, step.woken_by) + (step.waker_call.empty() ? std::string() : ", in " + step.waker_call);
  if (step.is_created) return "; created by " + by;
  return "; woken" + (step.woken_from.empty() ? std::string() : " from " + step.woken_from) + " by " + by;
}

std::string share(std::uint64_t ns, std::uint64_t wall_ns) {
  return fmt::format("{:.1f}", 100.0 * static_cast<double>(ns) / static_cast<double>(wall_ns));
}

}  // namespace

std::vector<PathSum> path_sums(const std::vector<PathStep>& steps) {
  std::vector<PathSum> sums;
  for (const PathStep& step : steps) {
    const std::string what = what_text(step);
    auto sum = std::find_if(sums.begin(), sums.end(),
                            [&](const PathSum& one) { return one.thread == step.thread && one.what == what; });
    if (sum == sums.end()) sum = sums.insert(sums.end(), {step.thread, what, 0, 0});
    sum->ns += step.took_ns();
    ++sum->steps;
  }
  std::stable_sort(sums.begin(), sums.end(), [](const PathSum& a, const PathSum& b) { return a.ns > b.ns; });
  return sums;
}

std::vector<std::string> path_notes(const SchedFile& file, const trace::CriticalPath& path) {
  std::vector<std::string> notes;
  if (file.lost > 0) {
    notes.push_back(
        fmt::format("{} events of the scheduler found no room: --syscost_sched=events=N makes room for N", file.lost));
  }
  if (path.contradictions > 0) {
    notes.push_back(fmt::format("the kernel did not show all events: at {} place{} one is missing", path.contradictions,
                                path.contradictions == 1 ? "" : "s"));
  }
  return notes;
}

std::string what_text(const PathStep& step) {
  switch (step.kind) {
    case StepKind::runs:
      return "runs";
    case StepKind::preempted:
      return "preempted";
    case StepKind::waits:
      return "waits for a CPU";
    case StepKind::blocked:
      return "blocked " + call_place(step.call) + ", ended by: " + ended_by(step);
    case StepKind::unknown:
      break;
  }
  return "unknown: events are missing";
}

std::string thread_text(const SchedFile& file, std::uint32_t thread) {
  const auto name = file.names.find(thread);
  const std::string number = std::to_string(thread);
  return name == file.names.end() || name->second.empty() ? number : csv::printable(name->second) + " " + number;
}

std::string path_text(const ShownPath& shown, const render::Paint& paint, std::size_t width) {
  const SchedFile& file = shown.file;
  std::string text = render::wrapped(
      paint.bold(csv::printable(shown.test)) + "  critical path of " +
          render::duration(static_cast<double>(file.wall_ns)) +
          fmt::format(" in {} step{}", shown.path.steps.size(), shown.path.steps.size() == 1 ? "" : "s") + '\n',
      width, 2);
  for (const std::string& note : path_notes(file, shown.path)) {
    text += render::wrapped(paint.yellow(note) + '\n', width, 2);
  }
  if (shown.path.steps.empty()) return text;
  render::Table sums({{"time us", Align::right},
                      {"% of wall", Align::right},
                      {"steps", Align::right},
                      {"thread"},
                      {"what", Align::left, render::Cells::text, render::Shrinks::at_the_end}});
  for (const PathSum& sum : path_sums(shown.path.steps)) {
    sums.add_row({exact_microseconds(sum.ns), share(sum.ns, file.wall_ns), std::to_string(sum.steps),
                  thread_text(file, sum.thread), csv::printable(sum.what)});
  }
  sums.add_row({exact_microseconds(file.wall_ns), share(file.wall_ns, file.wall_ns),
                std::to_string(shown.path.steps.size()), "", "the wall time"});
  text += '\n' + sums.text(2, 2, width);
  render::Table steps({{"at us", Align::right},
                       {"took us", Align::right},
                       {"thread"},
                       {"what", Align::left, render::Cells::text, render::Shrinks::at_the_end}});
  for (const PathStep* step : shown.listed) {
    steps.add_row({exact_microseconds(step->from_ns), exact_microseconds(step->took_ns()),
                   thread_text(file, step->thread), csv::printable(what_text(*step) + begin_text(file, *step))});
  }
  text += '\n' + steps.text(2, 2, width);
  if (shown.listed.size() < shown.path.steps.size()) {
    text += fmt::format("{} of {} steps\n", shown.listed.size(), shown.path.steps.size());
  }
  return text;
}

}  // namespace syscost::bench::commands
