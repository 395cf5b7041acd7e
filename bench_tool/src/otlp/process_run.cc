// SPDX-License-Identifier: MIT
#include "otlp/process_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/start_time.h"
#include "otlp/ids.h"
#include "syscost/schema.h"

namespace syscost::bench::otlp {
namespace {

using model::Context;
using model::NameId;
using model::Sample;

std::string process_key(const model::Dataset& data, const Context& context, std::uint64_t pid) {
  std::string key = key_of({fmt::format("{}", pid)});
  for (const NameId Context::*field :
       {&Context::run_id, &Context::started_at, &Context::label, &Context::host, &Context::kernel_release,
        &Context::commit, &Context::build_id, &Context::build_type, &Context::backend, &Context::selection,
        &Context::filter, &Context::program}) {
    key += key_of({data.text(context.*field)});
  }
  return key;
}

/// Saturates: a number out of a file may be any.
std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/// Windows that follow each other in a process. The others ran inside one of them.
bool is_outer(const model::Dataset& data, const Sample& sample) {
  static constexpr std::array<std::string_view, 4> kOuter = {"test", "benchmark", "suite", "environment"};
  const std::string& kind = data.text(sample.kind);
  if (std::find(kOuter.begin(), kOuter.end(), kind) != kOuter.end()) return true;
  return kind == "process" && sample.window == model::kNoName && sample.parent == model::kNoName;  // a whole command
}

/// Gives the windows of one process their owners and places.
class Layout {
 public:
  Layout(const model::Dataset& data, ProcessRun& process) : data_(data), process_(process) {}

  void place() {
    find_owners();
    std::vector<std::vector<std::size_t>> loops(process_.windows.size());
    for (std::size_t i = 0; i < process_.windows.size(); ++i) {
      const PlacedWindow& window = process_.windows[i];
      if (window.is_span && is_loop(i) && window.owner) loops[*window.owner].push_back(i);
    }
    std::uint64_t next = process_.start_unix_ns;
    const auto put = [&](std::size_t i) {
      set_times(i, next);
      next = process_.windows[i].end_unix_ns;
    };
    for (std::size_t i = 0; i < process_.windows.size(); ++i) {
      const PlacedWindow& window = process_.windows[i];
      if (!window.is_span || window.owner || (!is_outer(data_, sample_of(i)) && !is_loop(i))) continue;
      put(i);
      // The time of a window does not contain that of its loops.
      for (const std::size_t loop : loops[i]) put(loop);
    }
    process_.end_unix_ns = next;
    for (std::size_t i = 0; i < process_.windows.size(); ++i) {
      PlacedWindow& window = process_.windows[i];
      if (!window.is_span) {
        window.start_unix_ns = window.end_unix_ns = process_.end_unix_ns;
      } else if (!is_outer(data_, sample_of(i)) && !is_loop(i)) {
        set_times(i, outer_start(window));
      }
    }
  }

 private:
  using Name = std::tuple<NameId, NameId>;  // of a window: its test and its own name

  const Sample& sample_of(std::size_t i) const { return data_.samples[process_.windows[i].sample]; }
  bool is_loop(std::size_t i) const { return data_.text(sample_of(i).kind) == "loop"; }

  void set_times(std::size_t i, std::uint64_t start) {
    PlacedWindow& window = process_.windows[i];
    window.start_unix_ns = start;
    window.end_unix_ns = sum_of(start, sample_of(i).totals.wall_ns.value_or(0));
  }

  /// The start of the outermost window that it is known to have run in.
  std::uint64_t outer_start(const PlacedWindow& window) const {
    const PlacedWindow* outer = &window;
    // A scope in a file may name itself as its parent, so there is a limit.
    for (int depth = 0; outer->owner && depth < 100; ++depth) outer = &process_.windows[*outer->owner];
    return outer == &window || !is_outer(data_, data_.samples[outer->sample]) ? process_.start_unix_ns
                                                                              : outer->start_unix_ns;
  }

  void find_owners() {
    std::map<Name, std::vector<std::size_t>> outer;
    std::map<Name, std::vector<std::size_t>> scopes;
    for (std::size_t i = 0; i < process_.windows.size(); ++i) {
      if (!process_.windows[i].is_span) continue;
      const Sample& sample = sample_of(i);
      if (is_outer(data_, sample)) outer[{sample.test, sample.window}].push_back(i);
      if (data_.text(sample.kind) == "scope") scopes[{sample.test, sample.window}].push_back(i);
    }
    for (std::size_t i = 0; i < process_.windows.size(); ++i) {
      PlacedWindow& window = process_.windows[i];
      if (!window.is_span || is_outer(data_, sample_of(i))) continue;
      const Sample& sample = sample_of(i);
      const Name name(sample.test, sample.parent);
      window.owner = only_one(outer, name, sample);
      if (window.owner || data_.text(sample.kind) != "scope") continue;
      window.owner = only_one(scopes, name, sample);
      if (window.owner == i) window.owner.reset();
      if (!window.owner) window.owner = only_one(outer, Name(sample.test, model::kNoName), sample);
    }
  }

  /// The window of that name, if it is known which one is meant. Only rows of child processes say in which repetition.
  std::optional<std::size_t> only_one(const std::map<Name, std::vector<std::size_t>>& windows, const Name& name,
                                      const Sample& inside) const {
    const auto found = windows.find(name);
    if (found == windows.end()) return std::nullopt;
    if (found->second.size() == 1) return found->second.front();
    if (data_.text(inside.kind) != "process") return std::nullopt;
    std::optional<std::size_t> only;
    for (const std::size_t i : found->second) {
      if (sample_of(i).repetition != inside.repetition) continue;
      if (only) return std::nullopt;
      only = i;
    }
    return only;
  }

  const model::Dataset& data_;
  ProcessRun& process_;
};

}  // namespace

std::vector<ProcessRun> process_runs(const model::Dataset& data, csv::Problems& problems) {
  std::vector<ProcessRun> processes;
  std::unordered_map<std::string, std::size_t> known;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> recent;  // a key is long, and most rows repeat it
  for (std::uint32_t i = 0; i < data.samples.size(); ++i) {
    const Sample& sample = data.samples[i];
    const auto [at, is_new] = recent.try_emplace({sample.context, sample.pid}, 0);
    if (is_new) {
      std::string key = process_key(data, data.context(sample), sample.pid);
      const auto [process, is_first] = known.try_emplace(key, processes.size());
      at->second = process->second;
      if (is_first) processes.push_back({sample.context, sample.pid, std::move(key), 0, 0, {}});
    }
    const bool is_figure =
        data.text(sample.origin) != schema::kOriginSyscost || data.text(sample.kind) == schema::kKindGpuKernel;
    PlacedWindow window;
    window.sample = i;
    window.is_span = !is_figure;
    processes[at->second].windows.push_back(window);
  }
  std::erase_if(processes, [&](ProcessRun& process) {
    const Context& context = data.contexts[process.context];
    const auto start = model::unix_ns(data.text(context.started_at));
    if (!start) {
      problems.add(
          data.files[context.file], 0,
          fmt::format("the rows of program {} have no start time (column started_at), so they are not exported",
                      data.text(context.program)));
      return true;
    }
    process.start_unix_ns = *start;
    Layout(data, process).place();
    return false;
  });
  return processes;
}

Attributes resource_of(const model::Dataset& data, const ProcessRun& process) {
  const Context& context = data.contexts[process.context];
  Attributes all;
  all.add("service.name", data.text(context.program));
  all.add("host.name", data.text(context.host));
  all.add("os.type", "linux");
  if (!context.is_plain) all.add("process.pid", model::Measured(process.pid));
  all.add("vcs.ref.head.revision", data.text(context.commit));
  static constexpr std::array<std::pair<const char*, NameId Context::*>, 9> kOwn = {
      {{"syscost.run_id", &Context::run_id},
       {"syscost.started_at", &Context::started_at},
       {"syscost.label", &Context::label},
       {"syscost.kernel_release", &Context::kernel_release},
       {"syscost.build_id", &Context::build_id},
       {"syscost.build_type", &Context::build_type},
       {"syscost.backend", &Context::backend},
       {"syscost.selection", &Context::selection},
       {"syscost.filter", &Context::filter}}};
  for (const auto& [name, field] : kOwn) all.add(name, data.text(context.*field));
  return all;
}

}  // namespace syscost::bench::otlp
