// SPDX-License-Identifier: MIT
#include "extras/crash/states/trials.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "os/descriptors.h"
#include "os/environment.h"
#include "os/files.h"
#include "os/temporary_folder.h"

namespace syscost::crash {
namespace {

constexpr std::string_view kBeginning = "syscost-crash-";
constexpr std::size_t kRandom = 6;  // characters after it

/// A descriptor that holds the lock of the folder. -1 with errno: EWOULDBLOCK if another process holds it, ENOENT if
/// the folder is gone, EPERM if it is not ours alone.
int lock_of(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return -1;
  struct stat opened {};
  struct stat now {};
  constexpr mode_t kOfOthers = S_IRWXG | S_IRWXO;
  int error = 0;
  if (flock(folder, LOCK_EX | LOCK_NB) != 0 || fstat(folder, &opened) != 0 || lstat(path.c_str(), &now) != 0) {
    error = errno;
  } else if (opened.st_ino != now.st_ino || opened.st_dev != now.st_dev) {
    error = ENOENT;
  } else if (opened.st_uid != geteuid() || (opened.st_mode & kOfOthers) != 0) {
    error = EPERM;
  }
  if (error == 0) return folder;
  close(folder);
  errno = error;
  return -1;
}

void remove_and_tell(const std::string& path, const ScratchFolder::Tell& tell) {
  const std::string left = text_of(remove_tree(path));
  if (!left.empty() && tell) tell("the states of a power cut are not all removed: " + left);
}

void remove_left(const std::string& in, const ScratchFolder::Tell& tell) {
  for (const std::string& name : names_in(in)) {
    if (name.size() != kBeginning.size() + kRandom || name.compare(0, kBeginning.size(), kBeginning) != 0) {
      continue;
    }
    const std::string path = in + "/" + name;
    const int lock = lock_of(path);
    if (lock < 0) continue;
    remove_and_tell(path, tell);
    close(lock);
  }
}

}  // namespace

Result<ScratchFolder> ScratchFolder::make(const Tell& tell) {
  const char* const folder = variable("TMPDIR");
  const std::string in = folder != nullptr && *folder != '\0' ? folder : "/tmp";
  remove_left(in, tell);
  // A run that starts at the same time may remove the folder before its lock is taken.
  constexpr int kTries = 10;
  std::string path;
  for (int i = 0; i < kTries; ++i) {
    const std::string prefix = in + "/" + std::string(kBeginning);
    path = make_own_folder(prefix);
    if (path.empty()) return errno_failure("make", prefix + "...", errno);
    const int lock = lock_of(path);
    if (lock >= 0) return ScratchFolder(std::move(path), keep_descriptor(lock), tell);
    if (errno == EWOULDBLOCK || errno == ENOENT) continue;
    // Where the file system has no locks, no run removes it.
    if (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS) return ScratchFolder(std::move(path), -1, tell);
    const Failure why = errno_failure("lock", path, errno);
    rmdir(path.c_str());
    return why;
  }
  return errno_failure("lock", path, EWOULDBLOCK);
}

ScratchFolder::ScratchFolder(std::string path, int lock, Tell tell)
    : path_(std::move(path)), lock_(lock), tell_(std::move(tell)), owner_(getpid()) {}
ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_(std::exchange(other.lock_, -1)),
      tell_(std::move(other.tell_)),
      owner_(other.owner_) {}

ScratchFolder::~ScratchFolder() {
  if (path_.empty() || getpid() != owner_) return;
  remove_and_tell(path_, tell_);
  close_descriptor(lock_);
}

void ScratchFolder::clear() const {
  remove_below(path_);
}

namespace {

Settings settings_of(const CrashOptions& options) {
  Settings settings;
  settings.model = options.model;
  settings.block_bytes = options.block_bytes;
  return settings;
}

}  // namespace

Result<void> check_options(const CrashOptions& options) {
  constexpr std::size_t kSmallest = 512;
  constexpr std::size_t kLargest = 65536;
  const std::size_t block = options.block_bytes;
  if (block < kSmallest || block > kLargest || (block & (block - 1)) != 0) {
    return Failure{"CrashOptions::block_bytes is " + std::to_string(block) + ".",
                   "Give a power of two from 512 to 65536; 4096 is the default."};
  }
  constexpr std::size_t kMostStates = 1'000'000;
  if (options.most_states == 0 || options.most_states > kMostStates) {
    return Failure{"CrashOptions::most_states is " + std::to_string(options.most_states) + ".",
                   "Give a number from 1 to 1000000."};
  }
  return {};
}

Trials::Trials(Recording recording, const CrashOptions& options)
    : recording_(std::move(recording)),
      plan_(make_plan(recording_.initial, recording_.log, settings_of(options))),
      states_(make_states(recording_.initial, recording_.log, plan_, options.most_states, options.seed)) {}

CrashPoint Trials::point(std::size_t index, const std::string& path) const {
  const State& state = states_.states[index];
  const Stage& stage = plan_.stages[state.stage];
  CrashPoint point;
  point.path = path;
  point.is_finished = stage.is_finished;
  point.description = describe(recording_.log, plan_, state);
  for (const Operation& operation : recording_.log) {
    if (operation.act == Act::mark && point.marks.size() < stage.marks) point.marks.push_back(operation.text);
  }
  return point;
}

Result<void> Trials::make_files(std::size_t index, const std::string& path) const {
  return write_files(image_of(recording_.initial, recording_.log, plan_, states_.states[index].persisted), path);
}

CrashReport Trials::report() const {
  CrashReport report;
  for (const Operation& operation : recording_.log) report.operations += operation.act != Act::mark ? 1 : 0;
  report.is_complete = states_.is_complete;
  report.combinations_log2 = states_.combinations_log2;
  return report;
}

}  // namespace syscost::crash
