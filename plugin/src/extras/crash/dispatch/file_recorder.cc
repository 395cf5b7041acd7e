// SPDX-License-Identifier: MIT
#include "extras/crash/dispatch/file_recorder.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/special.h"
#include "extras/crash/stub/file_log.h"
#include "extras/trace/stub/trace.h"

namespace syscost::dispatch {
namespace {

using signal_safe::FileRecord;
using signal_safe::FileTrouble;
using signal_safe::kFileTable;

constexpr std::uint64_t kLogBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kTableBytes = kFileTable * sizeof(signal_safe::KnownFile);

// One log for all backends of the process.
std::atomic<bool> g_is_recording{false};
std::uint64_t g_recordings = 0;

Failure trouble_failure(FileTrouble trouble) {
  switch (trouble) {
    case FileTrouble::no_room:
      return {
          "The calls wrote more than the " + std::to_string(kLogBytes >> 20) + " MiB that a record of them may have.",
          "Let the body write less."};
    case FileTrouble::too_many_files:
      return {"The directory has more than " + std::to_string(kFileTable / 2) + " files.", "Let the body use fewer."};
    case FileTrouble::no_copies:
      return {
          "The program has installed a seccomp filter, and the filter may kill it for process_vm_readv, by which "
          "the data of calls is copied.",
          "Install the filter in another test."};
    default:
      return {"What a call wrote could not be read.", "Do not change what a call writes while the call runs."};
  }
}

SeenFile seen(const struct stat& status) {
  if (status.st_ino == 0) return {{}, 0, status.st_mode};
  return {{status.st_dev, status.st_ino}, static_cast<std::uint64_t>(status.st_size), status.st_mode};
}

std::string part_of(const char* memory, const signal_safe::LogPart& part) {
  return {memory + part.at, part.bytes};
}

FileCall call_of(const FileRecord& record, const char* memory) {
  FileCall call;
  const bool is_mark = record.number == signal_safe::kMarkRecord;
  call.number = is_mark ? FileCall::kMark : static_cast<std::uint32_t>(record.number);
  const signal_safe::Arguments& given = record.arguments;
  call.arguments = {given.rdi, given.rsi, given.rdx, given.r10, given.r8, given.r9};
  call.result = record.result;
  call.has_returned = record.ended != 0;
  call.begun = record.begun;
  call.ended = record.ended;
  call.stack = record.stack;
  call.object = seen(record.object);
  call.folder = seen(record.folder);
  call.other = seen(record.other);
  call.other_folder = seen(record.other_folder);
  call.path = part_of(memory, record.path);
  call.other_path = part_of(memory, record.other_path);
  call.data = part_of(memory, record.data);
  call.offset = record.offset;
  call.file_flags = record.file_flags;
  return call;
}

}  // namespace

Files::~Files() {
  if (memory_ != nullptr) free_memory(close_log());
}

Result<void> Files::start(std::span<const FileKey> files) {
  if (signal_safe::calling_thread(signal_safe::EntryPoint::enter()) == nullptr) {
    return Failure{"Backend dispatch does not see this thread's calls: the thread is older than the backend.",
                   "Call for_each_crash() on a thread that starts later, or on the main thread."};
  }
  if (g_is_recording.exchange(true)) {
    return Failure{"Another for_each_crash() records calls.", "Run one body at a time."};
  }
  const auto fail = [](Failure failure) {
    g_is_recording.store(false);
    return failure;
  };
  copies_ = {};
  copies_.start(false);
  if (!copies_.why_not().empty()) {
    return fail({"The data of calls cannot be copied: " + copies_.why_not() + ".", "Run without that."});
  }
  void* const memory = mmap(nullptr, kLogBytes + kTableBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return fail(errno_failure("map", "memory for a record of calls", errno));
  // A fork child does not need it.
  madvise(memory, kLogBytes + kTableBytes, MADV_DONTFORK);
  memory_ = static_cast<char*>(memory);
  signal_safe::FileLog& log = syscost_file_log;
  log.memory = memory_;
  log.bytes = kLogBytes;
  log.file_table = reinterpret_cast<signal_safe::KnownFile*>(memory_ + kLogBytes);
  log.files = 0;
  std::atomic_ref(log.used).store(0);
  std::atomic_ref(log.clock).store(0);
  std::atomic_ref(log.trouble).store(FileTrouble::none);
  for (const FileKey& file : files) {
    if (signal_safe::add_known_file(file.device, file.number)) continue;
    free_memory(true);
    return fail(trouble_failure(FileTrouble::too_many_files));
  }
  // The place of a record in Call::note leaves it 16 bits; 0 = nothing is recorded.
  constexpr std::uint64_t kMostRecordings = 0xffff;
  g_recordings = g_recordings == kMostRecordings ? 1 : g_recordings + 1;
  std::atomic_ref(log.generation).store(g_recordings);
  static constexpr signal_safe::Client kClient{signal_safe::ask_files, signal_safe::tell_files};
  std::atomic_ref(signal_safe::file_client).store(&kClient, std::memory_order_release);
  signal_safe::set_marks(signal_safe::kMarkedByFiles, signal_safe::file_call_numbers());
  return {};
}

void Files::mark(std::string_view name) {
  signal_safe::mark_files(signal_safe::EntryPoint::enter(), name.data(), name.size());
}

bool Files::close_log() {
  signal_safe::set_marks(signal_safe::kMarkedByFiles, {});
  std::atomic_ref(syscost_file_log.generation).store(0);
  constexpr int kPatience = 1 << 22;  // some 100 ms; a handler may have left a record by longjmp
  for (int i = 0; i < kPatience; ++i) {
    if (std::atomic_ref(syscost_file_log.under_way).load() == 0) return true;
    asm volatile("pause");
  }
  return false;
}

void Files::free_memory(bool is_quiet) {
  // A thread that may still write to it keeps it.
  if (is_quiet) {
    munmap(memory_, kLogBytes + kTableBytes);
  } else {
    std::atomic_ref(syscost_file_log.under_way).store(0);
  }
  memory_ = nullptr;
  g_is_recording.store(false);
}

Result<std::vector<FileCall>> Files::stop() {
  if (memory_ == nullptr) return Failure{"No calls are recorded.", "Start the recorder first."};
  const bool is_quiet = close_log();
  const FileTrouble trouble = std::atomic_ref(syscost_file_log.trouble).load();
  std::vector<FileCall> calls;
  const std::uint64_t used = std::atomic_ref(syscost_file_log.used).load();
  for (std::uint64_t at = 0; is_quiet && trouble == FileTrouble::none && at < used;) {
    const auto& record = *reinterpret_cast<const FileRecord*>(memory_ + at);
    if (record.number != signal_safe::kDataRecord && record.begun != 0) calls.push_back(call_of(record, memory_));
    at += record.bytes;
  }
  free_memory(is_quiet);
  if (!is_quiet) {
    return Failure{"A signal handler left a call in its middle, so what the call did is not known.",
                   "Let no handler of the body leave by longjmp."};
  }
  if (trouble != FileTrouble::none) return trouble_failure(trouble);
  std::sort(calls.begin(), calls.end(), [](const FileCall& a, const FileCall& b) { return a.begun < b.begun; });
  return calls;
}

MadeAbility make_file_recorder(const AbilityContext& /*context*/) {
  return std::unique_ptr<Ability>(std::make_unique<Files>());
}

}  // namespace syscost::dispatch
