// SPDX-License-Identifier: MIT
#include "gpu_stamps/show_stamps.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "commands/shared/document.h"
#include "csv/problems.h"
#include "csv/text.h"
#include "gpu_stamps/analysis.h"
#include "gpu_stamps/stamps_reader.h"
#include "render/numbers.h"
#include "render/svg.h"
#include "render/table.h"

namespace syscost::bench::gpu_stamps {
namespace {

constexpr std::size_t kMostShown = 10;

/// The newest run is the one that was written last.
void select_run(std::vector<gpu::StampedLaunch>& launches, const cli::Options& options) {
  if (options.all_runs || launches.empty()) return;
  const std::string wanted = options.run_ids.empty() ? launches.back().run_id : options.run_ids.front();
  std::erase_if(launches, [&](const gpu::StampedLaunch& launch) { return launch.run_id != wanted; });
}

void make_printable(gpu::StampedLaunch& launch) {
  for (std::string* text : {&launch.run_id, &launch.test, &launch.gpu_kernel, &launch.device}) {
    *text = csv::printable(*text);
  }
}

void print_candidates(const std::vector<gpu::StampedLaunch>& launches, std::ostream& err) {
  for (std::size_t i = 0; i < launches.size() && i < kMostShown; ++i)
    err << "  " << csv::printable(name_of(launches[i])) << '\n';
  if (launches.size() > kMostShown) err << "  and " << launches.size() - kMostShown << " more\n";
}

std::string text_of(const std::vector<Analysis>& analyses, const render::Paint& paint) {
  std::string out;
  for (std::size_t i = 0; i < analyses.size() && i < kMostShown; ++i) {
    if (i != 0) out += '\n';
    out += stamps_text(analyses[i], paint);
  }
  if (analyses.size() > kMostShown) {
    out += fmt::format("\nand {} more launches: name one, or take --format json\n", analyses.size() - kMostShown);
  }
  return out;
}

}  // namespace

std::vector<std::string> pictures_of(const std::string& path, std::size_t most, csv::Problems& problems) {
  std::vector<gpu::StampedLaunch> launches = read_stamps(path, problems);
  select_run(launches, {});
  launches.resize(std::min(launches.size(), most));
  std::vector<std::string> pictures;
  for (gpu::StampedLaunch& launch : launches) {
    make_printable(launch);
    pictures.push_back(stamps_svg(analyze(launch)));
  }
  return pictures;
}

int show_stamps(const cli::Options& options, csv::Input& input, const render::Paint& paint, std::ostream& out,
                std::ostream& err) {
  if (!options.syscall.empty()) {
    err << "bench: a stamp file has no syscalls: bench show STAMPS [KERNEL]\n";
    return cli::kExitBadInput;
  }
  if (!options.tests.empty() || !options.sort.empty() || options.top) {
    err << "bench: --test, --sort and --top choose tests, and a stamp file holds launches: bench show STAMPS "
           "[KERNEL]\n";
    return cli::kExitBadInput;
  }
  csv::Problems problems;
  std::vector<gpu::StampedLaunch> launches = read_stamps(input, problems);
  auto fail = [&] {
    problems.print(err);
    return cli::kExitBadInput;
  };
  select_run(launches, options);
  if (launches.empty()) {
    if (!options.run_ids.empty()) {
      err << fmt::format("bench: no launch of run {}\n", csv::printable(options.run_ids.front()));
    }
    return fail();
  }
  if (options.is_printable()) std::for_each(launches.begin(), launches.end(), make_printable);
  std::vector<gpu::StampedLaunch> chosen;
  std::copy_if(launches.begin(), launches.end(), std::back_inserter(chosen), [&](const gpu::StampedLaunch& launch) {
    return csv::printable(name_of(launch)).find(csv::printable(options.test)) != std::string::npos;
  });
  if (chosen.empty()) {
    err << fmt::format("bench: no launch matches \"{}\"; there are\n", csv::printable(options.test));
    print_candidates(launches, err);
    return fail();
  }
  if (!options.svg.empty() && chosen.size() != 1) {
    err << "bench: a picture is of one launch; which one?\n";
    print_candidates(chosen, err);
    return fail();
  }

  std::vector<Analysis> analyses;
  analyses.reserve(chosen.size());
  for (const gpu::StampedLaunch& launch : chosen) analyses.push_back(analyze(launch));
  if (!options.svg.empty()) {
    if (const std::string fault = render::write_picture(options.svg, stamps_svg(analyses.front())); !fault.empty()) {
      err << "bench: " << fault << '\n';
      return fail();
    }
  }
  return commands::print({.json = [&] { return stamps_json(options.runs.front(), analyses); },
                          .csv = [&] { return stamps_csv(analyses); },
                          .markdown = [&] { return render::code_block(text_of(analyses, render::Paint(false))); },
                          .text = [&] { return text_of(analyses, paint); }},
                         options, problems, out, err);
}

// Stamps for people: a line for each figure; what cannot be said gives its reason.

namespace {

constexpr std::size_t kMostStragglers = 10;

/// The finest step of %globaltimer that is known, of any GPU.
constexpr std::uint64_t kFinestStepNs = 32;

std::string size_text(const gpu::Extent3& size) {
  return fmt::format("{}x{}x{}", size.x, size.y, size.z);
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

/// A time, or that the timer cannot resolve it.
std::string time_text(const Analysis& analysis, double ns) {
  if (analysis.is_unresolved(ns)) {
    return "<= " + render::duration(static_cast<double>(*analysis.resolution_ns));
  }
  return render::duration(ns);
}

std::string ranks_text(const Analysis& analysis, const Ranks& ranks) {
  return fmt::format("p50 {}  p95 {}  max {}", time_text(analysis, static_cast<double>(ranks.p50)),
                     time_text(analysis, static_cast<double>(ranks.p95)),
                     time_text(analysis, static_cast<double>(ranks.max)));
}

const char* unit_name(const Analysis& analysis) {
  return analysis.launch->level == gpu::Level::block ? "blocks" : "warps";
}

std::string line(const std::string& title, const std::string& text) {
  return fmt::format("{:<16} {}\n", title, text);
}

std::string not_known(const std::string& title, const std::string& reason) {
  return line(title, fmt::format("{}: {}", render::kNotMeasured, reason));
}

std::string timer_text(const Analysis& analysis) {
  const gpu::StampedLaunch& launch = *analysis.launch;
  if (launch.timer_step_ns) {
    return fmt::format("timer steps by {}: a time up to {} is not resolved, and printed as that\n",
                       render::duration(static_cast<double>(*launch.timer_step_ns)),
                       render::duration(static_cast<double>(*analysis.resolution_ns)));
  }
  std::string out = "the file does not say by how much the timer steps";
  if (analysis.least_difference_ns) {
    out += fmt::format("; the least difference between two stamps is {}",
                       render::duration(static_cast<double>(*analysis.least_difference_ns)));
    if (*analysis.least_difference_ns < kFinestStepNs) {
      out += fmt::format(":\nevery known %globaltimer steps by {} ns or more, so times below {} ns mean nothing here",
                         kFinestStepNs, 2 * kFinestStepNs);
    }
  }
  return out + '\n';
}

std::string header_text(const Analysis& analysis, const render::Paint& paint) {
  const gpu::StampedLaunch& launch = *analysis.launch;
  std::string out = paint.bold(name_of(launch));
  if (!launch.device.empty()) out += "  on " + launch.device;
  out += '\n';
  if (launch.grid && launch.block) {
    out += fmt::format("grid {}, block {}", size_text(*launch.grid), size_text(*launch.block));
  } else {
    out += "grid and block sizes not recorded";
  }
  const char* const level = has_threads(launch) ? "threads" : launch.level == gpu::Level::block ? "blocks" : "warps";
  out += fmt::format("; stamps of {} {}", launch.scopes.size(), level);
  if (analysis.expected) out += fmt::format(" of {}", *analysis.expected);
  out += '\n' + timer_text(analysis);
  if (launch.overflowed.value_or(0) > 0) {
    out += paint.yellow(fmt::format("warning: {} stamps had no room in the buffer: the figures are about the others",
                                    *launch.overflowed)) +
           '\n';
  }
  if (analysis.expected && *analysis.expected > launch.scopes.size() && launch.overflowed.value_or(0) == 0) {
    out += paint.yellow(fmt::format("warning: {} of them stamped nothing: they never reached the scope, or ended in a "
                                    "trap",
                                    *analysis.expected - launch.scopes.size())) +
           '\n';
  }
  return out;
}

std::string exit_spread_text(const Analysis& analysis) {
  if (!analysis.exit_spread) return not_known("exit spread", analysis.exit_spread.why_not);
  const ExitSpread& spread = *analysis.exit_spread;
  std::string text = fmt::format("{}  of {} warps", ranks_text(analysis, spread.ns), spread.ns.count);
  if (spread.share_resolved) {
    text += fmt::format("; {} over {}", percent(*spread.share_resolved),
                        render::duration(static_cast<double>(*analysis.resolution_ns)));
  }
  if (spread.groups_max) text += fmt::format("; up to {} groups of exits", *spread.groups_max);
  std::string out = line("exit spread", text);
  if (spread.cycles) {
    out += line("", fmt::format("by the SM's clock: p50 {}  p95 {}  max {} cycles", spread.cycles->p50,
                                spread.cycles->p95, spread.cycles->max));
  }
  return out + line("", "(sees early exits and marks, not divergence that reconverged before the exit)");
}

std::string stragglers_text(const Analysis& analysis) {
  const std::string title = "stragglers";
  if (!analysis.stragglers) return not_known(title, analysis.stragglers.why_not);
  const Stragglers& found = *analysis.stragglers;
  const char* const did = found.is_by_exit ? "exited later after the first than" : "ran longer than";
  std::string out =
      line(title, fmt::format("{} of {} {} {} {} (median {} + 3 x 1.4826 x MAD)", found.units.size(), found.of,
                              unit_name(analysis), did, time_text(analysis, static_cast<double>(found.limit_ns)),
                              time_text(analysis, static_cast<double>(found.median_ns))));
  if (found.units.empty()) return out;
  render::Table table({{"block"},
                       {"warp", render::Align::right},
                       {"SM", render::Align::right},
                       {found.is_by_exit ? "exit" : "ran", render::Align::right}});
  for (std::size_t i = 0; i < found.units.size() && i < kMostStragglers; ++i) {
    const Unit& unit = *found.units[i].unit;
    table.add_row({unit.block ? place_text(*unit.block) : render::kNotMeasured,
                   unit.warp ? std::to_string(*unit.warp) : "all",
                   unit.sm ? std::to_string(*unit.sm) : render::kNotMeasured,
                   render::duration(static_cast<double>(found.units[i].value_ns))});
  }
  std::string rows = table.text();
  std::string indented;
  for (std::size_t at = 0; at < rows.size();) {
    const std::size_t end = rows.find('\n', at);
    indented += std::string(17, ' ') + rows.substr(at, end - at) + '\n';
    at = end + 1;
  }
  out += indented;
  if (found.units.size() > kMostStragglers) {
    out += line("", fmt::format("and {} more", found.units.size() - kMostStragglers));
  }
  return out;
}

std::string pattern_text(const Analysis& analysis) {
  const std::string title = "exit by thread";
  if (!analysis.pattern) return not_known(title, analysis.pattern.why_not);
  if (!analysis.pattern->strongest) return line(title, "no pattern by thread number modulo 2, 4, 8, 16 or 32");
  const Modulus& found = *analysis.pattern->strongest;
  if (analysis.is_unresolved(found.excess_ns)) {
    return line(title, fmt::format("no pattern by thread number that is over {}",
                                   render::duration(static_cast<double>(*analysis.resolution_ns))));
  }
  return line(title, fmt::format("modulo {}: threads of class {} exit {} later than the others; the classes explain "
                                 "{} of the variance (chance: {})",
                                 found.modulus, found.worst_class, time_text(analysis, found.excess_ns),
                                 percent(found.eta_squared), percent(found.by_chance)));
}

std::string waves_text(const Analysis& analysis) {
  if (!analysis.waves) return not_known("waves", analysis.waves.why_not);
  const gpu::StampedLaunch& launch = *analysis.launch;
  std::string text = fmt::format("{} expected ({} blocks on {} SMs, {} at once on each)", analysis.waves->expected,
                                 launch.grid->count(), *launch.sm_count, *launch.blocks_per_sm);
  text += analysis.waves->seen
              ? fmt::format("; {} seen: blocks one after the other on the busiest SM", *analysis.waves->seen)
              : "; what ran when was not stamped";
  return line("waves", text);
}

std::string sm_text(const Analysis& analysis) {
  if (!analysis.sms)
    return not_known("tail effect", analysis.sms.why_not) + not_known("SM balance", analysis.sms.why_not);
  const SmLoad& load = *analysis.sms;
  std::string out = load.tail_effect ? line("tail effect",
                                            fmt::format("{} of the SMs' time between first entry and last exit is idle",
                                                        percent(*load.tail_effect)))
                                     : not_known("tail effect", "needs sm_count in the file");
  std::string text = fmt::format("{} SMs ran blocks", load.seen);
  if (load.existing) text += fmt::format(" of {}", *load.existing);
  text += fmt::format("; busy {} to {}, mean {}; {} to {} blocks each",
                      time_text(analysis, static_cast<double>(load.least_busy_ns)),
                      time_text(analysis, static_cast<double>(load.most_busy_ns)),
                      time_text(analysis, load.mean_busy_ns), load.least_blocks, load.most_blocks);
  return out + line("SM balance", text);
}

std::string marks_text(const Analysis& analysis) {
  if (analysis.launch->marks.empty()) return {};
  std::map<std::uint64_t, std::size_t> reached;
  for (const gpu::Stamp& mark : analysis.launch->marks) ++reached[*mark.mark];
  std::string text;
  for (const auto& [mark, units] : reached) text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", mark, units);
  return line("marks reached", text);
}

std::string self_cost_text(const Analysis& analysis) {
  if (!analysis.self_cost) return not_known("self-cost", analysis.self_cost.why_not);
  const gpu::StampedLaunch& launch = *analysis.launch;
  return line("self-cost", fmt::format("{:+.1f} % ({} without stamps, {} with)", 100 * *analysis.self_cost,
                                       render::duration(static_cast<double>(*launch.plain_ns)),
                                       render::duration(static_cast<double>(*launch.stamped_ns))));
}

}  // namespace

std::string name_of(const gpu::StampedLaunch& launch) {
  std::string name = launch.test.empty() ? "" : launch.test + ", ";
  return name + fmt::format("GPU kernel {}, launch {}", launch.gpu_kernel.empty() ? "(unnamed)" : launch.gpu_kernel,
                            launch.launch);
}

std::string place_text(const gpu::Extent3& place) {
  return fmt::format("({},{},{})", place.x, place.y, place.z);
}

std::string stamps_text(const Analysis& analysis, const render::Paint& paint) {
  const auto time_line = [&](const char* title, const Figure<std::uint64_t>& figure, const char* what) {
    if (!figure) return not_known(title, figure.why_not);
    return line(title, time_text(analysis, static_cast<double>(*figure)) + what);
  };
  std::string out = header_text(analysis, paint);
  out += time_line("span", analysis.span_ns, " from the first entry to the last exit");
  out += time_line("exits", analysis.exit_range_ns, " from the first to the last");
  out += exit_spread_text(analysis);
  out += analysis.simt ? line("SIMT efficiency",
                              fmt::format("{} ({} of {} steps of all lanes did work)", percent(analysis.simt->share()),
                                          analysis.simt->work, analysis.simt->room))
                       : not_known("SIMT efficiency", analysis.simt.why_not);
  out += stragglers_text(analysis);
  out += pattern_text(analysis);
  out += marks_text(analysis);
  out += analysis.entry_skew ? line("entry skew", ranks_text(analysis, *analysis.entry_skew) + "  within a block")
                             : not_known("entry skew", analysis.entry_skew.why_not);
  out += time_line("launch ramp", analysis.ramp_ns, " until the first wave's last block began");
  out += waves_text(analysis);
  out += sm_text(analysis);
  return out + self_cost_text(analysis);
}

}  // namespace syscost::bench::gpu_stamps
