// SPDX-License-Identifier: MIT
//
// syscost-guest: measures a program into which nothing can be preloaded, from inside its process.
//
// syscost-inject has started the program, and stopped it before its first instruction. It mapped the loader of this
// program into the process, and let it run with a stack of its own. So this is a program like any other, with the
// libraries that it is linked with, but in a process in which another program waits for its start. It loads the agent,
// which puts functions into the program's GoogleTest, and then starts the program with the registers that the kernel
// gave it.
#include <dlfcn.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "agent/guest/c_library_switch.h"
#include "agent/guest/program.h"

namespace syscost::guest {
namespace {

Program* g_program = nullptr;

std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return ".";
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/'));
}

void load_agent() {
  if (dlopen((own_folder() + "/libsyscost-agent.so").c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return;
  const char* const error = dlerror();
  std::fprintf(stderr, "syscost: this program's tests cannot be measured: %s\n  fix: reinstall syscost\n",
               error != nullptr ? error : "libsyscost-agent.so is not found");
  _exit(2);
}

/// malloc must not move the end of the program's heap: the program's own malloc does, and each would take the other's
/// memory. It gets pages from elsewhere when sbrk() fails, as it does from an end that cannot grow.
void leave_heap_to_program() {
  constexpr std::uintptr_t kLastPage = ~std::uintptr_t{4095};
  if (void* const end = dlsym(RTLD_DEFAULT, "__curbrk"); end != nullptr) {
    *static_cast<std::uintptr_t*>(end) = kLastPage;
  } else {
    mallopt(M_MMAP_THRESHOLD, 0);
    mallopt(M_TOP_PAD, 0);
  }
}

void after_destructors() {
  run_exit_functions();
  if (g_program->last_destructor() != 0) call_program(g_program->last_destructor(), 0, 0, 0);
}

void before_constructors() {
  g_program->has_relocated();
  load_agent();
  g_program->run_after_destructors(&entrance, &after_destructors);
  const std::uintptr_t* const stack = g_program->stack();
  const std::uintptr_t argc = stack[0];
  call_program(g_program->first_constructor(), argc, reinterpret_cast<std::uintptr_t>(stack + 1),
               reinterpret_cast<std::uintptr_t>(stack + argc + 2));
}

/// The kernel starts a program with zeros in all registers but two.
[[noreturn]] void start_program(const Start& start) {
  sigset_t signals;
  sigemptyset(&signals);
  std::memcpy(&signals, &start.signals, sizeof start.signals);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  clear_thread_pointer();
  asm volatile(
      "mov %[stack], %%rsp\n\t"
      "push %[entry]\n\t"
      "xor %%eax, %%eax\n\txor %%ebx, %%ebx\n\txor %%ecx, %%ecx\n\txor %%edx, %%edx\n\t"
      "xor %%esi, %%esi\n\txor %%edi, %%edi\n\txor %%ebp, %%ebp\n\t"
      "xor %%r8d, %%r8d\n\txor %%r9d, %%r9d\n\txor %%r10d, %%r10d\n\txor %%r11d, %%r11d\n\t"
      "xor %%r12d, %%r12d\n\txor %%r13d, %%r13d\n\txor %%r14d, %%r14d\n\txor %%r15d, %%r15d\n\t"
      "ret\n\t"
      :
      : [stack] "r"(start.stack), [entry] "r"(start.entry)
      : "memory");
  __builtin_unreachable();
}

/// After this nothing traces the process.
void wait_for_tracer(pid_t tracer) {
  while (waitpid(tracer, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
}

[[noreturn]] void run(const Start& start, pid_t tracer) {
  wait_for_tracer(tracer);
  settle();
  static Program program(start);
  g_program = &program;
  show_program(program);
  leave_heap_to_program();
  if (program.is_relocated()) {
    load_agent();
    program.run_after_destructors(&entrance, &after_destructors);
  } else if (!program.run_before_constructors(&entrance, &before_constructors)) {
    std::fprintf(stderr,
                 "syscost: %s has no table of constructors, so its tests are not measured\n"
                 "  fix: link it with syscost::gtest\n",
                 program.name());
  }
  start_program(start);
}

}  // namespace
}  // namespace syscost::guest

// syscost-inject gives four numbers: where the program's stack is, its first instruction, the signals that are blocked,
// and the tracer's process.
int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("syscost-guest: bench run starts it inside a process; it does nothing by itself\n", stderr);
    return 2;
  }
  constexpr int kHex = 16;
  syscost::guest::Start start;
  start.stack = std::strtoull(argv[1], nullptr, kHex);
  start.entry = std::strtoull(argv[2], nullptr, kHex);
  start.signals = std::strtoull(argv[3], nullptr, kHex);
  syscost::guest::run(start, static_cast<pid_t>(std::strtoull(argv[4], nullptr, kHex)));
}
