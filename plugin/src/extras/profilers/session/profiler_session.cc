// SPDX-License-Identifier: MIT
#include "extras/profilers/session/profiler_session.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "extras/profilers/session/findings.h"
#include "os/errors.h"
#include "session/run/run_info.h"
#include "syscost/schema.h"

namespace syscost::session {
namespace {

csv::ToolSyscall row_of(const profilers::SyscallFigures& figures) {
  csv::ToolSyscall row;
  row.id = {kNativeAbi, static_cast<std::uint32_t>(figures.number)};
  row.entries = figures.entries;
  if (figures.has_errors) {
    row.errors = 0;
    for (const auto& [error, count] : figures.errors) {
      *row.errors += count;
      row.errnos += (row.errnos.empty() ? "" : " ") + std::string(errno_name(error)) + ":" + std::to_string(count);
    }
  }
  if (figures.latency.empty()) return row;
  row.latency_count = 0;
  for (const profilers::LatencyBucket& bucket : figures.latency) {
    *row.latency_count += bucket.count;
    if (bucket.count == 0) continue;
    row.histogram +=
        (row.histogram.empty() ? "" : " ") + std::to_string(bucket.lower_ns) + ":" + std::to_string(bucket.count);
  }
  row.latency_sum_ns = figures.latency_sum_ns;
  row.latency_min_ns = figures.latency_min_ns;
  row.latency_max_ns = figures.latency_max_ns;
  return row;
}

/// Returns the rows of a tool; none if no script counts syscalls.
std::optional<csv::ToolWindow> rows_of(const ProfilerOutputs& findings) {
  csv::ToolWindow window;
  window.origin = findings.tool;
  bool has_counts = false;
  for (const profilers::Output& output : findings.outputs) {
    has_counts = has_counts || output.counts_syscalls || !output.syscalls.empty();
    window.lost += output.lost_events;
  }
  if (!has_counts) return std::nullopt;
  for (const profilers::SyscallFigures& figures : all_figures(findings)) window.syscalls.push_back(row_of(figures));
  return window;
}

void add_lines(std::vector<std::string>& lines, std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    lines.emplace_back(line);
  }
}

}  // namespace

Result<std::string> artifacts_root(const Options& options) {
  if (!options.artifacts.empty()) return resolve_path(options.artifacts, options.artifacts_source);
  if (options.csv.empty()) return resolve_path(kArtifactsName, Source::command_line);
  Result<std::string> csv = resolve_path(options.csv, options.csv_source);
  if (!csv.ok()) return csv;
  return csv.value().substr(0, csv.value().rfind('/') + 1) + kArtifactsName;
}

Result<Artifacts> open_artifacts(const Options& options, const csv::RunColumns& run) {
  const Result<std::string> root = artifacts_root(options);
  if (!root.ok()) return root.failure();
  return Artifacts::open(root.value(), run.run_id, run.program);
}

std::string describe_tools(const Options& options) {
  std::string text;
  if (options.profile_bpftrace) {
    text = "bpftrace";
    for (const std::string& script : scripts_of(options)) text += (text == "bpftrace" ? " " : "+") + script;
  }
  if (options.profile_cupti) text = "cupti";
  if (options.profile_perf) text += text.empty() ? "perf" : ", perf";
  return text;
}

Result<void> ProfilerSession::start(const Options& options, const csv::RunColumns& run) {
  if (!options.wants_tools()) return {};
  Result<std::string> root = artifacts_root(options);
  if (!root.ok()) return root.failure();
  Result<ToolList> opened = opener_(options);
  if (!opened.ok()) return opened.failure();
  Tools tools(std::move(opened.value()));
  if (Result<void> checked = tools.check(); !checked.ok()) return checked;
  Result<Artifacts> artifacts = Artifacts::open(root.value(), run.run_id, run.program);
  if (!artifacts.ok()) {
    Failure failure = artifacts.failure();
    if (failure.how_to_fix.empty()) failure.how_to_fix = "name a folder that can be written: --syscost_artifacts DIR";
    return failure;
  }
  artifacts_ = std::move(artifacts.value());
  tools_ = std::move(tools);
  text_ = describe_tools(options) + " (" + artifacts_->folder() + ")";
  return {};
}

TracedWindow ProfilerSession::conclude(Findings findings, const TracedName& name, const detail::CostData* counted,
                                       std::string_view backend, int framework_writes) {
  TracedWindow traced;
  for (const ProfilerOutputs& tool : findings) {
    for (const profilers::Output& output : tool.outputs) look_at(output, name, counted, traced);
  }
  write_files(findings, name, counted, backend, traced);
  for (ProfilerOutputs& tool : findings) {
    for (profilers::Output& output : tool.outputs) {
      std::move(output.times.begin(), output.times.end(), std::back_inserter(traced.times));
    }
    remove_framework_writes(tool, framework_writes);
    if (std::optional<csv::ToolWindow> rows = rows_of(tool)) traced.rows.push_back(std::move(*rows));
  }
  return traced;
}

void ProfilerSession::look_at(const profilers::Output& output, const TracedName& name, const detail::CostData* counted,
                              TracedWindow& traced) const {
  add_lines(traced.lines, output.summary);
  if (output.lost_events > 0) {
    traced.lines.push_back(output.script + ": lost " + std::to_string(output.lost_events) +
                           " events, there may have been more than it shows");
  }
  if (!output.counts_syscalls) return;
  if (counted == nullptr) {
    traced.lines.push_back(uncounted_line(output));
    return;
  }
  const ToolCheck check = check_tool(output, *counted);
  traced.lines.push_back(check_line(output, check));
  if (check.is_blind()) {
    traced.problems.push_back(
        {"script " + output.script + " saw nothing of " + name.spoken + ", in which " +
             std::to_string(check.counted_total) + " syscalls were counted",
         "run it again; if it fails again, try --syscost_bpf syslat; --syscost_bpf list shows the scripts"});
  } else if (!check.agrees()) {
    std::string lost;
    if (output.lost_events > 0) lost = "; it lost " + std::to_string(output.lost_events) + " events";
    if (counted->lost + counted->late > 0) {
      lost += "; of ours " + std::to_string(counted->lost + counted->late) + " were lost or late";
    }
    traced.differences.push_back("script " + output.script + " and our count differ in " + name.spoken + ": " +
                                 differences(check) + lost);
  }
}

void ProfilerSession::write_files(const Findings& findings, const TracedName& name, const detail::CostData* counted,
                                  std::string_view backend, TracedWindow& traced) {
  const Result<std::string>& folder = name.folder;
  Result<void> written = folder.ok() ? Result<void>() : folder.failure();
  for (const ProfilerOutputs& tool : findings) {
    for (const profilers::Output& output : tool.outputs) {
      for (const profilers::Artifact& artifact : output.artifacts) {
        if (written.ok()) written = artifacts_->write(folder.value(), artifact.name, artifact.content);
      }
      if (!written.ok() || counted == nullptr || !output.counts_syscalls) continue;
      written = artifacts_->write(folder.value(), output.script + ".check.json",
                                  check_json(output, check_tool(output, *counted), backend));
    }
  }
  if (written.ok()) {
    // If the tool had no output, there is no file: then the empty folder is removed.
    if (rmdir(folder.value().c_str()) != 0) traced.lines.push_back(folder.value());
    return;
  }
  // One message for the first; a full disk would repeat it for every test.
  if (std::exchange(has_failed_to_write_, true)) return;
  Failure failure = written.failure();
  if (failure.reason.ends_with('.')) failure.reason.pop_back();
  failure.reason += "; the artifacts of " + name.spoken + " are incomplete; the tests continue";
  traced.problems.push_back(std::move(failure));
}

void add_gpu_kernel_rows(Recorder& recorder, const csv::WindowColumns& traced,
                         const std::vector<profilers::TimeFigure>& times, const TakeRepetitions& take_repetitions) {
  const std::string loop = traced.kind == "loop" ? "loop " + std::string(traced.window) + ": " : std::string();
  for (const profilers::TimeFigure& figure : times) {
    const std::string window = loop + figure.name;
    csv::WindowColumns row;
    row.kind = schema::kKindGpuKernel;
    row.test = traced.test;
    row.window = window;
    row.parent = traced.parent;
    row.excluded = figure.note;
    row.repetition = take_repetitions(window, figure.rows.size());
    for (const profilers::TimeRow& time : figure.rows) {
      row.iterations = time.iterations;
      row.wall_ns = time.total_ns;
      recorder.add(row, nullptr, {});
      ++row.repetition;
    }
  }
}

}  // namespace syscost::session
