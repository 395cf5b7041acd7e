// SPDX-License-Identifier: MIT
#include "faults/test_row.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "csv/input.h"
#include "csv/problems.h"
#include "model/loader.h"
#include "model/row_parser.h"
#include "model/site.h"
#include "trace/artifacts.h"
#include "trace/trace_file.h"

namespace syscost::bench::faults {
namespace {

namespace fs = std::filesystem;

/// Wrong lines are no concern of a sweep: a killed process leaves a torn one.
model::Dataset load_rows(const fs::path& csv) {
  model::LoadOptions options;
  options.keep_sites = true;
  csv::Problems ignored;
  std::error_code error;
  return fs::exists(csv, error) ? model::load(csv.string(), options, ignored) : model::Dataset();
}

std::optional<std::uint32_t> sample_of(const model::Dataset& data, const std::string& test) {
  for (std::size_t i = data.samples.size(); i-- > 0;) {
    const model::Sample& sample = data.samples[i];
    if (data.text(sample.kind) == "test" && data.text(sample.test) == test && sample.totals_line != 0) {
      return static_cast<std::uint32_t>(i);
    }
  }
  return std::nullopt;
}

/// Entries, which dispatch does not tell from calls.
std::uint64_t entries_of(const model::SyscallRow& row) {
  return row.entries.has_value() ? *row.entries : row.calls.value_or(0) + row.in_flight.value_or(0);
}

/// Calls by which a test is not compared with itself: allocators and other threads decide how many there are.
bool varies(std::string_view classes) {
  return model::has_class(classes, "memory") || model::has_class(classes, "wait") ||
         model::has_class(classes, "volatile");
}

/// `errnos`: as column `errnos` has them.
bool has_error(std::string_view errnos, std::string_view error) {
  const auto list = model::parse_errnos(errnos);
  return list && std::any_of(list->begin(), list->end(), [&](const auto& one) { return one.first == error; });
}

std::string site_text(std::string_view detail) {
  if (!model::is_site(detail)) return {};
  const model::Site site = model::parse_site(detail);
  return site.is_unknown() ? std::string() : model::text_of(site);
}

/// GoogleTest calls Test::Run(), and that SetUp(), TestBody() and TearDown(); a fixture is made and destroyed beside
/// it. A call of another thread may be of any part.
Part part_of(const trace::TraceFile& file, const trace::Call& call) {
  bool is_in_a_test = false;
  for (const std::uint32_t at : file.stacks[call.stack]) {
    const std::string_view function = file.frames[at].function;
    constexpr std::string_view kBody = "::TestBody";
    const std::size_t body = function.rfind(kBody);
    const std::size_t after = body == std::string_view::npos ? body : body + kBody.size();
    if (after == function.size() || (after < function.size() && function[after] == '(')) return Part::body;
    is_in_a_test = is_in_a_test || function.starts_with("testing::");
  }
  return is_in_a_test ? Part::fixture : Part::unknown;
}

/// The trace of `test` itself; a suite's set-up and tear-down have others.
std::optional<trace::TraceFile> trace_of(const std::string& test, const fs::path& traces) {
  csv::Problems problems;
  std::error_code error;
  if (traces.empty() || !fs::exists(traces, error)) return std::nullopt;
  for (const trace::FoundTrace& found : trace::find_traces(traces.string(), trace::kTraceName, {}, problems)) {
    const std::optional<std::string> text = csv::read_text(found.path, problems);
    if (!text) continue;
    trace::TraceFile file = trace::read_trace(found.path, {text->begin(), text->end()}, problems);
    const trace::Slice* const window = file.window();
    if (problems.empty() && window != nullptr && window->name == "test " + test) return file;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> tests_in(const fs::path& csv) {
  const model::Dataset data = load_rows(csv);
  std::vector<std::string> names;
  for (const model::Sample& sample : data.samples) {
    if (data.text(sample.kind) != "test" || sample.totals_line == 0) continue;
    const std::string& name = data.text(sample.test);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

void read_row(const fs::path& csv, const std::string& test, const Failure* failure, Observed& observed) {
  const model::Dataset data = load_rows(csv);
  const std::optional<std::uint32_t> index = sample_of(data, test);
  if (!index) return;
  const model::Totals& totals = data.samples[*index].totals;
  observed.verdict = data.text(totals.outcome);
  observed.has_row = !observed.verdict.empty();  // else the test ended the process
  observed.descriptors_left = totals.descriptors_left.value_or(0);
  observed.left_open = data.text(totals.unclosed);
  // Where calls are shortened, no errno shows it; nor for a brk that fails.
  const std::string_view error = failure == nullptr ? std::string_view() : failure->error;
  const std::string_view errno_name = error.substr(0, error.size() - (error.ends_with(kLasting) ? 1 : 0));
  const auto is_met = [&](const model::SyscallRow& row) {
    if (errno_name == kShort) return row.short_calls.value_or(0) > 0;
    return failure->syscall == "brk" ? row.altered.value_or(0) > 0 : has_error(data.text(row.errnos), errno_name);
  };
  std::uint64_t of_failure = 0;
  for (const model::SyscallRow& row : data.rows_of(*index)) {
    const std::string& syscall = data.text(row.syscall);
    if (failure != nullptr && syscall == failure->syscall) of_failure += entries_of(row);
    if (!varies(data.text(row.classes))) observed.entries[syscall] += entries_of(row);
  }
  if (failure == nullptr) return;
  std::vector<model::SyscallRow> by_site;
  data.rows_by_site().of(*index, by_site);
  for (const model::SyscallRow& row : by_site) {
    if (data.text(row.syscall) != failure->syscall || !is_met(row)) continue;
    // A test that makes fewer calls than n may have such an error by itself.
    observed.is_hit = of_failure >= failure->nth;
    observed.hit = site_text(data.text(row.detail));
  }
}

std::vector<Place> places_of(const fs::path& csv, const fs::path& traces, const std::string& test) {
  const model::Dataset data = load_rows(csv);
  const std::optional<std::uint32_t> index = sample_of(data, test);
  std::vector<Place> places;
  if (!index) return places;
  const std::optional<trace::TraceFile> trace = trace_of(test, traces);
  std::map<std::string_view, std::uint64_t> traced;
  std::set<const trace::Call*> left_out;
  if (trace) {
    WrittenFiles written(*trace);
    for (const trace::Call& call : trace->calls) {
      ++traced[call.name];
      if (written.is_harmless(call)) left_out.insert(&call);
    }
  }
  std::map<std::string, std::pair<std::string, std::uint64_t>> counted;  // classes, entries
  for (const model::SyscallRow& row : data.rows_of(*index)) {
    auto& [classes, entries] = counted[data.text(row.syscall)];
    classes = data.text(row.classes);
    entries += entries_of(row);
  }
  for (const auto& [syscall, counts] : counted) {
    const auto& [classes, count] = counts;
    if (count == 0) continue;
    if (!trace || traced[syscall] != count) {  // without the order of all calls no number has a site
      Place place{syscall, classes, "", std::vector<std::uint64_t>(count), count};
      std::iota(place.nths.begin(), place.nths.end(), 1);
      places.push_back(std::move(place));
      continue;
    }
    std::map<std::pair<std::string, Part>, std::size_t> place_of;
    std::uint64_t nth = 0;
    for (const trace::Call& call : trace->calls) {
      if (call.name != syscall) continue;
      ++nth;
      if (left_out.count(&call) != 0) continue;
      const std::string site = site_text(call.site);
      const Part part = part_of(*trace, call);
      const auto [found, is_new] = place_of.try_emplace({site, part}, places.size());
      if (is_new) places.push_back({syscall, classes, site, {}, 0, part});
      places[found->second].nths.push_back(nth);
      ++places[found->second].calls;
    }
  }
  return places;
}

namespace {

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::array<std::string_view, 4> kOpen = {"open", "openat", "openat2", "creat"};
constexpr std::array<std::string_view, 3> kDuplicate = {"dup", "dup2", "dup3"};
constexpr std::array<std::string_view, 7> kWrite = {"write",    "pwrite64",  "writev",   "pwritev",
                                                    "pwritev2", "ftruncate", "fallocate"};
constexpr std::array<std::string_view, 3> kPair = {"pipe", "pipe2", "socketpair"};
/// Their result is a descriptor of something that is on no disk.
constexpr std::array<std::string_view, 12> kNoFile = {
    "socket",        "accept",         "accept4",       "eventfd",   "eventfd2",     "epoll_create",
    "epoll_create1", "timerfd_create", "inotify_init1", "signalfd4", "memfd_create", "pidfd_open"};

/// A device keeps no data, unless it is the folder of shared memory.
bool is_device(std::string_view path) {
  if (path.starts_with('"')) path.remove_prefix(1);
  return path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
}

}  // namespace

std::string WrittenFiles::argument(const trace::Call& call, std::string_view name) const {
  for (std::size_t i = call.first_note; i < call.first_note + call.note_count; ++i) {
    const trace::Note& note = file_.notes[i];
    if (note.name == name) return note.text.empty() ? std::to_string(note.number) : std::string(note.text);
  }
  return {};
}

void WrittenFiles::open(const trace::Call& call) {
  const std::string flags = argument(call, "flags");
  const auto has = [&](std::string_view flag) { return flags.find(flag) != std::string::npos; };
  auto made = std::make_shared<OpenFile>();
  made->is_kept = !has("O_RDONLY") && !has("O_SYNC") && !has("O_DSYNC") && !is_device(argument(call, "filename"));
  files_[std::string(call.result)] = std::move(made);
}

void WrittenFiles::write(const std::string& descriptor) {
  const auto found = files_.find(descriptor);
  if (found != files_.end()) {
    found->second->is_dirty = found->second->is_kept;
  } else if (!has_pipes_) {  // opened before the test
    files_[descriptor] = std::make_shared<OpenFile>(OpenFile{true, true});
  }
}

void WrittenFiles::sync(const trace::Call& call) {
  const auto found = files_.find(argument(call, "fd"));
  if (found != files_.end()) found->second->is_dirty = false;
}

bool WrittenFiles::close(const std::string& descriptor) {
  const auto found = files_.find(descriptor);
  if (found == files_.end()) return true;
  const bool was_dirty = std::exchange(found->second->is_dirty, false);
  files_.erase(found);
  return !was_dirty;
}

bool WrittenFiles::is_harmless(const trace::Call& call) {
  const std::string descriptor = argument(call, "fd");
  if (call.name == "close") return close(descriptor);
  if (!call.error().empty()) return false;
  if (is_one_of(call.name, kOpen)) {
    open(call);
  } else if (is_one_of(call.name, kDuplicate) ||
             (call.name == "fcntl" && argument(call, "cmd").find("F_DUPFD") != std::string::npos)) {
    const std::string old = argument(call, call.name == "fcntl" ? "fd" : call.name == "dup" ? "fildes" : "oldfd");
    const std::string made(call.result);
    const auto found = files_.find(old);
    if (found != files_.end()) {
      files_[made] = found->second;
    } else if (old != made) {
      files_.erase(made);
    }
  } else if (is_one_of(call.name, kPair)) {
    has_pipes_ = true;
  } else if (is_one_of(call.name, kNoFile)) {
    files_[std::string(call.result)] = std::make_shared<OpenFile>(OpenFile{false, false});
  } else if (call.name == "fsync" || call.name == "fdatasync") {
    sync(call);
  } else if (call.name == "sync" || call.name == "syncfs") {
    for (const auto& [one, file] : files_) file->is_dirty = false;
  } else if (is_one_of(call.name, kWrite)) {
    const bool prints = (call.name == "write" || call.name == "writev") && (descriptor == "1" || descriptor == "2");
    if (!prints) write(descriptor);
    return prints;
  } else if (call.name == "copy_file_range" || call.name == "sendfile") {
    write(argument(call, call.name == "sendfile" ? "out_fd" : "fd_out"));
  }
  return false;
}

}  // namespace syscost::bench::faults
