// SPDX-License-Identifier: MIT
#include "findings/io_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "findings/syscall_families.h"
#include "findings/thresholds.h"
#include "render/units.h"

namespace syscost::bench::findings {
namespace {

using render::count;
using Calls = std::vector<const TracedCall*>;

/// `1 byte`, `62.4 bytes`
std::string bytes_text(double bytes) {
  return fmt::format("{:.3g} byte{}", bytes, bytes == 1 ? "" : "s");
}

std::vector<Hit> tiny_transfers(const WindowCalls& window, Syscalls syscalls, std::string_view noun) {
  const CallSum all = window.sum(syscalls);
  const double succeeded = all.succeeded();
  if (!all.bytes || succeeded < kManyTransfers || *all.bytes > kTinyBytes * succeeded) return {};
  if (*all.bytes == 0 || window.has(kMessages)) return {};
  // A small file takes a small transfer.
  if (succeeded < kTransfersEachOpen * window.sum(kOpens).succeeded()) return {};
  return {{std::string(all.most), window.site_of(syscalls),
           fmt::format("{} {}{} move {} each on average", count(succeeded), noun, window.per(),
                       bytes_text(*all.bytes / succeeded)),
           all.kernel_ns.value_or(0)}};
}

/// Transfers on one open file that follow each other, by one thread that learns nothing in between, without another
/// call on that file. So one transfer could have done.
struct Row {
  Calls calls;
  double bytes = 0;
};

/// True if `call` is beside `before` in the file. A place of its own (pread) may be anywhere.
bool is_beside(const TracedWindow& window, const TracedCall& before, const TracedCall& call) {
  const auto place = [&](const TracedCall& one) {
    return window.number(one, one.name().ends_with("64") ? "pos" : "pos_l");
  };
  if (!call.name().starts_with("p")) return true;
  const std::optional<std::int64_t> a = place(before);
  const std::optional<std::int64_t> b = place(call);
  return a && b && std::abs(*a - *b) < kNear;
}

/// Returns for each open file the small transfers in rows of kTransfersInARow or more.
template <std::size_t n>
PerFile<Row> small_rows(const TracedWindow& window, const std::array<std::string_view, n>& names) {
  PerFile<Row> current;
  PerFile<Row> found;
  const auto end_row = [&](const OpenFile* file) {
    Row& row = current[file];
    if (row.calls.size() >= kTransfersInARow) {
      Row& all = found[file];
      all.calls.insert(all.calls.end(), row.calls.begin(), row.calls.end());
      all.bytes += row.bytes;
    }
    row = {};
  };
  for (const TracedCall& call : window.calls()) {
    if (call.file == nullptr || !call.file->is_plain()) continue;
    const bool is_small = is_one_of(names, call.name()) && call.result > 0 && call.result <= kSmallBytes;
    if (!is_small) {
      end_row(call.file);
      continue;
    }
    if (const Calls& calls = current[call.file].calls; !calls.empty()) {
      const TracedCall& before = *calls.back();
      if (!is_next(before, call, kFewBetween) || !is_beside(window, before, call)) end_row(call.file);
    }
    Row& row = current[call.file];
    row.calls.push_back(&call);
    row.bytes += static_cast<double>(call.result);
  }
  std::vector<const OpenFile*> left;
  for (const auto& [file, row] : current) left.push_back(file);
  for (const OpenFile* file : left) end_row(file);
  return found;
}

template <std::size_t n>
std::vector<Hit> tiny_rows(const TracedWindow& window, const std::array<std::string_view, n>& names,
                           std::string_view noun) {
  std::vector<Hit> hits;
  for (const auto& [file, row] : small_rows(window, names)) {
    const auto calls = static_cast<double>(row.calls.size());
    if (calls < kManyInARow) continue;
    hits.push_back({std::string(row.calls.front()->name()), site_of(row.calls),
                    fmt::format("{} {} in a row, {} {}, move {} each on average", count(calls), noun,
                                noun == "writes" ? "to" : "of", file->path, bytes_text(row.bytes / calls)),
                    cost_of(row.calls)});
  }
  return hits;
}

}  // namespace

std::vector<Hit> tiny_writes(const WindowCalls& window) {
  return tiny_transfers(window, kWrites, "writes");
}

std::vector<Hit> tiny_writes_in_order(const TracedWindow& window) {
  return tiny_rows(window, kWrites, "writes");
}

std::vector<Hit> tiny_reads(const WindowCalls& window) {
  return tiny_transfers(window, kReads, "reads");
}

std::vector<Hit> tiny_reads_in_order(const TracedWindow& window) {
  return tiny_rows(window, kReads, "reads");
}

std::vector<Hit> seek_then_read(const TracedWindow& window) {
  struct Pairs {
    std::vector<const TracedCall*> seeks;
    std::string_view then;
  };
  PerFile<Pairs> files;
  std::map<std::uint32_t, const TracedCall*> last;  // by thread
  for (const TracedCall& call : window.calls()) {
    const TracedCall* before = std::exchange(last[call.call->thread], &call);
    const bool is_use = call.name() == "read" || call.name() == "write";
    if (!is_use || before == nullptr || before->name() != "lseek" || before->failed()) continue;
    if (call.file == nullptr || call.file != before->file || !call.file->is_plain()) continue;
    // To ask where the end is, or to go there, is nothing that pwrite does.
    const std::string_view whence = window.argument(*before, "whence");
    if (whence == "SEEK_END" || whence == "SEEK_CUR") continue;
    Pairs& pairs = files[call.file];
    pairs.seeks.push_back(before);
    pairs.then = call.name();
  }
  std::vector<Hit> hits;
  for (const auto& [file, pairs] : files) {
    if (pairs.seeks.size() < kManySeeks) continue;
    hits.push_back({"lseek", site_of(pairs.seeks),
                    fmt::format("{} times an lseek goes before a {} of {}", pairs.seeks.size(), pairs.then, file->path),
                    cost_of(pairs.seeks)});
  }
  return hits;
}

std::vector<Hit> connection_per_message(const TracedWindow& window) {
  struct Use {
    bool is_connected = false;
    std::size_t sent = 0;
    double ns = 0;
    const TracedCall* connects = nullptr;
  };
  struct Line {
    std::vector<const TracedCall*> connects;
    double ns = 0;
  };
  PerFile<Use> sockets;
  std::map<std::pair<std::uint32_t, std::string_view>, Line> lines;  // by thread and site: a loop is in one
  for (const TracedCall& call : window.calls()) {
    if (call.file == nullptr || !call.file->is_socket ||
        call.file->flags.find("SOCK_STREAM") == std::string_view::npos) {
      continue;
    }
    Use& use = sockets[call.file];
    if (call.name() == "socket" || call.name() == "connect") use.ns += call.took_ns();
    if (call.name() == "connect" && (!call.failed() || call.call->error() == "EINPROGRESS")) {
      use.is_connected = true;
      use.connects = &call;
    }
    if ((is_one_of(kSends, call.name()) || is_one_of(kWrites, call.name())) && !call.failed()) ++use.sent;
    if (call.name() == "close" && use.is_connected && use.sent == 1) {
      Line& line = lines[{use.connects->call->thread, use.connects->call->site}];
      line.connects.push_back(use.connects);
      line.ns += use.ns + call.took_ns();
    }
  }
  std::vector<Hit> hits;
  // A note: a trace has no addresses, and each connection may be to another peer.
  for (const auto& [place, line] : lines) {
    if (line.connects.size() < kManyConnections) continue;
    hits.push_back({"connect", site_of(line.connects),
                    fmt::format("{} connections carry one message each", line.connects.size()), line.ns, true});
  }
  return hits;
}

}  // namespace syscost::bench::findings
