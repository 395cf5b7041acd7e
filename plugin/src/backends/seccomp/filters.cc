// SPDX-License-Identifier: MIT
#include "backends/seccomp/filters.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "backends/seccomp/supervisor.h"
#include "core/syscall_id.h"
#include "libc/symbols.h"
#include "os/errors.h"
#include "os/files.h"
#include "os/proc.h"
#include "os/text.h"

namespace syscost::seccomp {
namespace {

/// The calls with a restart block: nanosleep, clock_nanosleep, poll and futex (kernel/futex, fs/select.c, kernel/time).
constexpr std::array kResumable = {SyscallId{Abi::x86_64, SYS_nanosleep},
                                   SyscallId{Abi::x86_64, SYS_clock_nanosleep},
                                   SyscallId{Abi::x86_64, SYS_poll},
                                   SyscallId{Abi::x86_64, SYS_futex},
                                   SyscallId{Abi::x32, SYS_nanosleep},
                                   SyscallId{Abi::x32, SYS_clock_nanosleep},
                                   SyscallId{Abi::x32, SYS_poll},
                                   SyscallId{Abi::x32, SYS_futex},
                                   SyscallId{Abi::i386, 162},
                                   SyscallId{Abi::i386, 267},
                                   SyscallId{Abi::i386, 168},
                                   SyscallId{Abi::i386, 240},
                                   SyscallId{Abi::i386, 407},
                                   SyscallId{Abi::i386, 422}};

bool is_resumption(std::uint32_t number) {
  return number == SYS_restart_syscall || is_resumable({kNativeAbi, number});
}

bool is_notified(const Filter* filter, std::uint32_t number, bool any_resumable) {
  // prctl and seccomp may install filters of the program (may_install_tracer_filter()).
  const bool is_of_interest = (any_resumable && is_resumption(number)) || number == SYS_prctl || number == SYS_seccomp;
  if (filter == nullptr || is_of_interest) return true;
  return number != SYS_restart_syscall && filter->selects({kNativeAbi, number});
}

class Rules {
 public:
  explicit Rules(const LibseccompApi& api) : api_(api), context_(api.seccomp_init(SCMP_ACT_NOTIFY)) {
    if (context_ == nullptr) {
      error_ = EOPNOTSUPP;
      return;
    }
    note(api_.seccomp_attr_set(context_, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_NOTIFY));
    // A balanced tree: a call pays for the depth, not for the number of rules.
    note(api_.seccomp_attr_set(context_, SCMP_FLTATR_CTL_OPTIMIZE, 2));
  }
  ~Rules() {
    if (context_ != nullptr) api_.seccomp_release(context_);
  }
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  void add_arch(std::uint32_t arch) { note(api_.seccomp_arch_add(context_, arch)); }
  void remove_arch(std::uint32_t arch) { note(api_.seccomp_arch_remove(context_, arch)); }
  void allow(int number) { note(api_.seccomp_rule_add_array(context_, SCMP_ACT_ALLOW, number, 0, nullptr)); }
  /// Allows `number`. If libseccomp is too old to know it, nothing changes.
  void try_to_allow(int number) { api_.seccomp_rule_add_array(context_, SCMP_ACT_ALLOW, number, 0, nullptr); }
  void allow_with_cookie(int number, std::uint64_t cookie) {
    const scmp_arg_cmp sixth{5, SCMP_CMP_EQ, cookie, 0};
    note(api_.seccomp_rule_add_array(context_, SCMP_ACT_ALLOW, number, 1, &sixth));
  }
  void take_over(Rules& other) {
    note(api_.seccomp_merge(context_, other.context_));
    if (error_ == 0) other.context_ = nullptr;
  }
  void write_to(int fd) { note(api_.seccomp_export_bpf(context_, fd)); }
  /// The first errno; 0 if all steps succeeded.
  int error() const { return error_; }

 private:
  void note(int result) {
    if (result < 0 && error_ == 0) error_ = -result;
  }

  const LibseccompApi& api_;
  scmp_filter_ctx context_;
  int error_ = 0;
};

Result<std::vector<sock_filter>> read_program(Rules& rules) {
  // A pipe, because a test may run under a limit on the size of files, also of those in memory. A program that does not
  // fit is an error.
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return errno_failure("make", "a pipe", errno);
  rules.write_to(ends[1]);
  std::vector<sock_filter> program(BPF_MAXINSNS);
  const ssize_t got = read(ends[0], program.data(), program.size() * sizeof(sock_filter));
  close(ends[0]);
  close(ends[1]);
  program.resize(got > 0 ? static_cast<std::size_t>(got) / sizeof(sock_filter) : 0);
  if (rules.error() != 0 || program.empty() || BPF_CLASS(program.back().code) != BPF_RET) {
    return Failure{"libseccomp cannot write the filter (errno " + std::to_string(rules.error()) + ")",
                   "install libseccomp 2.5 or newer; report this with the output of uname -a"};
  }
  return program;
}

}  // namespace

bool is_restart_syscall(SyscallId id) {
  return id == SyscallId{Abi::x86_64, SYS_restart_syscall} || id == SyscallId{Abi::x32, SYS_restart_syscall} ||
         id == SyscallId{Abi::i386, 0};
}

bool is_resumable(SyscallId id) {
  return std::find(kResumable.begin(), kResumable.end(), id) != kResumable.end();
}

Result<std::vector<sock_filter>> make_filter_program(const Filter* filter, std::uint64_t cookie) {
  Result<const LibseccompApi*> api = open_libseccomp();
  if (!api.ok()) return api.failure();

  Rules native(*api.value());
  Rules foreign(*api.value());
  if (native.error() != 0 || foreign.error() != 0) {
    return Failure{"libseccomp knows no user notification here",
                   "install libseccomp 2.5 or newer, on Linux 5.9 or newer"};
  }
  const bool any_resumable = filter != nullptr && std::any_of(kResumable.begin(), kResumable.end(), [&](SyscallId id) {
                               return id.abi == kNativeAbi && filter->selects(id);
                             });
  native.allow(SCMP_SYS(rt_sigreturn));
  for (std::uint32_t number = 0; number < Filter::kNumbers; ++number) {
    if (is_notified(filter, number, any_resumable)) continue;
    if (number == SYS_rt_sigreturn) continue;
    native.try_to_allow(static_cast<int>(number));
  }
  for (const int number : {SCMP_SYS(gettid), SCMP_SYS(futex), SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(wait4),
                           SCMP_SYS(write), SCMP_SYS(exit_group)}) {
    if (is_notified(filter, static_cast<std::uint32_t>(number), any_resumable)) {
      native.allow_with_cookie(number, cookie);
    }
  }

  foreign.add_arch(SCMP_ARCH_X86);
  foreign.add_arch(SCMP_ARCH_X32);
  foreign.remove_arch(SCMP_ARCH_NATIVE);
  foreign.allow(SCMP_SYS(rt_sigreturn));
  foreign.try_to_allow(SCMP_SYS(sigreturn));
  if (foreign.error() == 0) native.take_over(foreign);
  if (foreign.error() != 0) {
    return Failure{"libseccomp cannot add the 32-bit rules (errno " + std::to_string(foreign.error()) + ")",
                   "install libseccomp 2.5 or newer"};
  }
  return read_program(native);
}

namespace {

LibseccompApi g_api;

Result<const LibseccompApi*> find_functions() {
  // Its calls go to libc, also where the program defines functions of libc's names. Sanitizers refuse that.
  const int deep = libc::has_sanitizer() ? 0 : RTLD_DEEPBIND;
  void* library = dlopen("libseccomp.so.2", RTLD_NOW | RTLD_LOCAL | deep);
  if (library == nullptr) {
    const bool is_at_limit = errno == EMFILE;
    std::string said = dlerror();
    if (is_at_limit) return errno_failure("load", "libseccomp.so.2", EMFILE);
    return Failure{"libseccomp.so.2 cannot be loaded: " + std::move(said),
                   "install libseccomp 2.5 or newer (Debian, Ubuntu: apt-get install libseccomp2; Fedora: dnf install "
                   "libseccomp)"};
  }
#define SYSCOST_LIBSECCOMP_FIND(name)                                                            \
  g_api.name = reinterpret_cast<decltype(g_api.name)>(dlsym(library, #name));                    \
  if (g_api.name == nullptr) {                                                                   \
    return Failure{"libseccomp.so.2 has no function " #name, "install libseccomp 2.5 or newer"}; \
  }
  SYSCOST_LIBSECCOMP_FUNCTIONS(SYSCOST_LIBSECCOMP_FIND)
#undef SYSCOST_LIBSECCOMP_FIND
  return &g_api;
}

}  // namespace

Result<const LibseccompApi*> open_libseccomp() {
  static const Result<const LibseccompApi*> opened = find_functions();
  return opened;
}

namespace {

/// Yama lets a process read only its descendants. So what cannot be read says nothing of the process.
bool is_under_yama() {
  const int file = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
  char scope = '0';
  if (file >= 0 && read(file, &scope, 1) != 1) scope = '0';
  if (file >= 0) close(file);
  return scope != '0';
}

enum class Read { all, nothing_there, denied };

Read read_memory(std::int32_t thread, std::uint64_t address, void* into, std::size_t bytes) {
  const iovec room{into, bytes};
  const iovec memory{reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr): of another process
  const long count = syscall(SYS_process_vm_readv, thread, &room, 1, &memory, 1, 0);
  if (count == static_cast<long>(bytes)) return Read::all;
  return count < 0 && errno == EPERM && !is_under_yama() ? Read::denied : Read::nothing_there;
}

/// Where the call's struct sock_fprog is; 0 if it installs no filter.
std::uint64_t filter_of(SyscallId id, const Notification& call) {
  constexpr std::uint32_t kPrctl32 = 172;
  constexpr std::uint32_t kSeccomp32 = 354;
  const bool is_32 = id.abi == Abi::i386;
  const auto first = static_cast<std::uint32_t>(call.arguments[0]);
  if (id.number == (is_32 ? kSeccomp32 : SYS_seccomp)) {
    return first == SECCOMP_SET_MODE_FILTER ? call.arguments[2] : 0;
  }
  const bool sets_filter = id.number == (is_32 ? kPrctl32 : SYS_prctl) && first == PR_SET_SECCOMP &&
                           call.arguments[1] == SECCOMP_MODE_FILTER;
  return sets_filter ? call.arguments[2] : 0;
}

/// The filter's length, and where its instructions are; a length of 0 for one that the kernel will refuse.
Read read_head(bool is_32, std::int32_t thread, std::uint64_t at, std::size_t& length, std::uint64_t& instructions) {
  struct Head32 {
    std::uint16_t length;
    std::uint32_t instructions;
  } head32{};
  struct Head64 {
    std::uint16_t length;
    std::uint64_t instructions;
  } head64{};
  const Read read =
      is_32 ? read_memory(thread, at, &head32, sizeof head32) : read_memory(thread, at, &head64, sizeof head64);
  length = is_32 ? head32.length : head64.length;
  instructions = is_32 ? head32.instructions : head64.instructions;
  if (length > BPF_MAXINSNS) length = 0;
  return read;
}

bool asks_tracer(const sock_filter& one) {
  return BPF_CLASS(one.code) == BPF_RET && BPF_RVAL(one.code) == BPF_K &&
         (one.k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_TRACE;
}

}  // namespace

bool may_install_tracer_filter(const Notification& call) {
  const SyscallId id = syscall_id_of(call.arch, call.number);
  const std::uint64_t filter = filter_of(id, call);
  if (filter == 0) return false;
  std::size_t length = 0;
  std::uint64_t instructions = 0;
  const Read head = read_head(id.abi == Abi::i386, call.thread, filter, length, instructions);
  if (head != Read::all) return head == Read::denied;
  std::array<sock_filter, 256> part;  // NOLINT(cppcoreguidelines-pro-type-member-init): what is read
  for (std::size_t begin = 0; begin < length; begin += part.size()) {
    const std::size_t count = std::min(part.size(), length - begin);
    const Read read =
        read_memory(call.thread, instructions + begin * sizeof part[0], part.data(), count * sizeof part[0]);
    if (read != Read::all) return read == Read::denied;
    if (std::any_of(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(count), asks_tracer)) return true;
  }
  return false;
}

Result<void> check_tracer_filters() {
  const std::string status = read_small_file("/proc/self/status");
  const std::uint64_t tracer = number_in_status(status, "TracerPid").value_or(0);
  const std::optional<std::uint64_t> filters = number_in_status(status, "Seccomp_filters");
  if (tracer == 0 || filters == 0) return {};
  const std::string proc = "/proc/" + std::to_string(tracer);
  const std::optional<std::uint64_t> of_tracer = number_in_status(read_small_file(proc + "/status"), "Seccomp_filters");
  if (filters.has_value() && of_tracer >= filters) return {};
  std::string name = read_small_file(proc + "/comm");
  if (!name.empty()) name.pop_back();  // the end of the line
  return Failure{
      "this process has a seccomp filter that its tracer" + (name.empty() ? "" : " (" + printable(name) + ")") +
          " does not have, so the filter may ask the tracer; beside this backend the kernel would not ask it",
      "run it without the tracer, or without its filter (`strace --seccomp-bpf`), or take another backend"};
}

}  // namespace syscost::seccomp
