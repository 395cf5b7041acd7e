// SPDX-License-Identifier: MIT
//
// Rules about reading, writing and connections, and about bytes of a file that are read again and again.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "findings/rules.h"
#include "findings/thresholds.h"
#include "findings/window_calls.h"
#include "render/numbers.h"

namespace syscost::bench::findings {
namespace {

using render::count;
using Calls = std::vector<const TracedCall*>;

/// `1 byte`, `62.4 bytes`
std::string bytes_text(double bytes) {
  return fmt::format("{:.3g} byte{}", bytes, bytes == 1 ? "" : "s");
}

/// True if the transfers are so many and so small that not even a test has a reason for them.
bool is_far_too_small(double transfers, double bytes) {
  return transfers >= kFarTooMany && bytes <= kFarTooFewBytes * transfers;
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
           all.kernel_ns.value_or(0), !is_far_too_small(succeeded, *all.bytes)}};
}

/// Transfers on one open file that follow each other, by one thread that learns nothing in between, without another
/// call on that file. So one transfer could have done.
struct Row {
  Calls calls;
  double bytes = 0;
  std::size_t in_one_call = 0;  ///< So many of them are made by a call of the test that makes another one, too.
};

/// Adds a row that is over to all rows of the same kind.
void end_row(const TracedWindow& window, Row& row, Row& all) {
  if (row.calls.size() >= kTransfersInARow) {
    all.calls.insert(all.calls.end(), row.calls.begin(), row.calls.end());
    all.bytes += row.bytes;
    all.in_one_call += window.count_in_one_call(row.calls);
  }
  row = {};
}

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
  for (const TracedCall& call : window.calls()) {
    if (call.file == nullptr || !call.file->is_plain()) continue;
    const bool is_small = is_one_of(names, call.name()) && call.result > 0 && call.result <= kSmallBytes;
    if (!is_small) {
      end_row(window, current[call.file], found[call.file]);
      continue;
    }
    if (const Calls& calls = current[call.file].calls; !calls.empty()) {
      const TracedCall& before = *calls.back();
      if (!is_next(before, call, kFewBetween) || !is_beside(window, before, call)) {
        end_row(window, current[call.file], found[call.file]);
      }
    }
    Row& row = current[call.file];
    row.calls.push_back(&call);
    row.bytes += static_cast<double>(call.result);
  }
  for (auto& [file, row] : current) end_row(window, row, found[file]);
  return found;
}

/// True if one call of the test opens the file, makes these calls on it, and closes it. A test that writes again and
/// again comes back to the open, or to the close, of a library that takes the next file when one is full.
bool is_whole_use(const TracedWindow& window, const OpenFile& file, const Calls& calls) {
  const TracedCall& open = window.calls()[file.opened];
  const auto close = std::find_if(window.calls().begin(), window.calls().end(), [&](const TracedCall& call) {
    return call.file == &file && call.name() == "close" && !call.failed();
  });
  return close != window.calls().end() && std::all_of(calls.begin(), calls.end(), [&](const TracedCall* call) {
           return window.in_one_call_in_order(open, *call) && window.in_one_call_in_order(*call, *close);
         });
}

/// True if another thread or open file reads the file from the first write on until the last one, or if it is mapped:
/// someone may wait for each write.
bool is_watched(const TracedWindow& window, const Calls& writes) {
  const OpenFile& file = *writes.front()->file;
  return std::any_of(window.calls().data(), writes.back(), [&](const TracedCall& call) {
    if (call.failed() || call.file == nullptr || call.file->path != file.path) return false;
    if (call.name() == "mmap") return true;
    const bool is_other = call.file != &file || call.call->thread != writes.front()->call->thread;
    return is_other && is_one_of(kReads, call.name()) && &call > writes.front();
  });
}

/// getrandom for a few bytes, again and again.
std::vector<Hit> small_randoms(const TracedWindow& window) {
  std::map<std::uint32_t, Row> current;     // by thread
  std::map<std::string_view, Row> by_site;  // a row is of one
  for (const TracedCall& call : window.calls()) {
    if (call.name() != "getrandom" || call.result <= 0 || call.result > kFewRandomBytes) continue;
    Row& row = current[call.call->thread];
    if (!row.calls.empty() &&
        (!is_next(*row.calls.back(), call, kFewBetween) || row.calls.back()->call->site != call.call->site)) {
      end_row(window, row, by_site[row.calls.back()->call->site]);
    }
    row.calls.push_back(&call);
    row.bytes += static_cast<double>(call.result);
  }
  for (auto& [thread, row] : current) end_row(window, row, by_site[row.calls.back()->call->site]);
  std::vector<Hit> hits;
  for (const auto& [site, row] : by_site) {
    const auto calls = static_cast<double>(row.calls.size());
    if (calls < kManyRandoms) continue;
    hits.push_back(
        {"getrandom", site_of(row.calls),
         fmt::format("{} getrandom in a row give {} each on average", count(calls), bytes_text(row.bytes / calls)),
         cost_of(row.calls), 2 * row.in_one_call < row.calls.size()});
  }
  return hits;
}

template <std::size_t n>
std::vector<Hit> tiny_rows(const TracedWindow& window, const std::array<std::string_view, n>& names,
                           std::string_view noun) {
  std::vector<Hit> hits;
  for (const auto& [file, row] : small_rows(window, names)) {
    const auto calls = static_cast<double>(row.calls.size());
    if (calls < kManyInARow) continue;
    const bool has_stacks = row.calls.front()->call->stack != 0;
    const bool is_proven = 2 * row.in_one_call >= row.calls.size() || is_whole_use(window, *file, row.calls) ||
                           (!has_stacks && is_far_too_small(calls, row.bytes));
    hits.push_back({std::string(row.calls.front()->name()), site_of(row.calls),
                    fmt::format("{} {} in a row, {} {}, move {} each on average", count(calls), noun,
                                noun == "writes" ? "to" : "of", file->path, bytes_text(row.bytes / calls)),
                    cost_of(row.calls), !is_proven || (noun == "writes" && is_watched(window, row.calls))});
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
  std::vector<Hit> hits = tiny_rows(window, kReads, "reads");
  std::vector<Hit> randoms = small_randoms(window);
  std::move(randoms.begin(), randoms.end(), std::back_inserter(hits));
  return hits;
}

std::vector<Hit> seek_then_read(const TracedWindow& window) {
  struct Pairs {
    std::vector<const TracedCall*> seeks;
    std::string_view then;
    std::size_t in_one_call = 0;
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
    // A stream of the standard library seeks as it likes.
    const bool is_direct = window.system_function(*before).find("lseek") != std::string_view::npos;
    if (is_direct && window.in_one_call(*before, call)) ++pairs.in_one_call;
  }
  std::vector<Hit> hits;
  for (const auto& [file, pairs] : files) {
    if (pairs.seeks.size() < kManySeeks) continue;
    hits.push_back({"lseek", site_of(pairs.seeks),
                    fmt::format("{} times an lseek goes before a {} of {}", pairs.seeks.size(), pairs.then, file->path),
                    cost_of(pairs.seeks), 2 * pairs.in_one_call < pairs.seeks.size()});
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

namespace {

/// The parts of a file that were read, as ranges from begin to end.
class Ranges {
 public:
  void add_range(std::int64_t begin, std::int64_t end) {
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

/// All that was read of a path, of its content now and of those before.
class Reading {
 public:
  void add_read(const TracedCall& call, std::int64_t begin) {
    read_ += static_cast<double>(call.result);
    ranges_.add_range(begin, begin + call.result);
    calls_.push_back(&call);
  }
  void next_content() {
    different_ += static_cast<double>(ranges_.bytes());
    ranges_ = {};
  }
  double read() const { return read_; }
  double different() const { return different_ + static_cast<double>(ranges_.bytes()); }
  double again() const { return read_ - different(); }
  bool is_amplified() const { return read_ >= kAmplification * different() && again() >= kReadAgain; }
  const std::vector<const TracedCall*>& calls() const { return calls_; }

 private:
  double read_ = 0;
  double different_ = 0;
  Ranges ranges_;
  std::vector<const TracedCall*> calls_;
};

struct ReadPath {
  Reading all;
  Reading row;  ///< As long as the calls on the path are right after each other.
  Reading most;
  const TracedCall* last = nullptr;  ///< The last call on the path.

  void end_reading() {
    if (row.is_amplified() && row.again() > most.again()) most = row;
    row = {};
  }
  void change_file() {
    all.next_content();
    row.next_content();
  }
};

/// A path that is renamed or removed, or cut, is of another content afterwards.
bool changes_path(std::string_view name) {
  return name.starts_with("rename") || name.starts_with("unlink") || name == "truncate" || name.starts_with("link") ||
         name.starts_with("symlink");
}

Hit hit_of(const std::string& path, const Reading& reading, bool is_note) {
  return {std::string(reading.calls().front()->name()), site_of(reading.calls()),
          fmt::format("{} bytes are read of {}, of which {} are different: each byte {:.3g} times", reading.read(),
                      path, reading.different(), reading.read() / reading.different()),
          cost_of(reading.calls()) * reading.again() / reading.read(), is_note};
}

}  // namespace

std::vector<Hit> read_amplification(const TracedWindow& window) {
  std::map<std::string, ReadPath> files;
  PerFile<std::int64_t> offsets;
  for (const TracedCall& call : window.calls()) {
    if (call.failed()) continue;
    const std::string_view name = call.name();
    for (const std::string* path : {&call.path, &call.other_path}) {
      if (changes_path(name) && !path->empty() && files.contains(*path)) files[*path].change_file();
    }
    if (call.file == nullptr || !call.file->is_plain()) continue;
    ReadPath& file = files[call.file->path];
    const TracedCall* before = std::exchange(file.last, &call);
    if (before != nullptr && !is_next(*before, call, kFewBetween)) file.end_reading();
    std::int64_t& offset = offsets[call.file];
    if (is_one_of(kOpens, name)) {
      if (call.file->has_flag("O_TRUNC")) file.change_file();
    } else if (name == "lseek") {
      offset = call.result;
    } else if (is_one_of(kWrites, name) || name == "ftruncate" || name == "sendfile" || name == "copy_file_range") {
      file.change_file();
      if (name == "write" || name == "writev") offset = std::min(offset + call.result, kLargestResult);
    } else if (is_one_of(kReads, name) && call.result > 0) {
      const bool is_placed = name.starts_with("pread");
      const std::int64_t begin =
          is_placed ? window.number(call, name == "pread64" ? "pos" : "pos_l").value_or(-1) : offset;
      if (!is_placed) offset = std::min(offset + call.result, kLargestResult);
      if (begin < 0 || begin > kLargestResult) continue;
      file.all.add_read(call, begin);
      file.row.add_read(call, begin);
    }
  }
  std::vector<Hit> hits;
  for (auto& [path, file] : files) {
    file.end_reading();
    if (file.most.is_amplified()) {
      hits.push_back(hit_of(path, file.most, !window.is_system_file(path)));
    } else if (file.all.is_amplified()) {
      hits.push_back(hit_of(path, file.all, true));
    }
  }
  return hits;
}

}  // namespace syscost::bench::findings
