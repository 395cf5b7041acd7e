// SPDX-License-Identifier: MIT
#include "session/windows/report_line.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/syscall_table.h"
#include "os/decimal_text.h"
#include "os/quiet_memory.h"

namespace syscost::session {

std::string format_ns(std::uint64_t ns) {
  constexpr std::array<const char*, 4> kUnits = {"ns", "us", "ms", "s"};
  auto value = static_cast<double>(ns);
  std::size_t unit = 0;
  // 999.5 would be printed as 1000.
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return decimal_text(value, decimals) + " " + kUnits[unit];
}

namespace {

std::string own_line(const detail::CostData& cost, std::uint64_t wall_ns) {
  std::string line = detail::breakdown(cost);
  std::uint64_t counted = 0;
  std::uint64_t work = 0;
  std::uint64_t waiting = 0;
  for (const auto& [id, tally] : cost.table) {
    counted += cost.measured.entries ? tally.entries : tally.calls;
    (overlaps(syscall_classes(id), SyscallClass::wait) ? waiting : work) += tally.latency.sum_ns();
  }
  if (!cost.measured.latency || counted == 0) return line;
  line += ", " + format_ns(work) + " in the kernel";
  if (wall_ns > 0) {
    const double percent = 100.0 * static_cast<double>(work) / static_cast<double>(wall_ns);
    line += ", " + decimal_text(percent, percent < 9.95 ? 1 : 0) + " % of wall";
  }
  if (waiting > 0) line += ", " + format_ns(waiting) + " waiting";
  return line;
}

}  // namespace

std::string report_line(const detail::CostData& cost, std::uint64_t wall_ns) {
  std::string line = own_line(cost, wall_ns);
  for (const auto& [program, table] : cost.children) {
    if (!table.empty())
      line.append("; child ").append(program).append(": ").append(detail::breakdown(table, cost.measured));
  }
  return line + detail::filter_note(cost);
}

namespace {

/// "1 fsync, 0.5 write a call", the most frequent first, or "no syscalls".
std::string counts_per_call(const CallTable& table, const detail::Measured& measured, std::uint64_t calls) {
  std::vector<std::pair<std::uint64_t, SyscallId>> counts;
  CallTable room(&quiet_memory());
  for (const auto& [id, tally] : detail::without_details(table, room)) {
    const std::uint64_t count = measured.entries ? tally.entries : tally.calls;
    if (count > 0) counts.emplace_back(count, id);
  }
  if (counts.empty()) return "no syscalls";
  std::stable_sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t kNamed = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(counts.size(), kNamed); ++i) {
    const bool is_whole = counts[i].first % calls == 0;
    const std::string number =
        is_whole ? std::to_string(counts[i].first / calls)
                 : significant_text(static_cast<double>(counts[i].first) / static_cast<double>(calls), 3);
    text.append(i > 0 ? ", " : "").append(number).append(" ").append(syscall_name(counts[i].second));
  }
  if (counts.size() > kNamed) text += ", and " + std::to_string(counts.size() - kNamed) + " more";
  return text + " a call";
}

}  // namespace

std::string breakdown_per_call(const detail::CostData& cost, std::uint64_t calls) {
  std::string text = counts_per_call(cost.table, cost.measured, calls);
  if (std::uint64_t lost = cost.late + cost.lost; lost > 0) text += ", " + std::to_string(lost) + " lost";
  for (const auto& [program, table] : cost.children) {
    if (is_empty(table)) continue;
    text.append("; child ").append(program).append(": ").append(counts_per_call(table, cost.measured, calls));
  }
  return text + detail::filter_note(cost);
}

void remove_framework_writes(CallTable& table, int count, CallTable& removed) {
  if (count <= 0) return;
  const auto is_write = [](const SyscallId& id) { return id.abi == Abi::x86_64 && id.number == SYS_write; };
  std::uint64_t writes = 0;  // from all lines
  for (const auto& [id, tally] : table) {
    // Entries that are not measured are 0; measured ones are at least as many as calls.
    if (is_write(id)) writes += std::max(tally.entries, tally.calls);
  }
  if (writes != static_cast<std::uint64_t>(count)) return;
  for (const auto& [id, tally] : table) {
    if (!is_write(id)) continue;
    removed.at(id).merge(tally);
    table.at(id).clear();
  }
}

bool is_empty(const CallTable& table) {
  return std::all_of(table.begin(), table.end(), [](const CallTable::Entry& entry) { return entry.tally.empty(); });
}

}  // namespace syscost::session
