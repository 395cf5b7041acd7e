// SPDX-License-Identifier: MIT
#include "session/tools/tool_check.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory_resource>
#include <optional>
#include <utility>

#include "core/syscall_table.h"

namespace syscost::session {
namespace {

using profilers::Output;
using profilers::SyscallFigures;

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
