// SPDX-License-Identifier: MIT
#include "faults/written_files.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace syscost::bench::faults {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::array<std::string_view, 4> kOpen = {"open", "openat", "openat2", "creat"};
constexpr std::array<std::string_view, 3> kDuplicate = {"dup", "dup2", "dup3"};
constexpr std::array<std::string_view, 7> kWrite = {"write",    "pwrite64",  "writev",   "pwritev",
                                                    "pwritev2", "ftruncate", "fallocate"};
constexpr std::array<std::string_view, 3> kPair = {"pipe", "pipe2", "socketpair"};
/// Their result is a descriptor of something that is on no disk.
constexpr std::array<std::string_view, 12> kNoFile = {
    "socket",        "accept",         "accept4",       "eventfd",   "eventfd2",     "epoll_create",
    "epoll_create1", "timerfd_create", "inotify_init1", "signalfd4", "memfd_create", "pidfd_open"};

/// A device keeps no data, unless it is the folder of shared memory.
bool is_device(std::string_view path) {
  if (path.starts_with('"')) path.remove_prefix(1);
  return path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
}

}  // namespace

std::string WrittenFiles::argument(const trace::Call& call, std::string_view name) const {
  for (std::size_t i = call.first_note; i < call.first_note + call.note_count; ++i) {
    const trace::Note& note = file_.notes[i];
    if (note.name == name) return note.text.empty() ? std::to_string(note.number) : std::string(note.text);
  }
  return {};
}

void WrittenFiles::open(const trace::Call& call) {
  const std::string flags = argument(call, "flags");
  const auto has = [&](std::string_view flag) { return flags.find(flag) != std::string::npos; };
  auto made = std::make_shared<OpenFile>();
  made->is_kept = !has("O_RDONLY") && !has("O_SYNC") && !has("O_DSYNC") && !is_device(argument(call, "filename"));
  files_[std::string(call.result)] = std::move(made);
}

void WrittenFiles::write(const std::string& descriptor) {
  const auto found = files_.find(descriptor);
  if (found != files_.end()) {
    found->second->is_dirty = found->second->is_kept;
  } else if (!has_pipes_) {  // opened before the test
    files_[descriptor] = std::make_shared<OpenFile>(OpenFile{true, true});
  }
}

void WrittenFiles::sync(const trace::Call& call) {
  const auto found = files_.find(argument(call, "fd"));
  if (found != files_.end()) found->second->is_dirty = false;
}

bool WrittenFiles::close(const std::string& descriptor) {
  const auto found = files_.find(descriptor);
  if (found == files_.end()) return true;
  const bool was_dirty = std::exchange(found->second->is_dirty, false);
  files_.erase(found);
  return !was_dirty;
}

bool WrittenFiles::is_harmless(const trace::Call& call) {
  const std::string descriptor = argument(call, "fd");
  if (call.name == "close") return close(descriptor);
  if (!call.error().empty()) return false;
  if (is_one_of(call.name, kOpen)) {
    open(call);
  } else if (is_one_of(call.name, kDuplicate) ||
             (call.name == "fcntl" && argument(call, "cmd").find("F_DUPFD") != std::string::npos)) {
    const std::string old = argument(call, call.name == "fcntl" ? "fd" : call.name == "dup" ? "fildes" : "oldfd");
    const std::string made(call.result);
    const auto found = files_.find(old);
    if (found != files_.end()) {
      files_[made] = found->second;
    } else if (old != made) {
      files_.erase(made);
    }
  } else if (is_one_of(call.name, kPair)) {
    has_pipes_ = true;
  } else if (is_one_of(call.name, kNoFile)) {
    files_[std::string(call.result)] = std::make_shared<OpenFile>(OpenFile{false, false});
  } else if (call.name == "fsync" || call.name == "fdatasync") {
    sync(call);
  } else if (call.name == "sync" || call.name == "syncfs") {
    for (const auto& [one, file] : files_) file->is_dirty = false;
  } else if (is_one_of(call.name, kWrite)) {
    const bool prints = (call.name == "write" || call.name == "writev") && (descriptor == "1" || descriptor == "2");
    if (!prints) write(descriptor);
    return prints;
  } else if (call.name == "copy_file_range" || call.name == "sendfile") {
    write(argument(call, call.name == "sendfile" ? "out_fd" : "fd_out"));
  }
  return false;
}

}  // namespace syscost::bench::faults
