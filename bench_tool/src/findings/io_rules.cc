// SPDX-License-Identifier: MIT
#include "findings/io_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "findings/syscall_families.h"
#include "findings/thresholds.h"
#include "render/units.h"

namespace syscost::bench::findings {
namespace {

using render::count;

/// `1 byte`, `62.4 bytes`
std::string bytes_text(double bytes) {
  return fmt::format("{:.3g} byte{}", bytes, bytes == 1 ? "" : "s");
}

std::vector<Hit> tiny_transfers(const WindowCalls& window, Syscalls syscalls, std::string_view noun) {
  const CallSum all = window.sum(syscalls);
  const double succeeded = all.succeeded();
  if (!all.bytes || succeeded < kManyTransfers || *all.bytes > kTinyBytes * succeeded) return {};
  if (*all.bytes == 0 || window.has(kMessages)) return {};
  return {{std::string(all.most), window.site_of(syscalls),
           fmt::format("{} {}{} move {} each on average", count(succeeded), noun, window.per(),
                       bytes_text(*all.bytes / succeeded)),
           all.kernel_ns.value_or(0)}};
}

/// Transfers on one open file that follow each other, without another call on that file in between.
struct Row {
  std::vector<const TracedCall*> calls;
  double bytes = 0;
};

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

/// The parts of a file that were read, as ranges from begin to end.
class Ranges {
 public:
  void add(std::int64_t begin, std::int64_t end) {
    auto next = parts_.upper_bound(begin);
    if (next != parts_.begin() && std::prev(next)->second >= begin) --next;
    while (next != parts_.end() && next->first <= end) {
      begin = std::min(begin, next->first);
      end = std::max(end, next->second);
      bytes_ -= next->second - next->first;
      next = parts_.erase(next);
    }
    parts_[begin] = end;
    bytes_ += end - begin;
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::map<std::int64_t, std::int64_t> parts_;
  std::int64_t bytes_ = 0;
};

/// What was read of one path since its content changed last, and before.
struct ReadFile {
  double read = 0;
  double different = 0;  ///< Before the last change.
  Ranges ranges;
  std::vector<const TracedCall*> calls;

  void change() {
    different += static_cast<double>(ranges.bytes());
    ranges = {};
  }
};

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

std::vector<Hit> read_amplification(const TracedWindow& window) {
  std::map<std::string, ReadFile> files;
  PerFile<std::int64_t> offsets;
  for (const TracedCall& call : window.calls()) {
    if (call.failed()) continue;
    const std::string_view name = call.name();
    // A path that is renamed or removed, or cut, is of another content afterwards.
    const bool changes_path = name.starts_with("rename") || name.starts_with("unlink") || name == "truncate" ||
                              name.starts_with("link") || name.starts_with("symlink");
    for (const std::string* path : {&call.path, &call.other_path}) {
      if (changes_path && !path->empty() && files.contains(*path)) files[*path].change();
    }
    if (call.file == nullptr || !call.file->is_plain()) continue;
    ReadFile& file = files[call.file->path];
    std::int64_t& offset = offsets[call.file];
    if (is_one_of(kOpens, name)) {
      if (call.file->has_flag("O_TRUNC")) file.change();
    } else if (name == "lseek") {
      offset = call.result;
    } else if (is_one_of(kWrites, name) || name == "ftruncate" || name == "sendfile" || name == "copy_file_range") {
      file.change();
      if (name == "write" || name == "writev") offset = std::min(offset + call.result, kLargestResult);
    } else if (is_one_of(kReads, name) && call.result > 0) {
      const bool is_placed = name.starts_with("pread");
      const std::int64_t begin =
          is_placed ? window.number(call, name == "pread64" ? "pos" : "pos_l").value_or(-1) : offset;
      if (!is_placed) offset = std::min(offset + call.result, kLargestResult);
      if (begin < 0 || begin > kLargestResult) continue;
      file.read += static_cast<double>(call.result);
      file.ranges.add(begin, begin + call.result);
      file.calls.push_back(&call);
    }
  }
  std::vector<Hit> hits;
  for (auto& [path, file] : files) {
    file.change();
    if (file.read < kAmplification * file.different || file.read - file.different < kReadAgain) continue;
    const double share = (file.read - file.different) / file.read;
    hits.push_back(
        {std::string(file.calls.front()->name()), site_of(file.calls),
         fmt::format("{} bytes are read of {}, of which {} are different: each byte {:.3g} times", file.read, path,
                     file.different, static_cast<double>(file.read) / static_cast<double>(file.different)),
         cost_of(file.calls) * share});
  }
  return hits;
}

std::vector<Hit> fsync_storm(const WindowCalls& window) {
  const CallSum syncs = window.sum(kSyncs);
  // A new file may need one sync.
  const double opens = window.sum(kOpens).succeeded();
  if (syncs.calls - opens < kManySyncs) return {};
  const CallSum writes = window.sum(kWrites);
  if (writes.calls > kWritesEachSync * syncs.calls) return {};
  return {{std::string(syncs.most), window.site_of(kSyncs),
           fmt::format("{} syncs for {} writes and {} opens{}", count(syncs.calls), count(writes.calls), count(opens),
                       window.per()),
           syncs.kernel_ns.value_or(0)}};
}

std::vector<Hit> fsync_storm_in_order(const TracedWindow& window) {
  struct Synced {
    std::vector<const TracedCall*> syncs;
    std::size_t writes = 0;
  };
  PerFile<Synced> files;
  for (const TracedCall& call : window.calls()) {
    if (call.failed() || call.file == nullptr || !call.file->is_plain()) continue;
    if (is_one_of(kWrites, call.name())) ++files[call.file].writes;
    if (call.name() == "fsync" || call.name() == "fdatasync") files[call.file].syncs.push_back(&call);
  }
  std::vector<Hit> hits;
  for (const auto& [file, synced] : files) {
    const auto syncs = static_cast<double>(synced.syncs.size());
    if (syncs < kManySyncs || static_cast<double>(synced.writes) > kWritesEachSync * syncs) continue;
    hits.push_back({std::string(synced.syncs.front()->name()), site_of(synced.syncs),
                    fmt::format("{} syncs for {} writes to {}", synced.syncs.size(), synced.writes, file->path),
                    cost_of(synced.syncs)});
  }
  return hits;
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
  PerFile<Use> sockets;
  std::vector<const TracedCall*> connects;
  double ns = 0;
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
      connects.push_back(use.connects);
      ns += use.ns + call.took_ns();
    }
  }
  if (connects.size() < kManyConnections) return {};
  return {{"connect", site_of(connects), fmt::format("{} connections carry one message each", connects.size()), ns}};
}

}  // namespace syscost::bench::findings
