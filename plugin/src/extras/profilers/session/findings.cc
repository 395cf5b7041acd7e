// SPDX-License-Identifier: MIT
#include "extras/profilers/session/findings.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory_resource>
#include <optional>
#include <utility>

#include "core/syscall_table.h"

namespace syscost::session {
namespace {

using profilers::Artifact;
using profilers::LatencyBucket;
using profilers::Output;
using profilers::SyscallFigures;
using profilers::TimeFigure;
using Number = std::optional<std::uint64_t>;

/// If one stretch does not know a number, the sum is unknown.
void add(Number& sum, const Number& number) {
  sum = sum.has_value() && number.has_value() ? Number(*sum + *number) : std::nullopt;
}

template <class Pick>
void pick(Number& into, const Number& number, Pick pick) {
  if (into.has_value() && number.has_value()) into = pick(*into, *number);
  if (!into.has_value()) into = number;
}

void add_latency(std::vector<LatencyBucket>& sum, const std::vector<LatencyBucket>& part) {
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const LatencyBucket& bucket : sum) counts[bucket.lower_ns] += bucket.count;
  for (const LatencyBucket& bucket : part) counts[bucket.lower_ns] += bucket.count;
  sum.clear();
  for (const auto& [lower_ns, count] : counts) sum.push_back({lower_ns, count});
}

void add_figures(SyscallFigures& sum, const SyscallFigures& part) {
  add(sum.entries, part.entries);
  add(sum.returned, part.returned);
  sum.has_errors = sum.has_errors && part.has_errors;
  std::map<int, std::uint64_t> errors(sum.errors.begin(), sum.errors.end());
  for (const auto& [error, count] : part.errors) errors[error] += count;
  sum.errors.assign(errors.begin(), errors.end());
  add_latency(sum.latency, part.latency);
  add(sum.latency_sum_ns, part.latency_sum_ns);
  pick(sum.latency_min_ns, part.latency_min_ns, [](auto a, auto b) { return std::min(a, b); });
  pick(sum.latency_max_ns, part.latency_max_ns, [](auto a, auto b) { return std::max(a, b); });
}

/// "syslat.txt", as part 2: "syslat.2.txt".
std::string numbered(const std::string& name, int part) {
  const std::size_t dot = std::min(name.rfind('.'), name.size());
  return name.substr(0, dot) + "." + std::to_string(part) + name.substr(dot);
}

std::string headed(std::string summary, int part) {
  return "  part " + std::to_string(part) + ":\n" + std::move(summary);
}

void add_times(std::vector<TimeFigure>& whole, std::vector<TimeFigure> part) {
  for (TimeFigure& figure : part) {
    const auto same =
        std::find_if(whole.begin(), whole.end(), [&](const TimeFigure& one) { return one.name == figure.name; });
    if (same == whole.end()) {
      whole.push_back(std::move(figure));
    } else if (figure.is_sum) {
      for (const profilers::TimeRow& row : figure.rows) same->rows.front().total_ns += row.total_ns;
      if (!figure.note.empty()) same->note += "; then " + figure.note;
    } else {
      same->rows.insert(same->rows.end(), figure.rows.begin(), figure.rows.end());
    }
  }
}

void add_output(Output& whole, Output part, int number) {
  for (Artifact& artifact : part.artifacts) {
    whole.artifacts.push_back({numbered(artifact.name, number), std::move(artifact.content)});
  }
  // A stretch in which nothing happened has no text. Each other stretch has a text of its own, and files.
  const auto has_said = [](const Output& one) {
    return !one.summary.empty() && (!one.counts_syscalls || !one.syscalls.empty());
  };
  if (number == 2) whole.summary = has_said(whole) ? headed(std::move(whole.summary), 1) : std::string();
  if (has_said(part)) {
    if (!whole.summary.empty() && !whole.summary.ends_with('\n')) whole.summary += '\n';
    whole.summary += headed(std::move(part.summary), number);
  }
  whole.counts_syscalls = whole.counts_syscalls && part.counts_syscalls;
  whole.lost_events += part.lost_events;
  add_times(whole.times, std::move(part.times));
  // A stretch with lost events has no sums, so the whole has none.
  if (whole.lost_events > 0) std::erase_if(whole.times, [](const TimeFigure& figure) { return figure.is_sum; });
  for (SyscallFigures& figures : part.syscalls) {
    const auto same = std::find_if(whole.syscalls.begin(), whole.syscalls.end(),
                                   [&](const SyscallFigures& one) { return one.number == figures.number; });
    if (same == whole.syscalls.end()) {
      whole.syscalls.push_back(std::move(figures));
    } else {
      add_figures(*same, figures);
    }
  }
}

void fill_gaps(SyscallFigures& figures, const SyscallFigures& other) {
  if (!figures.entries.has_value()) figures.entries = other.entries;
  if (!figures.returned.has_value()) figures.returned = other.returned;
  if (!figures.has_errors && other.has_errors) {
    figures.errors = other.errors;
    figures.has_errors = true;
  }
  if (!figures.latency.empty() || other.latency.empty()) return;
  figures.latency = other.latency;
  figures.latency_sum_ns = other.latency_sum_ns;
  figures.latency_min_ns = other.latency_min_ns;
  figures.latency_max_ns = other.latency_max_ns;
}

}  // namespace

void add_part(Findings& whole, Findings part) {
  if (whole.empty()) {
    whole = std::move(part);
    return;
  }
  for (std::size_t i = 0; i < std::min(whole.size(), part.size()); ++i) {
    ProfilerOutputs& tool = whole[i];
    ++tool.parts;
    for (Output& output : part[i].outputs) {
      const auto same = std::find_if(tool.outputs.begin(), tool.outputs.end(),
                                     [&](const Output& one) { return one.script == output.script; });
      if (same == tool.outputs.end()) {
        tool.outputs.push_back(std::move(output));
      } else {
        add_output(*same, std::move(output), tool.parts);
      }
    }
  }
}

std::vector<SyscallFigures> all_figures(const ProfilerOutputs& findings) {
  std::map<int, SyscallFigures> by_number;
  for (const Output& output : findings.outputs) {
    for (const SyscallFigures& figures : output.syscalls) {
      auto [at, is_new] = by_number.try_emplace(figures.number, figures);
      if (!is_new) fill_gaps(at->second, figures);
    }
  }
  std::vector<SyscallFigures> all;
  for (auto& [number, figures] : by_number) all.push_back(std::move(figures));
  return all;
}

void remove_framework_writes(ProfilerOutputs& findings, int count) {
  if (count <= 0) return;
  for (Output& output : findings.outputs) {
    std::erase_if(output.syscalls, [&](const SyscallFigures& figures) {
      const Number seen = figures.entries.has_value() ? figures.entries : figures.returned;
      return figures.number == SYS_write && seen == static_cast<std::uint64_t>(count);
    });
  }
}

namespace {

/// The numbers of both sides for one syscall.
struct Sides {
  std::optional<std::uint64_t> tool_entries = 0;
  std::optional<std::uint64_t> tool_returned = 0;
  std::uint64_t entries = 0;
  std::uint64_t returned = 0;
  bool has_restarts = false;  ///< The tool saw returns that the program did not, or could not have seen them.

  void add(const Sides& other) {
    tool_entries =
        tool_entries && other.tool_entries ? std::optional(*tool_entries + *other.tool_entries) : std::nullopt;
    tool_returned =
        tool_returned && other.tool_returned ? std::optional(*tool_returned + *other.tool_returned) : std::nullopt;
    entries += other.entries;
    returned += other.returned;
  }
};

/// The kernel's ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK: returns that a program never sees.
/// The call is made again, or becomes EINTR.
constexpr std::array kRestartErrors{512, 513, 514, 516};

bool may_hide_restarts(const SyscallFigures& figures) {
  return !figures.has_errors || std::any_of(figures.errors.begin(), figures.errors.end(), [](const auto& error) {
    return std::find(kRestartErrors.begin(), kRestartErrors.end(), error.first) != kRestartErrors.end();
  });
}

bool is_selected(const detail::CostData& counted, SyscallId id) {
  return counted.filter == nullptr || counted.filter->selects(id);
}

std::map<std::uint32_t, Sides> sides_of(const Output& output, const detail::CostData& counted) {
  std::map<std::uint32_t, Sides> all;
  CallTable room(std::pmr::new_delete_resource());
  for (const auto& [id, tally] : detail::without_details(counted.table, room)) {
    if (id.abi != kNativeAbi || tally.entries + tally.calls == 0) continue;
    Sides& sides = all[id.number];
    sides.entries = tally.entries;
    sides.returned = tally.calls + tally.restarts;
  }
  // A script has the same figures for all syscalls. A syscall that it did not see was not made.
  bool knows_entries = true;
  bool knows_returned = true;
  for (const SyscallFigures& figures : output.syscalls) {
    knows_entries = knows_entries && figures.entries.has_value();
    knows_returned = knows_returned && figures.returned.has_value();
  }
  for (const SyscallFigures& figures : output.syscalls) {
    const SyscallId id{kNativeAbi, static_cast<std::uint32_t>(figures.number)};
    if (!is_selected(counted, id)) continue;
    Sides& sides = all[id.number];
    sides.tool_entries = figures.entries;
    sides.tool_returned = figures.returned;
    sides.has_restarts = may_hide_restarts(figures);
  }
  for (auto& [number, sides] : all) {
    if (!knows_entries) sides.tool_entries.reset();
    if (!knows_returned) sides.tool_returned.reset();
  }
  return all;
}

/// `512000 write, 3 read, and 2 more`: most first.
std::string seen_text(std::vector<std::pair<std::uint64_t, std::string>> counts) {
  std::erase_if(counts, [](const auto& one) { return one.first == 0; });
  if (counts.empty()) return "no syscalls";
  std::stable_sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t kNamed = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(counts.size(), kNamed); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(counts[i].first) + " " + counts[i].second;
  }
  if (counts.size() > kNamed) text += ", and " + std::to_string(counts.size() - kNamed) + " more";
  return text;
}

std::string tool_text(const Output& output) {
  std::vector<std::pair<std::uint64_t, std::string>> counts;
  for (const SyscallFigures& figures : output.syscalls) {
    counts.emplace_back(figures.entries.value_or(figures.returned.value_or(0)),
                        syscall_name({kNativeAbi, static_cast<std::uint32_t>(figures.number)}));
  }
  return output.script + ": " + seen_text(std::move(counts));
}

/// Calls that a backend which counts calls makes in the program itself: it works by signals, which return, prepares
/// each new thread, lets the kernel copy what it reads of the program's memory, and hands a SIGSYS of the program to
/// the thread it is for. A tool sees them too; the program did not make them. docs/backends.md names them.
constexpr std::array kMadeByTheBackend{SYS_rt_sigreturn,
                                       SYS_prctl,
                                       SYS_gettid,
                                       SYS_sigaltstack,
                                       SYS_rt_sigprocmask,
                                       SYS_getuid,
                                       SYS_rt_tgsigqueueinfo,
                                       SYS_process_vm_readv,
                                       SYS_process_vm_writev};

/// For a backend that counts calls and no entries: it does not see restarts, which a tool sees as trips of their own.
void compare_calls(const std::map<std::uint32_t, Sides>& all, const detail::CostData& counted, ToolCheck& check) {
  if (!counted.measured.calls) return;
  for (const auto& [number, sides] : all) {
    if (number == SYS_restart_syscall || sides.has_restarts || !sides.tool_returned) continue;
    const bool is_made = std::find(kMadeByTheBackend.begin(), kMadeByTheBackend.end(), static_cast<int>(number)) !=
                         kMadeByTheBackend.end();
    if (is_made && *sides.tool_returned > sides.returned) continue;
    check.numbers.push_back({syscall_name({kNativeAbi, number}), "returned", *sides.tool_returned, sides.returned});
  }
}

}  // namespace

bool ToolCheck::agrees() const {
  return std::all_of(numbers.begin(), numbers.end(), [](const ComparedNumber& one) { return one.tool == one.counted; });
}

ToolCheck check_tool(const Output& output, const detail::CostData& counted) {
  std::map<std::uint32_t, Sides> all = sides_of(output, counted);
  ToolCheck check;
  Sides sum;
  for (const auto& [number, sides] : all) {
    check.tool_total += sides.tool_entries.value_or(sides.tool_returned.value_or(0));
    check.counted_total += counted.measured.entries ? sides.entries : sides.returned;
    sum.add(sides);
  }
  const auto compare = [&](const std::string& name, const Sides& sides) {
    if (counted.measured.entries && sides.tool_entries.has_value()) {
      check.numbers.push_back({name, "entries", *sides.tool_entries, sides.entries});
    }
    if (counted.measured.entries && counted.measured.calls && sides.tool_returned.has_value()) {
      check.numbers.push_back({name, "returned", *sides.tool_returned, sides.returned});
    }
  };
  if (!counted.measured.entries) {
    compare_calls(all, counted, check);
    return check;
  }
  // A call that the kernel goes on with after a signal is restart_syscall to a tool, and the call itself to us.
  if (const auto restart = all.find(SYS_restart_syscall);
      restart != all.end() && restart->second.entries + restart->second.returned == 0) {
    compare("all", sum);
  } else {
    for (const auto& [number, sides] : all) compare(syscall_name({kNativeAbi, number}), sides);
  }
  return check;
}

std::string check_line(const Output& output, const ToolCheck& check) {
  if (check.numbers.empty() && check.tool_total > 0) {
    return tool_text(output) + ", not compared: what the backend counts is not what the script counts";
  }
  if (check.agrees()) return tool_text(output) + ", as counted";
  return tool_text(output) + "; NOT as counted: " + differences(check);
}

std::string uncounted_line(const Output& output) {
  return tool_text(output) + ", not compared: nothing else counts here";
}

std::string differences(const ToolCheck& check) {
  constexpr std::size_t kNamed = 4;
  std::string text;
  std::size_t count = 0;
  for (const ComparedNumber& one : check.numbers) {
    if (one.tool == one.counted || ++count > kNamed) continue;
    text += (text.empty() ? "" : ", ") + one.syscall + " " + std::string(one.what) + " " + std::to_string(one.tool) +
            " seen, " + std::to_string(one.counted) + " counted";
  }
  if (count > kNamed) text += ", and " + std::to_string(count - kNamed) + " more";
  return text;
}

std::string check_json(const Output& output, const ToolCheck& check, std::string_view backend) {
  // Names of scripts come from the command line.
  std::string script;
  for (const char c : output.script) script += c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ' ? '_' : c;
  std::string text = "{\"script\": \"" + script + "\", \"counted_by\": \"" + std::string(backend) +
                     "\", \"agrees\": " + (check.agrees() ? "true" : "false") +
                     ", \"lost_events\": " + std::to_string(output.lost_events) + ", \"numbers\": [";
  bool is_first = true;
  for (const ComparedNumber& one : check.numbers) {
    text += is_first ? "\n" : ",\n";
    is_first = false;
    text += "  {\"syscall\": \"" + one.syscall + "\", \"what\": \"" + std::string(one.what) +
            "\", \"seen\": " + std::to_string(one.tool) + ", \"counted\": " + std::to_string(one.counted) + "}";
  }
  return text + "]}\n";
}

}  // namespace syscost::session
