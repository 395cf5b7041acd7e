// SPDX-License-Identifier: MIT
#include "commands/window_traces.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "commands/artifact.h"
#include "trace/artifact_bytes.h"

namespace syscost::bench::commands {

namespace fs = std::filesystem;
using trace::FoundTrace;
using trace::TraceFile;

namespace {

/// Programs of one run may have tests of one name: the process and the time tell them apart. The slice lasts as long as
/// the window, or longer if the window has pauses (loops, the framework's own work in a test of Catch2 or doctest);
/// then the calls are the same, too.
bool is_trace_of(const TraceFile& file, const model::Sample& sample) {
  const trace::Slice* own = file.window();
  const model::Measured& wall_ns = sample.totals.wall_ns;
  if (own == nullptr || file.process != sample.pid || !own->took_ns || !wall_ns.has_value()) return false;
  if (*own->took_ns == *wall_ns) return true;
  return *own->took_ns > *wall_ns && own->calls && sample.totals.calls.has_value() &&
         *own->calls == *sample.totals.calls;
}

}  // namespace

std::string folder_name(const model::Dataset& data, const model::Sample& sample) {
  std::string name = data.text(sample.test);
  const std::string& window = data.text(sample.window);
  if (!window.empty()) name += (name.empty() ? "" : " ") + window;
  if (sample.repetition > 0) name += fmt::format(".{}", sample.repetition);
  return name;
}

std::vector<FoundTrace> WindowTraces::candidates(const model::Sample& sample, const std::string& file_name) {
  const model::Context& context = data_.context(sample);
  const std::string& csv = data_.files[context.file];
  const std::string folder = folder_.empty() ? (fs::path(csv).parent_path() / trace::kArtifacts).string() : folder_;
  const std::string& run = data_.text(context.run_id);
  const auto [at, is_new] = traces_.try_emplace({folder, run, file_name});
  std::error_code error;
  if (is_new && fs::is_directory(folder, error)) {
    at->second = trace::find_traces(folder, file_name, {run}, problems_);
  } else if (is_new && !folder_.empty() && traces_.size() == 1) {
    problems_.add(folder, 0, "no such folder: no trace was read");
  }
  return trace::in_folder_of(at->second, folder_name(data_, sample));
}

std::optional<TraceFile> WindowTraces::of(const model::Group& group) {
  for (const std::uint32_t index : group.samples) {
    const model::Sample& sample = data_.samples[index];
    for (const FoundTrace& found : candidates(sample)) {
      std::optional<std::vector<char>> bytes = trace::artifact_bytes(found.path, problems_);
      if (!bytes) continue;
      TraceFile file = trace::read_trace(found.path, *std::move(bytes), problems_);
      if (is_trace_of(file, sample)) return file;
    }
  }
  return std::nullopt;
}

std::optional<trace::SchedFile> WindowTraces::sched_of(const model::Group& group) {
  for (const std::uint32_t index : group.samples) {
    const model::Sample& sample = data_.samples[index];
    for (const FoundTrace& found : candidates(sample, trace::kSchedName)) {
      std::optional<trace::SchedFile> file = trace::read_sched_file(found.path, problems_);
      // The file does not name its process: the exact time tells programs apart.
      if (file && sample.totals.wall_ns.has_value() && file->wall_ns == *sample.totals.wall_ns) return file;
    }
  }
  return std::nullopt;
}

}  // namespace syscost::bench::commands
