// SPDX-License-Identifier: MIT
#include "commands/bytes_by_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "render/units.h"

namespace syscost::bench::commands {
namespace {

using Names = std::span<const std::string_view>;

// As the columns total_bytes_read and total_bytes_written: plugin/src/core/tables/bytes_moved.inc.
constexpr std::array<std::string_view, 9> kReads = {"read",     "pread64", "readv",     "preadv",          "preadv2",
                                                    "recvfrom", "recvmsg", "getrandom", "process_vm_readv"};
constexpr std::array<std::string_view, 9> kWrites = {"write",  "pwrite64", "writev",   "pwritev",          "pwritev2",
                                                     "sendto", "sendmsg",  "vmsplice", "process_vm_writev"};
constexpr std::array<std::string_view, 5> kBoth = {"sendfile", "sendfile64", "splice", "tee", "copy_file_range"};
constexpr std::array<std::string_view, 3> kWithoutFile = {"getrandom", "process_vm_readv", "process_vm_writev"};

constexpr std::array<std::string_view, 10> kKinds = {"file",     "directory",        "pipe",         "socket",
                                                     "terminal", "character device", "block device", "other",
                                                     "unknown",  "bad descriptor"};

bool is_among(Names names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A row's name, without the words about its thread.
struct Moves {
  std::string_view syscall;
  std::string_view from;
  std::string_view to;  ///< The same as `from` if there is one file.
  bool has_kind = false;
};

Moves moves_of(std::string_view name) {
  constexpr std::string_view kOfDriver = "driver thread: ";
  constexpr std::string_view kTo = " to ";
  constexpr std::string_view kUnknown = "unknown";
  constexpr std::string_view kNoFile = "no file";
  Moves moves;
  const std::size_t blank = name.find(' ');
  moves.syscall = name.substr(name.find(':') < blank ? name.find(':') + 1 : 0);  // i386:read
  moves.syscall = moves.syscall.substr(0, moves.syscall.find(' '));
  std::string_view detail = blank == std::string_view::npos ? std::string_view() : name.substr(blank + 1);
  if (detail.starts_with(kOfDriver)) detail.remove_prefix(kOfDriver.size());
  const std::size_t between = detail.find(kTo);
  moves.from = detail.substr(0, between);
  moves.to = between == std::string_view::npos ? moves.from : detail.substr(between + kTo.size());
  moves.has_kind = is_among(kKinds, moves.from) && is_among(kKinds, moves.to);
  if (!moves.has_kind) moves.from = moves.to = is_among(kWithoutFile, moves.syscall) ? kNoFile : kUnknown;
  return moves;
}

using Sums = std::map<std::string_view, double>;

std::string text_of(std::string_view way, const Sums& sums) {
  double total = 0;
  for (const auto& [kind, bytes] : sums) total += bytes;
  if (total == 0) return {};
  std::vector<std::pair<std::string_view, double>> order(sums.begin(), sums.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text = fmt::format("{} {}: ", way, render::bytes(total));
  bool is_first = true;
  for (const auto& [kind, bytes] : order) {
    if (bytes == 0) continue;
    text += fmt::format("{}{} {}", std::exchange(is_first, false) ? "" : ", ", render::bytes(bytes), kind);
  }
  return text;
}

}  // namespace

std::string bytes_by_kind(std::span<const MovedBytes> rows) {
  Sums read;
  Sums written;
  bool has_kinds = false;
  for (const MovedBytes& row : rows) {
    const Moves moves = moves_of(row.name);
    const bool is_both = is_among(kBoth, moves.syscall);
    const bool is_read = is_both || is_among(kReads, moves.syscall);
    const bool is_written = is_both || is_among(kWrites, moves.syscall);
    has_kinds = has_kinds || ((is_read || is_written) && moves.has_kind);
    if (is_read) read[moves.from] += row.bytes;
    if (is_written) written[moves.to] += row.bytes;
  }
  if (!has_kinds) return {};
  std::string text = text_of("read", read);
  const std::string rest = text_of("written", written);
  return text.empty() || rest.empty() ? text + rest : text + "; " + rest;
}

}  // namespace syscost::bench::commands
