// SPDX-License-Identifier: MIT
#include "commands/trace/trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

#include "commands/critical_path/critical_path.h"
#include "commands/shared/artifacts.h"
#include "commands/shared/document.h"
#include "csv/text.h"
#include "model/choice.h"
#include "model/loader.h"
#include "render/table.h"
#include "trace/artifacts.h"

namespace syscost::bench::commands {
namespace {

using trace::Call;
using trace::TraceFile;

constexpr ArtifactKind kTrace{
    trace::kTraceName, ".pftrace", "trace",
    "Run the tests with --syscost_trace (SYSCOST_TRACE=1), which needs --syscost_backend dispatch.\n", "trace.strace"};

/// A file that was given must be of TEST.
bool is_asked_for(const cli::Options& options, const TraceFile& file, std::ostream& err) {
  if (!options.trace.from.ends_with(kTrace.ending)) return true;
  const std::string name = name_of(file);
  if (name.find(options.trace.test) != std::string::npos) return true;
  err << "bench: "
      << csv::printable(fmt::format("{} is the trace of {}, not of {}", file.path, name, options.trace.test)) << '\n';
  return false;
}

bool is_under_way(const cli::TraceOptions& options, const TraceFile& file, const Call& call) {
  if (options.between.empty()) return true;
  const std::int64_t start = at_ns(file, call);
  if (start > options.to_ns) return false;
  if (!call.took_ns || start >= options.from_ns) return start >= options.from_ns;
  return *call.took_ns >= static_cast<std::uint64_t>(options.from_ns) - static_cast<std::uint64_t>(start);
}

template <class Values, class Value>
bool is_one_of(const Values& values, const Value& value) {
  return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
}

std::vector<const Call*> chosen(const cli::TraceOptions& options, const model::SyscallChoice& choice,
                                const TraceFile& file) {
  std::vector<const Call*> calls;
  for (const Call& call : file.calls) {
    if (options.is_errors_only && call.error().empty()) continue;
    if (!options.errnos.empty() && !is_one_of(options.errnos, call.error())) continue;
    if (!options.site.empty() && csv::printable(call.site).find(options.site) == std::string::npos) continue;
    if (!is_one_of(options.thread_ids, call.thread) || !is_under_way(options, file, call)) continue;
    if (!choice.matches(std::string(call.name), {}, file.categories[call.categories])) continue;
    calls.push_back(&call);
  }
  const std::size_t most = std::min(options.most.value_or(calls.size()), calls.size());
  if (!options.last.empty()) {
    calls.erase(calls.begin(), calls.end() - static_cast<std::ptrdiff_t>(most));
  } else {
    if (!options.slowest.empty()) {
      std::stable_sort(calls.begin(), calls.end(),
                       [](const Call* a, const Call* b) { return a->took_ns > b->took_ns; });
    }
    calls.resize(most);
  }
  return calls;
}

bool has_sites(const TraceFile& file) {
  return std::any_of(file.calls.begin(), file.calls.end(), [](const Call& call) { return !call.site.empty(); });
}

/// The message if no call is chosen.
void print_made(const TraceFile& file, std::ostream& err) {
  std::map<std::string_view, std::size_t> made;
  for (const Call& call : file.calls) ++made[call.name];
  std::vector<std::string> words;
  for (const auto& [name, count] : made) words.push_back(fmt::format("{} {}", count, name));
  err << csv::printable(fmt::format("bench: no call of {} matches; its trace has {}", name_of(file),
                                    words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "))))
      << '\n';
}

}  // namespace

std::string name_of(const TraceFile& file) {
  if (const trace::Slice* window = file.window()) return std::string(window->name);
  return fmt::format("process {} ({})", file.process, file.program);
}

std::int64_t at_ns(const TraceFile& file, const Call& call) {
  return static_cast<std::int64_t>(call.start_ns - file.origin_ns());
}

std::string arguments_text(const TraceFile& file, const Call& call) {
  std::string text;
  for (std::size_t i = 0; i < call.note_count; ++i) {
    text.append(i == 0 ? "" : ", ").append(file.notes[call.first_note + i].text);
  }
  return text;
}

int trace(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  if (options.trace.is_critical_path) return critical_path(options, paint, out, err);
  csv::Problems problems;
  const auto fail = [&] {
    problems.print(err);
    return cli::kExitBadInput;
  };
  std::string fault;
  const std::optional<model::SyscallChoice> choice = model::SyscallChoice::parse(options.trace.syscall, fault);
  if (!choice) {
    err << "bench: --syscall " << csv::printable(fault) << '\n';
    return fail();
  }
  const std::optional<std::string> path = find_artifact(options, kTrace, problems, err);
  if (!path) return fail();
  std::optional<std::vector<char>> bytes = trace::artifact_bytes(*path, problems);
  if (!bytes) return fail();
  const TraceFile file = trace::read_trace(*path, *std::move(bytes), problems);
  if (file.calls.empty() && file.slices.empty()) return fail();
  if (!is_asked_for(options, file, err)) return fail();
  const ShownTrace shown{file, chosen(options.trace, *choice, file)};
  if (shown.calls.empty() && !file.calls.empty()) {
    if (!options.trace.site.empty() && !has_sites(file)) {
      err << "bench: " << csv::printable(file.path) << " says of no call where it came from\n"
          << "Run the tests with --syscost_where, too (SYSCOST_WHERE=1).\n";
      return fail();
    }
    print_made(file, err);
    return fail();
  }
  return print({.json = [&] { return trace_json(shown); },
                .csv = [&] { return trace_csv(shown); },
                .markdown = [&] { return render::code_block(trace_text(shown, render::Paint(false), 0)); },
                .text = [&] { return trace_text(shown, paint, options.screen.width); }},
               options, problems, out, err);
}

}  // namespace syscost::bench::commands
