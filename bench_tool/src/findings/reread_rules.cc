// SPDX-License-Identifier: MIT
#include "findings/reread_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "findings/syscall_families.h"
#include "findings/thresholds.h"

namespace syscost::bench::findings {
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

/// What was read of a path, of its content now and of those before.
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
