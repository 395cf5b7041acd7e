// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub_calls.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>

#include "backends/dispatch/stub/common/call.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/common/state.h"
#include "backends/dispatch/stub/file_kinds.h"
#include "backends/dispatch/stub/user_memory.h"
#include "core/syscall_id.h"
#include "extras/trace/stub/trace.h"
#include "os/descriptors.h"

namespace syscost::dispatch {
namespace {

/// Makes the call as the stub does: process_vm_readv or process_vm_writev. Returns 0, or -errno.
long try_a_copy(long number) {
  const bool reads = number == SYS_process_vm_readv;
  char from = 's';
  char into = 0;
  const iovec string{&from, 1};
  const iovec room{&into, 1};
  const long copied =
      syscost_raw_syscall(number, syscost_raw_syscall(SYS_gettid), reinterpret_cast<long>(reads ? &room : &string), 1,
                          reinterpret_cast<long>(reads ? &string : &room), 1, 0);
  return copied < 0 ? copied : copied == 1 && into == from ? 0 : -EIO;
}

bool had_filter = false;  // when copies of arguments became possible

/// Waits for the end of `child`, and kills it if a supervisor of the filter does not answer. True if nothing killed it.
bool survives(long child) {
  constexpr long kAll = 0x4000'0000;  // __WALL: also a child without exit signal
  constexpr int kPatienceMs = 1000;
  constexpr long kNsOfMs = 1'000'000;
  const timespec pause{0, kNsOfMs};
  int status = -1;
  for (int waited = 0;; ++waited) {
    if (waited == kPatienceMs) syscost_raw_syscall(SYS_kill, child, SIGKILL);
    const long options = waited < kPatienceMs ? kAll | WNOHANG : kAll;
    const long reaped = syscost_raw_syscall(SYS_wait4, child, reinterpret_cast<long>(&status), options, 0);
    if (reaped == child) return status == 0;
    if (reaped < 0 && reaped != -EINTR) return false;
    if (reaped == 0) syscost_raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&pause), 0);
  }
}

}  // namespace

bool has_seccomp_filter() {
  return syscost_raw_syscall(SYS_prctl, PR_GET_SECCOMP) != 0;
}

bool is_safe_in_a_child(void (*call)()) {
  const long child = syscost_raw_syscall(SYS_clone, 0, 0, 0, 0, 0);  // no exit signal: the program sees no SIGCHLD
  if (child < 0) return false;
  if (child == 0) {
    // A filter that kills leaves no core.
    syscost_raw_syscall(SYS_prctl, PR_SET_DUMPABLE, 0);
    call();
    for (;;) syscost_raw_syscall(SYS_exit_group, 0);
  }
  return survives(child);
}

std::string why_no_call_of_ours(bool sees_all, std::string_view name, void (*call)()) {
  if (!sees_all && syscost_has_older_threads != 0) {
    return "a thread that is older than the backend may install a seccomp filter unseen";
  }
  if (syscost_state.filters != 0) {
    return "the program has installed a seccomp filter, and the filter may kill it for " + std::string(name);
  }
  if (has_seccomp_filter() && !is_safe_in_a_child(call)) {
    return "a seccomp filter kills a process that calls " + std::string(name);
  }
  return {};
}

void start_user_copies(bool sees_all) {
  const auto call = [] { try_a_copy(SYS_process_vm_writev); };
  const bool may = why_no_call_of_ours(sees_all, "process_vm_writev", call).empty() &&
                   why_no_call_of_ours(sees_all, "process_vm_readv", [] { try_a_copy(SYS_process_vm_readv); }).empty();
  had_filter = has_seccomp_filter();
  signal_safe::may_copy_by_kernel(may);
}

void check_user_copies() {
  if (!had_filter && has_seccomp_filter()) signal_safe::may_copy_by_kernel(false);
}

void StringCopies::start(bool sees_all) {
  has_filter_ = has_seccomp_filter();
  why_not_ = why_no_call_of_ours(sees_all, "process_vm_readv", [] { try_a_copy(SYS_process_vm_readv); });
  if (const long error = why_not_.empty() ? try_a_copy(SYS_process_vm_readv) : 0; error != 0) {
    why_not_ = std::string("process_vm_readv fails: ") + std::strerror(static_cast<int>(-error));
  }
  syscost_string_copies.has_no_filter = !has_filter_;
  std::atomic_ref(syscost_string_copies.are_possible).store(why_not_.empty());
}

void StringCopies::check() const {
  if (why_not_.empty() && !has_filter_ && has_seccomp_filter()) signal_safe::stop_copies();
}

namespace {

constexpr std::uint64_t kNoDescriptor = ~std::uint64_t{0};

bool is_answered() {
  return signal_safe::kind_of(kNoDescriptor) == static_cast<std::uint32_t>(FileKind::bad_descriptor);
}

}  // namespace

AskedKinds::~AskedKinds() {
  pause();
  std::atomic_ref(syscost_string_copies.may_ask_kinds).store(false);
}

void AskedKinds::start(bool sees_all) {
  is_started_ = true;
  has_filter_ = has_seccomp_filter();
  why_not_ = why_no_call_of_ours(sees_all, "statx", [] { is_answered(); });
  if (why_not_.empty() && !is_answered()) why_not_ = "statx fails";
  std::atomic_ref(syscost_string_copies.may_ask_kinds).store(why_not_.empty());
  resume();
}

void AskedKinds::pause() {
  if (is_started_) signal_safe::set_marks(signal_safe::kMarkedByFileKinds, {});
}

void AskedKinds::resume() {
  if (!is_started_) return;
  check();
  signal_safe::set_marks(signal_safe::kMarkedByFileKinds, signal_safe::moving_numbers());
}

void AskedKinds::check() const {
  if (is_started_ && why_not_.empty() && !has_filter_ && has_seccomp_filter()) signal_safe::stop_calls_of_ours();
}

}  // namespace syscost::dispatch
