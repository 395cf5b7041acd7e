// SPDX-License-Identifier: MIT
#include "backends/ebpf/missed_runs.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string>

#include "backends/ebpf/libbpf.h"
#include "os/descriptors.h"

namespace syscost::ebpf {
namespace {

/// The kernel writes 200 bytes.
constexpr std::size_t kMostBytes = 1024;
/// A pair that counts children has 9.
constexpr std::size_t kMostFiles = 16;

/// The text of the one line that begins with `key`.
std::optional<std::uint64_t> number_of(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos || text.find(key, at + 1) != std::string_view::npos) return std::nullopt;
  const std::size_t begin = at + key.size();
  const std::size_t end = text.find('\n', begin);
  if (end == std::string_view::npos) return std::nullopt;
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data() + begin, text.data() + end, number);
  if (error != std::errc() || rest != text.data() + end) return std::nullopt;
  return number;
}

std::optional<RunFile> read_run_file(int descriptor) {
  std::array<char, kMostBytes> text{};
  ssize_t got = 0;
  do {
    // At 0 the kernel writes the text anew.
    got = pread(descriptor, text.data(), text.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got <= 0 || static_cast<std::size_t>(got) == text.size()) return std::nullopt;
  return parse_run_file({text.data(), static_cast<std::size_t>(got)});
}

bool is_in_proc(int descriptor) {
  struct statfs system {};
  return fstatfs(descriptor, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

}  // namespace

Result<std::uint64_t> missed_runs(const std::vector<int>& programs) {
  std::uint64_t missed = 0;
  for (const int program : programs) {
    bpf_prog_info info{};
    __u32 size = sizeof info;
    if (libbpf().bpf_obj_get_info_by_fd(program, &info, &size) != 0) {
      return errno_failure("ask for", "missed runs of the BPF programs", errno);
    }
    missed += info.recursion_misses;
  }
  return missed;
}

std::vector<int> open_run_files(const std::vector<int>& programs) {
  std::vector<int> files;
  for (const int program : programs) {
    const std::string path = "/proc/self/fdinfo/" + std::to_string(program);
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file >= 0) files.push_back(file);
    if (file >= 0 && is_in_proc(file)) continue;
    close_each(files);
    return {};
  }
  return files;
}

std::optional<RunFile> parse_run_file(std::string_view text) {
  const std::optional<std::uint64_t> program = number_of(text, "\nprog_id:\t");
  const std::optional<std::uint64_t> missed = number_of(text, "\nrecursion_misses:\t");
  if (!program || !missed) return std::nullopt;
  return RunFile{*program, *missed};
}

RunFiles::RunFiles(std::span<const int> descriptors) {
  bool are_right = descriptors.size() <= kMostFiles;
  for (const int descriptor : descriptors) {
    // Checked before it is read, because reading a pipe or a device may block.
    const bool is_right = is_in_proc(descriptor);
    const int high = keep_descriptor(descriptor);
    const std::optional<RunFile> file = is_right ? read_run_file(high) : std::nullopt;
    files_.push_back({high, file.value_or(RunFile{})});
    are_right = are_right && file.has_value() && high != descriptor;
  }
  if (!are_right) close_all();
}

RunFiles::~RunFiles() {
  close_all();
}

void RunFiles::close_all() {
  for (File& file : files_) close_descriptor(file.descriptor);
  files_.clear();
}

/// False when it is another file now.
bool RunFiles::read_again(File& file) {
  const std::optional<RunFile> now = read_run_file(file.descriptor);
  if (!now || now->program != file.last.program) return false;
  file.last = *now;
  return true;
}

std::optional<std::uint64_t> RunFiles::read(Runs wanted) {
  if (files_.empty()) return std::nullopt;
  File& of_entries = files_.front();
  const std::uint64_t entries_before = of_entries.last.missed_runs;
  // A test that closes descriptors usually closes all of them. So one fstat is enough, and the others are recognised by
  // their program.
  bool are_right = is_still_ours(of_entries.descriptor) && read_again(of_entries);
  const bool wants_others = wanted == Runs::of_all || of_entries.last.missed_runs != entries_before;
  std::uint64_t missed = of_entries.last.missed_runs;
  for (auto file = files_.begin() + 1; are_right && file != files_.end(); ++file) {
    if (wants_others) are_right = read_again(*file);
    missed += file->last.missed_runs;
  }
  if (are_right) return missed;
  close_all();
  return std::nullopt;
}

}  // namespace syscost::ebpf
