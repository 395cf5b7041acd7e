// SPDX-License-Identifier: MIT
#include "commands/shared/artifacts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <ostream>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "csv/text.h"
#include "model/choice.h"
#include "model/loader.h"
#include "trace/artifacts.h"

namespace syscost::bench::commands {
namespace {

namespace fs = std::filesystem;
using trace::FoundTrace;

constexpr std::size_t kNamedRuns = 10;

/// Where traces are looked for, and of which runs.
struct Place {
  std::string folder;
  std::set<std::string> run_ids;  ///< Empty = all.
};

/// Prints why there is none.
std::optional<Place> place_of(const cli::Options& options, const ArtifactKind& kind, csv::Problems& problems,
                              std::ostream& err) {
  const std::string& from = options.trace.from;
  Place place{from.empty() ? trace::kArtifacts : from, {options.run_ids.begin(), options.run_ids.end()}};
  std::error_code error;
  if (!from.empty() && !fs::is_directory(from, error)) {
    model::LoadOptions load;
    load.keep_rows = false;
    if (!options.run_ids.empty()) load.run_id = options.run_ids.front();
    const model::Dataset data = model::load(from, load, problems);
    if (data.contexts.empty()) return std::nullopt;
    place.run_ids.clear();
    for (const model::Context& context : data.contexts) place.run_ids.insert(std::string(data.text(context.run_id)));
    const fs::path beside = fs::path(from).parent_path() / trace::kArtifacts;
    place.folder = beside.string();
  }
  if (fs::is_directory(place.folder, error)) return place;
  err << "bench: there is no folder " << csv::printable(place.folder) << '\n'
      << kind.how_to << "If its artifacts are elsewhere (--syscost_artifacts), give that folder as FILE.\n";
  return std::nullopt;
}

void print_several(const std::vector<FoundTrace>& found, const ArtifactKind& kind, const std::string& asked,
                   std::ostream& err) {
  err << csv::printable(
             fmt::format("bench: {} {}s are of tests with \"{}\" in their names:", found.size(), kind.what, asked))
      << '\n';
  for (std::size_t i = 0; i < std::min(found.size(), kNamedRuns); ++i) {
    err << "  " << csv::printable(found[i].path) << '\n';
  }
  if (found.size() > kNamedRuns) err << fmt::format("  and {} more\n", found.size() - kNamedRuns);
  err << "Give more of the name, or one of these files: bench trace FILE\n";
}

void print_none(const std::vector<FoundTrace>& all, const ArtifactKind& kind, const std::string& asked,
                std::ostream& err) {
  std::vector<std::string> names;
  for (const FoundTrace& one : all) names.push_back(one.test);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  err << csv::printable(fmt::format("bench: no {} is of a test with \"{}\" in its name{}", kind.what, asked,
                                    model::or_rather(asked, names)))
      << '\n';
  const std::size_t rest = names.size() > kNamedRuns ? names.size() - kNamedRuns : 0;
  names.resize(names.size() - rest);
  err << csv::printable(fmt::format("There are {}s of {}{}", kind.what, fmt::join(names, ", "),
                                    rest == 0 ? "" : fmt::format(" and {} more", rest)))
      << '\n';
}

/// True if there is only the text of what was asked for; prints where it is.
bool has_only_text(const cli::Options& options, const ArtifactKind& kind, const Place& place, csv::Problems& problems,
                   std::ostream& err) {
  if (kind.text == nullptr) return false;
  const std::vector<FoundTrace> found =
      trace::of_test(trace::find_traces(place.folder, kind.text, place.run_ids, problems), options.trace.test);
  if (found.empty()) return false;
  err << "bench: there is no " << kind.file << " beside " << csv::printable(found.back().path)
      << ", and bench reads no other file\nThe text has the same calls: read it as the output of strace -f -ttt -T.\n";
  return true;
}

/// The file that stands beside the text that was given; empty, with a message, if there is none.
std::optional<std::string> beside_text(const std::string& text, const ArtifactKind& kind, std::ostream& err) {
  const fs::path file = fs::path(text).parent_path() / kind.file;
  std::error_code error;
  if (fs::exists(file, error)) return file.string();
  err << "bench: " << csv::printable(text) << " is text, and there is no " << kind.file
      << " beside it, which bench reads\n";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_artifact(const cli::Options& options, const ArtifactKind& kind, csv::Problems& problems,
                                         std::ostream& err) {
  if (options.trace.from.empty() && options.trace.test.ends_with(kind.ending)) return options.trace.test;
  if (options.trace.from.ends_with(kind.ending)) return options.trace.from;
  for (const std::string* given : {&options.trace.from, &options.trace.test}) {
    const bool is_file = given == &options.trace.from || options.trace.from.empty();
    if (kind.text != nullptr && is_file && given->ends_with(".strace")) return beside_text(*given, kind, err);
  }
  const std::optional<Place> place = place_of(options, kind, problems, err);
  if (!place) return std::nullopt;
  std::vector<FoundTrace> all = trace::find_traces(place->folder, kind.file, place->run_ids, problems);
  if (all.empty()) {
    if (has_only_text(options, kind, *place, problems, err)) return std::nullopt;
    const bool is_of_run = !place->run_ids.empty();
    err << csv::printable(fmt::format("bench: {} holds no {}{}", place->folder, kind.what,
                                      is_of_run ? fmt::format(" of run {}", fmt::join(place->run_ids, ", ")) : ""))
        << '\n'
        << kind.how_to;
    return std::nullopt;
  }
  std::vector<FoundTrace> found = trace::of_test(all, options.trace.test);
  if (found.empty()) {
    if (has_only_text(options, kind, *place, problems, err)) return std::nullopt;
    print_none(trace::of_newest_run(std::move(all)), kind, options.trace.test, err);
    return std::nullopt;
  }
  found = trace::of_newest_run(std::move(found));
  if (found.size() == 1) return found.front().path;
  print_several(found, kind, options.trace.test, err);
  return std::nullopt;
}

namespace fs = std::filesystem;
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
