// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/cancel.h"

#include <ucontext.h>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/record.h"
#include "backends/dispatch/stub/special.h"
#include "backends/dispatch/stub/user_memory.h"
#include "extras/where/stub/unwind.h"

// NOLINTBEGIN(readability-identifier-naming): places in the stub
extern "C" {
extern const char syscost_stub_framed[];
extern const char syscost_stub_kept[];
extern const char syscost_stub_flags_kept[];
extern const char syscost_stub_stamping[];
extern const char syscost_stub_stamped[];
extern const char syscost_stub_known[];
extern const char syscost_stub_calls[];
extern const char syscost_stub_returned[];
extern const char syscost_stub_counted[];
extern const char syscost_stub_moved[];
extern const char syscost_stub_moved_counted[];
extern const char syscost_stub_moved_back[];
extern const char syscost_stub_leaving[];
extern const char syscost_stub_left[];
extern const char syscost_call_is_over[];
void syscost_run_on(std::uint64_t* registers);
extern const char syscost_stub_trapped_end[];
extern const char syscost_special_begin[];
extern const char syscost_special_saved[];
extern const char syscost_special_returned[];
extern const char syscost_plain_framed[];
extern const char syscost_plain_kept[];
extern const char syscost_plain_flags_kept[];
extern const char syscost_plain_quiet[];
extern const char syscost_plain_quiet_framed[];
extern const char syscost_plain_quiet_kept[];
extern const char syscost_plain_quiet_returned[];
}
// NOLINTEND(readability-identifier-naming)

namespace syscost::signal_safe {
namespace {

constexpr std::uint64_t kSyscallBytes = 2;
constexpr std::uint64_t kQuietFrame = 128 + 16;
constexpr std::uint64_t kTrapFlag = 0x100;

class Interrupted {
 public:
  explicit Interrupted(SignalFrame& frame) : registers_(frame.registers), at_(registers_[REG_RIP]) {}

  bool is_at(const char* place) const { return at_ == reinterpret_cast<std::uint64_t>(place); }
  bool is_within(const char* begin, const char* end) const {
    return at_ >= reinterpret_cast<std::uint64_t>(begin) && at_ < reinterpret_cast<std::uint64_t>(end);
  }

  /// Nothing but rcx or r11 has changed, which a call changes anyway.
  void go_back(std::uint64_t return_address, std::uint64_t frame_bytes) {
    registers_[REG_RSP] += frame_bytes;
    registers_[REG_RIP] = return_address - kSyscallBytes;
  }

  /// The way back is in the stub's Call below the caller's red zone, and flags have not changed.
  void go_back_from_frame() {
    const Call& call = *reinterpret_cast<const Call*>(registers_[REG_RSP]);
    registers_[REG_RAX] = call.number;
    go_back(call.return_address, kCallFrame);
  }

  /// The stub's, where it has one.
  Call& call() { return *reinterpret_cast<Call*>(registers_[REG_RSP]); }

  /// All is in the stub's Call.
  void go_back_by_call() {
    registers_[REG_RAX] = call().number;
    leave_call(call().return_address - kSyscallBytes);
  }

  /// As the end of the stub does.
  void go_on_after_call() {
    registers_[REG_RCX] = call().return_address;
    registers_[REG_R11] = 0;  // no copy of the flags: is_undone_call
    leave_call(call().return_address);
  }

  void take_arguments_back() {
    const Arguments& given = reinterpret_cast<const Call*>(registers_[REG_RSP])->given;
    registers_[REG_RDI] = given.rdi;
    registers_[REG_RSI] = given.rsi;
    registers_[REG_RDX] = given.rdx;
    registers_[REG_R10] = given.r10;
    registers_[REG_R8] = given.r8;
    registers_[REG_R9] = given.r9;
  }

  void leave_call(std::uint64_t to) {
    Call& left = call();
    // lahf and seto
    constexpr std::uint64_t kLow = 0xd5;
    constexpr std::uint64_t kOverflow = 0x800;
    std::uint64_t& flags = registers_[REG_EFL];
    flags = (flags & ~(kLow | kOverflow)) | (left.flags >> 8 & kLow) | ((left.flags & 1) != 0 ? kOverflow : 0);
    registers_[REG_RSP] = left.stack_pointer;
    registers_[REG_RIP] = to;
    left.thread = nullptr;  // a trap stack is free again
  }

  std::uint64_t& at(int name) { return registers_[name]; }

 private:
  std::uint64_t* registers_;
  std::uint64_t at_;
};

/// True for a handler that runs on our signal stack: what it interrupted may go on meanwhile, on a stack of its own.
bool runs_beside(const Guard& guard, const SignalFrame& frame, const Thread* thread) {
  if (thread == nullptr || calling_thread(guard) != thread) return false;
  return reinterpret_cast<std::uint64_t>(&frame) - thread->signal_stack.start < thread->signal_stack.bytes;
}

bool is_in_trampolines(std::uint64_t at) {
  return at - syscost_state.trampolines < syscost_state.trampolines_bytes;
}

/// Where in a trampoline the code at `at` is, or goes by its next jump: from a bridge (sites.h), or from a site itself.
/// 0 = nowhere.
std::uint64_t trampoline_of(std::uint64_t at) {
  constexpr unsigned char kJump = 0xe9;
  constexpr std::uint64_t kJumpBytes = 5;
  if (is_in_trampolines(at)) return at;
  const bool is_patched = at - syscost_state.patched_text + kJumpBytes <= syscost_state.patched_text_bytes &&
                          at >= syscost_state.patched_text;
  if (!is_patched || read_at<unsigned char>(at) != kJump) return 0;
  const auto distance = static_cast<std::int32_t>(read_at<std::uint32_t>(at + 1));
  const std::uint64_t to = at + kJumpBytes + static_cast<std::uint64_t>(std::int64_t{distance});
  return is_in_trampolines(to) ? to : 0;
}

/// True where unwinders do not see the caller, or a trap stack is in use, and the call has never been made.
bool has_yet_to_call(Interrupted& code) {
  if (trampoline_of(code.at(REG_RIP)) != 0) return true;
  if (code.is_within(syscost_stub_trapped, syscost_stub_trapped_end)) return true;
  return code.is_within(syscost_stub_flags_kept, syscost_stub_calls) && is_on_trap_stack(code.call());
}

/// The Call of a patched site that is counted on the trap stack of `on`.
Call& counted_by(const Call& on) {
  return *reinterpret_cast<Call*>(on.stack_pointer);
}

/// Where the stub, or what it has called, will read the way back of the call that is being counted; null where none is.
std::uint64_t* way_back(Interrupted& code) {
  if (code.is_within(syscost_stub_moved, syscost_stub_moved_back)) return &counted_by(code.call()).return_address;
  if (code.is_within(syscost_stub_returned, syscost_stub_leaving)) return &code.call().return_address;
  if (code.is_within(syscost_stub_leaving, syscost_stub_left)) return &code.at(REG_RCX);
  Call* below = call_above(code.at(REG_RSP));
  if (below == nullptr || code.at(REG_RSP) == reinterpret_cast<std::uint64_t>(below)) return nullptr;
  // A function that the stub has called has its return address right below the Call.
  const auto returns_to = reinterpret_cast<const char*>(reinterpret_cast<const std::uint64_t*>(below)[-1]);
  if (returns_to == syscost_stub_moved_counted) return &counted_by(*below).return_address;
  return returns_to == syscost_stub_counted ? &below->return_address : nullptr;
}

/// On the way to the stub from a patched site.
void leave_trampoline(SignalFrame& frame, std::uint64_t at) {
  const std::uint64_t start = at - (at - syscost_state.trampolines) % kTrampolineBytes;
  const std::uint64_t displaced_bytes = read_at<unsigned char>(start + kTrampolineBytes - 1);
  constexpr std::uint64_t kOpcode = 2;  // of the instruction that loads the return address
  const std::uint64_t site = read_at<std::uint64_t>(start + displaced_bytes + kOpcode) - kSyscallBytes;
  frame.registers[REG_RIP] = at == start ? site - displaced_bytes : site;
}

}  // namespace

void settle_call(const Guard& guard, SignalFrame& frame, const Thread* thread) {
  Interrupted code(frame);
  if (code.is_at(syscost_stub_returned)) {
    Call& call = code.call();
    if (call.thread->lane->control != 0) {
      call.result = code.at(REG_RAX);
      call.abi = call.is_altered = 0;
      call.frame_pointer = code.at(REG_RBP);
      record(guard, call, read_ticks());
    }
    code.go_on_after_call();
  } else if (code.is_at(syscost_special_returned)) {
    Call& call = code.call();
    call.result = code.at(REG_RAX);
    if (!finish_in_handler(guard, call, syscost_denies_ticks == 0 ? read_ticks() : 0)) return;
    code.take_arguments_back();
    code.go_on_after_call();
  } else if (has_yet_to_call(code)) {
    // Not where a handler is called for each step: it would never get any further.
    if ((code.at(REG_EFL) & kTrapFlag) == 0) show_call_site(frame);
  } else if (runs_beside(guard, frame, thread)) {
    std::uint64_t* to = way_back(code);
    if (to == nullptr) return;
    const std::uint64_t return_address = *to;
    *to = reinterpret_cast<std::uint64_t>(syscost_call_is_over);
    // An unwinding may be in a function that uses vector registers (unwind.cc): they belong to what runs on.
    const bool unwinds = stack_pointer_outside(code.at(REG_RSP)) != code.at(REG_RSP);
    if (unwinds) load_vectors(frame);
    syscost_run_on(frame.registers);
    if (unwinds) store_vectors(frame);
    code.at(REG_RCX) = code.at(REG_RIP) = return_address;
  }
}

void adopt_call(SignalFrame& frame, Thread& thread) {
  Interrupted code(frame);
  if (!code.is_within(syscost_stub_known, syscost_stub_returned)) return;
  Call& call = code.call();
  const bool is_watched = call.thread >= syscost_threads && call.thread < syscost_threads + kThreads;
  if (is_watched && !is_on_trap_stack(call)) call.thread = &thread;
}

// A place for each branch: what is to be done at some of them is the same.
// NOLINTBEGIN(bugprone-branch-clone)
void show_call_site(SignalFrame& frame) {
  Interrupted code(frame);
  const std::uint64_t at = code.at(REG_RIP);
  if (const std::uint64_t trampoline = trampoline_of(at); trampoline != 0) {
    leave_trampoline(frame, trampoline);
  } else if (code.is_within(syscost_stub, syscost_stub_framed)) {
    code.go_back(code.at(REG_RCX), 0);
  } else if (code.is_within(syscost_stub_framed, syscost_stub_kept)) {
    code.go_back(code.at(REG_RCX), kCallFrame);
  } else if (code.is_within(syscost_stub_trapped, syscost_stub_trapped_end)) {
    code.go_back_by_call();
  } else if (code.is_within(syscost_stub_kept, syscost_stub_flags_kept)) {
    code.go_back_from_frame();
  } else if (code.is_within(syscost_stub_flags_kept, syscost_stub_returned)) {
    if (code.is_within(syscost_stub_stamping, syscost_stub_stamped)) code.at(REG_RDX) = code.at(REG_R11);
    code.go_back_by_call();
  } else if (code.is_within(syscost_special_begin, syscost_special_returned)) {
    if (!code.is_within(syscost_special_begin, syscost_special_saved)) code.take_arguments_back();
    code.go_back_by_call();
  } else if (code.is_within(syscost_stub_plain, syscost_plain_framed)) {
    code.go_back(code.at(REG_R11), 0);
  } else if (code.is_within(syscost_plain_framed, syscost_plain_kept)) {
    code.go_back(code.at(REG_R11), kCallFrame);
  } else if (code.is_within(syscost_plain_kept, syscost_plain_flags_kept)) {
    code.go_back_from_frame();
  } else if (code.is_within(syscost_plain_flags_kept, syscost_plain_quiet)) {
    code.go_back_by_call();
  } else if (code.is_within(syscost_plain_quiet, syscost_plain_quiet_framed)) {
    code.go_back(code.at(REG_R11), 0);
  } else if (code.is_within(syscost_plain_quiet_framed, syscost_plain_quiet_kept)) {
    code.go_back(code.at(REG_R11), kQuietFrame);
  } else if (code.is_within(syscost_plain_quiet_kept, syscost_plain_quiet_returned)) {
    code.at(REG_RAX) = read_at<std::uint64_t>(code.at(REG_RSP) + 8);
    code.go_back(read_at<std::uint64_t>(code.at(REG_RSP)), kQuietFrame);
  }
}
// NOLINTEND(bugprone-branch-clone)

}  // namespace syscost::signal_safe
