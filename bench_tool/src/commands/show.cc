// SPDX-License-Identifier: MIT
#include "commands/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "csv/problems.h"
#include "model/group.h"
#include "model/loader.h"
#include "render/csv_writer.h"
#include "render/json.h"
#include "render/units.h"
#include "stats/latency.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {
namespace {

using stats::SyscallLatency;

constexpr std::size_t kBarWidth = 52;  // bpftrace's

/// A window that is shown: the test that was named, or one of its loops.
struct Part {
  stats::WindowSummary window;
  std::vector<SyscallLatency> syscalls;
};

/// The groups that TEST names: exactly, with or without the program, or else by a part of the name. Loops of a test
/// that is among them are not: they are shown with it.
std::vector<const model::Group*> find_test(const model::Dataset& data, const std::vector<model::Group>& groups,
                                           const std::string& wanted) {
  std::vector<const model::Group*> exact;
  std::vector<const model::Group*> partial;
  for (const model::Group& group : groups) {
    const std::string full = model::full_name(data, group);
    if (full == wanted || model::base_name(data, group) == wanted) exact.push_back(&group);
    if (full.find(wanted) != std::string::npos) partial.push_back(&group);
  }
  std::vector<const model::Group*>& found = exact.empty() ? partial : exact;
  std::erase_if(found, [&](const model::Group* group) {
    return group->owner && std::find(found.begin(), found.end(), &groups[*group->owner]) != found.end();
  });
  return found;
}

/// `named` and, behind it, the loops that ran in it.
std::vector<Part> parts_of(const model::Dataset& data, const std::vector<model::Group>& groups,
                           const model::Group& named, std::string_view syscall, csv::Problems& problems) {
  std::vector<Part> parts;
  for (const model::Group& group : groups) {
    if (&group != &named && (!group.owner || &groups[*group.owner] != &named)) continue;
    parts.push_back({stats::summarize(data, group, false), stats::latencies_of(data, group, syscall, problems)});
  }
  return parts;
}

/// Says which tests there are instead of the one that was not found.
void print_candidates(const model::Dataset& data, const std::vector<const model::Group*>& candidates,
                      const std::string& wanted, bool is_ambiguous, std::ostream& err) {
  constexpr std::size_t kMostNamed = 20;
  err << "bench: " << (is_ambiguous ? "several tests match" : "no test matches") << " \"" << wanted << "\"; "
      << (is_ambiguous ? "which one?" : "there are") << '\n';
  for (std::size_t i = 0; i < candidates.size() && i < kMostNamed; ++i) {
    err << "  " << model::display_name(data, *candidates[i]) << '\n';
  }
  if (candidates.size() > kMostNamed) err << "  and " << candidates.size() - kMostNamed << " more\n";
}

std::string percentile_line(const Histogram& latency) {
  if (latency.count() == 0) return "no call returned\n";
  std::string out = "min " + render::duration(static_cast<double>(latency.min_ns()));
  std::size_t unknown = 0;
  for (double fraction : stats::kPercentiles) {
    const auto value = stats::percentile_ns(latency, fraction);
    unknown += value ? 0 : 1;
    out += fmt::format("  p{:.0f} {}", fraction * 100,
                       value ? render::duration(static_cast<double>(*value)) : render::kNotMeasured);
  }
  out += "  max " + render::duration(static_cast<double>(latency.max_ns()));
  if (unknown != stats::kPercentiles.size()) out += "  (percentiles +-6.25 %)";
  if (unknown != 0) out += "  (n/a: too few calls beyond it)";
  return out + '\n';
}

/// The range of buckets that any of the syscalls fills: the axis they share.
std::pair<std::size_t, std::size_t> common_axis(const std::vector<Part>& parts) {
  std::size_t first = kHistogramBuckets;
  std::size_t last = 0;
  for (const Part& part : parts) {
    for (const SyscallLatency& one : part.syscalls) {
      for (std::size_t i = 0; i < kHistogramBuckets; ++i) {
        if (one.latency.bucket_count(i) == 0) continue;
        first = std::min(first, i);
        last = std::max(last, i);
      }
    }
  }
  return {first, last};
}

std::string draw(const std::vector<stats::Bar>& rows) {
  std::uint64_t most = 1;
  for (const stats::Bar& bar : rows) most = std::max(most, bar.count);
  std::string out;
  for (const stats::Bar& bar : rows) {
    const std::string range =
        fmt::format("[{}, {})", render::power_of_two(bar.lower_ns), render::power_of_two(bar.upper_ns));
    const std::string bar_text(static_cast<std::size_t>(static_cast<double>(kBarWidth) *
                                                        static_cast<double>(bar.count) / static_cast<double>(most)),
                               '@');
    out += fmt::format("{:<16} {:>10} |{:<{}}|\n", range, bar.count, bar_text, kBarWidth);
  }
  return out;
}

std::string syscall_text(const SyscallLatency& one, std::pair<std::size_t, std::size_t> axis, bool is_fine,
                         const render::Paint& paint) {
  std::string out = '\n' + paint.bold(one.name);
  if (!one.classes.empty()) out += fmt::format(" ({})", one.classes);
  out += fmt::format(": {} calls", one.calls ? std::to_string(*one.calls) : render::kNotMeasured);
  if (one.errors.value_or(0) > 0) {
    std::string list;
    for (const auto& [name, count] : one.errnos) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, name);
    out += fmt::format(", {} failed{}", *one.errors, list.empty() ? "" : " (" + list + ")");
  }
  if (!one.is_timed) return out + "\nno latencies were measured, or not for every row\n";
  out += ", " + render::duration(static_cast<double>(one.latency.sum_ns())) + " in the kernel\n";
  out += percentile_line(one.latency);
  if (one.latency.count() != 0) out += draw(stats::bars(one.latency, axis.first, axis.second, is_fine));
  return out;
}

std::string part_text(const Part& part, std::pair<std::size_t, std::size_t> axis, bool is_fine,
                      const render::Paint& paint) {
  const stats::WindowSummary& window = part.window;
  const bool is_loop = !window.loop.empty();
  std::string out = paint.bold(window.name);
  out += "  wall " + render::duration(window.wall_ns) + (is_loop && window.wall_ns ? " a call" : "");
  if (!is_loop && window.is_per_iteration) out += " per iteration (counts are not)";
  if (is_loop) {
    out +=
        fmt::format("  n={} of {} calls (counts and histograms are sums)", window.n, render::count(window.iterations));
  } else if (window.n > 1) {
    out += fmt::format("  n={} (counts and histograms are sums)", window.n);
  }
  if (!window.counted_everything()) out += "  filter " + stats::filter_text(window);
  out += "  latencies in ns\n";
  if (window.lost.value_or(0) > 0) {
    out += paint.yellow(fmt::format("warning: {} events lost: counts are lower bounds", *window.lost)) + '\n';
  }
  if (part.syscalls.empty()) {
    out += window.calls || window.entries ? "no syscalls\n" : "syscalls were not counted\n";
  }
  for (const SyscallLatency& one : part.syscalls) out += syscall_text(one, axis, is_fine, paint);
  return out;
}

/// A test that made no such call itself is left out where its loops did.
std::string show_text(const std::vector<Part>& parts, bool is_fine, const render::Paint& paint) {
  const auto axis = common_axis(parts);
  const bool has_any = std::any_of(parts.begin(), parts.end(), [](const Part& part) { return !part.syscalls.empty(); });
  std::string out;
  for (const Part& part : parts) {
    if (part.syscalls.empty() && (has_any || &part != &parts.front())) continue;
    if (!out.empty()) out += '\n';
    out += part_text(part, axis, is_fine, paint);
  }
  return out;
}

/// Filled rows only, from the smallest bucket.
std::vector<stats::Bar> filled_bars(const SyscallLatency& one, bool is_fine) {
  std::vector<stats::Bar> rows = stats::bars(one.latency, 0, kHistogramBuckets - 1, is_fine);
  std::erase_if(rows, [](const stats::Bar& bar) { return bar.count == 0; });
  return rows;
}

render::Json syscalls_json(const std::vector<SyscallLatency>& syscalls, bool is_fine) {
  render::Json list = render::Json::array();
  for (const SyscallLatency& one : syscalls) {
    render::Json latency = nullptr;
    if (one.is_timed) {
      render::Json percentiles = render::Json::object();
      for (double fraction : stats::kPercentiles) {
        percentiles[fmt::format("p{:.0f}", fraction * 100)] =
            render::to_json(stats::percentile_ns(one.latency, fraction));
      }
      render::Json buckets = render::Json::array();
      for (const stats::Bar& bar : filled_bars(one, is_fine)) {
        buckets.push_back({{"lower_ns", bar.lower_ns}, {"upper_ns", bar.upper_ns}, {"count", bar.count}});
      }
      const bool is_empty = one.latency.count() == 0;
      latency = {{"count", one.latency.count()},
                 {"sum_ns", one.latency.sum_ns()},
                 {"min_ns", is_empty ? render::Json(nullptr) : render::Json(one.latency.min_ns())},
                 {"max_ns", is_empty ? render::Json(nullptr) : render::Json(one.latency.max_ns())},
                 {"percentiles_ns", std::move(percentiles)},
                 {"percentile_error", 0.0625},
                 {"histogram", std::move(buckets)}};
    }
    list.push_back({{"syscall", one.name},
                    {"classes", render::classes_json(one.classes)},
                    {"calls", render::to_json(one.calls)},
                    {"errors", render::to_json(one.errors)},
                    {"errnos", one.errnos},
                    {"latency", std::move(latency)}});
  }
  return list;
}

std::string show_json(const model::Dataset& data, const std::vector<Part>& parts, bool is_fine) {
  const stats::WindowSummary& named = parts.front().window;
  render::Json loops = render::Json::array();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const stats::WindowSummary& window = parts[i].window;
    loops.push_back({{"loop", window.loop},
                     {"test", window.name},
                     {"repetitions", window.n},
                     {"iterations", render::to_json(window.iterations)},
                     {"lost_sum", render::to_json(window.lost)},
                     {"syscalls", syscalls_json(parts[i].syscalls, is_fine)}});
  }
  return render::dump({{"schema_version", render::kJsonVersion},
                       {"command", "show"},
                       {"run", render::source_json(data)},
                       {"test", named.name},
                       {"repetitions", named.n},
                       {"lost_sum", render::to_json(named.lost)},
                       {"syscalls", syscalls_json(parts.front().syscalls, is_fine)},
                       {"loops", std::move(loops)}});
}

std::string show_csv(const std::vector<Part>& parts, bool is_fine) {
  render::CsvWriter csv({"test", "syscall", "lower_ns", "upper_ns", "count"});
  for (const Part& part : parts) {
    for (const SyscallLatency& one : part.syscalls) {
      for (const stats::Bar& bar : filled_bars(one, is_fine)) {
        csv.cell(part.window.name).cell(one.name);
        for (std::uint64_t number : {bar.lower_ns, bar.upper_ns, bar.count}) csv.number(static_cast<double>(number));
        csv.end_row();
      }
    }
  }
  return csv.text();
}

}  // namespace

int show(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  model::LoadOptions load_options;
  load_options.all_runs = options.all_runs;
  load_options.for_people = options.for_people();
  if (!options.run_ids.empty()) load_options.run_id = options.run_ids.front();
  load_options.keep_histograms = true;
  load_options.histograms_of = options.test;
  model::Dataset data = model::load(options.runs.front(), load_options, problems);
  auto fail = [&] {
    problems.print(err);
    return cli::kExitBadInput;
  };
  const std::vector<model::Group> groups = model::group_samples(data);
  if (groups.empty()) return fail();
  const auto found = find_test(data, groups, options.test);
  if (found.size() != 1) {
    print_candidates(data, found.empty() ? find_test(data, groups, "") : found, options.test, !found.empty(), err);
    return fail();
  }
  const std::vector<Part> parts = parts_of(data, groups, *found.front(), options.syscall, problems);
  const bool has_any = std::any_of(parts.begin(), parts.end(), [](const Part& part) { return !part.syscalls.empty(); });
  if (!has_any && !options.syscall.empty()) {
    std::set<std::string_view> made;
    for (const Part& part : parts) {
      for (const stats::SyscallSummary& one : part.window.syscalls) made.insert(one.name);
    }
    err << fmt::format("bench: {} made no {}; it made {}\n", parts.front().window.name, options.syscall,
                       made.empty() ? "no syscalls" : fmt::format("{}", fmt::join(made, ", ")));
    return fail();
  }
  switch (options.format) {
    case cli::Format::json:
      out << show_json(data, parts, options.is_fine);
      break;
    case cli::Format::csv:
      out << show_csv(parts, options.is_fine);
      break;
    case cli::Format::md:
      out << "```\n" << show_text(parts, options.is_fine, render::Paint(false)) << "```\n";
      break;
    case cli::Format::text:
      out << show_text(parts, options.is_fine, paint);
      break;
  }
  problems.print(err);
  return problems.empty() ? cli::kExitOk : cli::kExitBadInput;
}

}  // namespace syscost::bench::commands
