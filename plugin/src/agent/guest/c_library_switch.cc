// SPDX-License-Identifier: MIT
#include "agent/guest/c_library_switch.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "agent/common/two_c_libraries.h"
#include "os/signals.h"

// Nothing here may use what belongs to a thread while it crosses: no libc, no stack protector.

extern "C" syscost::agent::Worlds
    syscost_worlds;  // NOLINT(readability-identifier-naming): the agent looks for this name

namespace syscost::guest {
namespace {

using Mask = std::uint64_t;  // the kernel's sigset_t

/// A crossing into the guest's world, on the stack of the thread that crosses.
struct Crossing {
  std::uintptr_t thread_pointer = 0;  ///< The program's.
  Mask mask = 0;                      ///< The program's.
  Crossing* outer = nullptr;
};

std::uintptr_t g_thread_pointer = 0;  // the guest's
Crossing* g_innermost = nullptr;      // one thread at a time is in the guest's world
std::uint64_t* g_control = nullptr;   // as it was when a thread last left the guest's world
/// 1 if g_control is this process's. A page of its own, which fork children see as zero: the word that arms is shared
/// with the kernel or another process, and a child must not touch its parent's.
volatile int* g_has_control = nullptr;

long raw_sigprocmask(int how, const Mask* set, Mask* before) {
  long result = SYS_rt_sigprocmask;
  register long size asm("r10") = sizeof(Mask);
  asm volatile("syscall" : "+a"(result) : "D"(long{how}), "S"(set), "d"(before), "r"(size) : "rcx", "r11", "memory");
  return result;
}

std::uintptr_t read_thread_pointer() {
  std::uintptr_t value = 0;
  asm volatile("rdfsbase %0" : "=r"(value));
  return value;
}

void write_thread_pointer(std::uintptr_t value) {
  asm volatile("wrfsbase %0" : : "r"(value) : "memory");
}

constexpr Mask bit_of(int signal) {
  return Mask{1} << (signal - 1);
}

/// All but those that an instruction raises: blocked, they would kill. SIGSYS is one: dispatch counts by it.
constexpr Mask all_but_those_of_instructions() {
  Mask mask = ~Mask{0};
  for (const int signal : kFaultSignals) {
    if (is_raised_by_instruction(signal)) mask &= ~bit_of(signal);
  }
  return mask;
}
constexpr Mask kBlocked = all_but_those_of_instructions();

/// While it exists, nothing is counted.
class Unarmed {
 public:
  explicit Unarmed(std::uint64_t* control) : control_(*g_has_control != 0 ? control : nullptr) {
    if (control_ != nullptr) armed_ = __atomic_exchange_n(control_, 0, __ATOMIC_SEQ_CST);
  }
  Unarmed(const Unarmed&) = delete;
  Unarmed& operator=(const Unarmed&) = delete;
  ~Unarmed() {
    if (control_ != nullptr && armed_ != 0) __atomic_store_n(control_, armed_, __ATOMIC_SEQ_CST);
  }

 private:
  std::uint64_t* control_;
  std::uint64_t armed_ = 0;
};

void enter(Crossing& crossing) {
  const Unarmed unarmed(g_control);
  raw_sigprocmask(SIG_BLOCK, &kBlocked, &crossing.mask);
  crossing.thread_pointer = read_thread_pointer();
  crossing.outer = g_innermost;
  g_innermost = &crossing;
  write_thread_pointer(g_thread_pointer);
}

void leave(const Crossing& crossing) {
  const auto control = syscost_worlds.control;
  g_control = control != nullptr ? control() : nullptr;
  *g_has_control = g_control != nullptr ? 1 : 0;
  const Unarmed unarmed(g_control);
  write_thread_pointer(crossing.thread_pointer);
  g_innermost = crossing.outer;
  raw_sigprocmask(SIG_SETMASK, &crossing.mask, nullptr);
}

/// An entrance jumps here; the function is its fourth argument.
void enter_and_call(std::uintptr_t first, std::uintptr_t second, std::uintptr_t third, std::uintptr_t function) {
  Crossing crossing;
  enter(crossing);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a function of ours
  reinterpret_cast<void (*)(std::uintptr_t, std::uintptr_t, std::uintptr_t)>(function)(first, second, third);
  leave(crossing);
}

// ---- code that is made ----------------------------------------------------------------------------------------------

/// Small functions, one after another in pages of their own.
class MadeCode {
 public:
  template <std::size_t kSize>
  std::uintptr_t add(const unsigned char (&code)[kSize]) {
    if (page_ == nullptr || used_ + kSize > kBytes) {
      void* const page = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (page == MAP_FAILED) give_up();
      page_ = static_cast<unsigned char*>(page);
      used_ = 0;
    } else if (mprotect(page_, kBytes, PROT_READ | PROT_WRITE) != 0) {
      give_up();
    }
    unsigned char* const at = page_ + used_;
    std::memcpy(at, code, kSize);
    used_ += kSize;
    if (mprotect(page_, kBytes, PROT_READ | PROT_EXEC) != 0) give_up();
    return reinterpret_cast<std::uintptr_t>(at);
  }

 private:
  static constexpr std::size_t kBytes = 4096;
  [[noreturn]] static void give_up() {
    std::perror("syscost: this program's tests cannot be measured: no code can be added to it");
    _Exit(2);
  }

  unsigned char* page_ = nullptr;
  std::size_t used_ = 0;
};

MadeCode g_made_code;

void put_address(unsigned char* into, std::uintptr_t address) {
  std::memcpy(into, &address, sizeof address);
}

}  // namespace

std::uintptr_t entrance_before(std::uintptr_t seen, std::uintptr_t original) {
  constexpr std::size_t kSeen = 8;
  constexpr std::size_t kOriginal = 26;
  unsigned char code[] = {
      0x57,                                      // push %rdi
      0x56,                                      // push %rsi
      0x48, 0x83, 0xec, 0x08,                    // sub $8, %rsp: aligned
      0x48, 0xb8, 0,    0,    0, 0, 0, 0, 0, 0,  // movabs $seen, %rax
      0xff, 0xd0,                                // call *%rax
      0x48, 0x83, 0xc4, 0x08,                    // add $8, %rsp
      0x5e,                                      // pop %rsi
      0x5f,                                      // pop %rdi
      0x48, 0xb8, 0,    0,    0, 0, 0, 0, 0, 0,  // movabs $original, %rax
      0xff, 0xe0,                                // jmp *%rax
  };
  put_address(code + kSeen, seen);
  put_address(code + kOriginal, original);
  return g_made_code.add(code);
}

std::uintptr_t entrance(std::uintptr_t function) {
  constexpr std::size_t kFunction = 2;
  constexpr std::size_t kCommon = 12;
  unsigned char code[] = {
      0x48, 0xb9, 0, 0, 0, 0, 0, 0, 0, 0,  // movabs $function, %rcx
      0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,  // movabs $enter_and_call, %rax
      0xff, 0xe0,                          // jmp *%rax
  };
  put_address(code + kFunction, function);
  put_address(code + kCommon, reinterpret_cast<std::uintptr_t>(&enter_and_call));
  return g_made_code.add(code);
}

void call_program(std::uintptr_t function, std::uintptr_t first, std::uintptr_t second, std::uintptr_t third) {
  Crossing* const crossing = g_innermost;
  leave(*crossing);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a function of the program
  reinterpret_cast<void (*)(std::uintptr_t, std::uintptr_t, std::uintptr_t)>(function)(first, second, third);
  enter(*crossing);
}

void settle() {
  g_thread_pointer = read_thread_pointer();
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || madvise(page, 4096, MADV_WIPEONFORK) != 0) {
    std::perror("syscost: this program's tests cannot be measured: a page that fork children see as zero");
    _Exit(2);
  }
  g_has_control = static_cast<int*>(page);
}

void clear_thread_pointer() {
  write_thread_pointer(0);
}

}  // namespace syscost::guest

[[gnu::visibility("default")]] syscost::agent::Worlds syscost_worlds = {
    &syscost::guest::entrance, &syscost::guest::entrance_before, &syscost::guest::call_program, nullptr};
