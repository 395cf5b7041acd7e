// SPDX-License-Identifier: MIT
//
// Code and ABI: calls from code that was loaded later, numbers that are no call, and the other ways into the kernel.
//
// A call number means different things for different instructions: 20 is writev with `syscall` and getpid with
// `int $0x80`. A table indexed by the number alone reports a wrong name.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <string>

#include "case.h"
#include "raw.h"

namespace conformance {
namespace {

std::string library_path() {
  // In the folder of the program; the build puts both there.
  std::string self(4096, '\0');
  ssize_t length = readlink("/proc/self/exe", self.data(), self.size());
  self.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return self.substr(0, self.rfind('/') + 1) + "libconformance_plugin.so";
}

std::string g_library;

void call_into_new_code() {
  void* library = dlopen(g_library.c_str(), RTLD_NOW | RTLD_LOCAL);
  require(library != nullptr, "dlopen failed");
  if (library == nullptr) return;
  auto* function = reinterpret_cast<long (*)(int)>(dlsym(library, "conformance_call_from_plugin"));
  require(function != nullptr && function(100) == 100, "the library's function is missing or wrong");
  dlclose(library);
}

const Register kDlopened(Case{
    .number = 43,
    .name = "dlopened_code",
    .summary = "Calls from code that was loaded inside the window are counted.",
    .setup = [] { g_library = library_path(); },
    .windows = {{"", call_into_new_code, {calls("getppid", 100)}, "how dlopen loads a library is libc's choice"}},
});

std::string clock_source_missing() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  file >> source;
  if (source == "tsc" || source == "kvm-clock" || source == "hyperv_clocksource_tsc_page") return {};
  return "the clock source '" + source + "' cannot be read without a syscall; choose tsc or kvm-clock";
}

void read_clocks() {
  timespec now = {};
  bool ok = true;
  for (int i = 0; i < 1000; ++i) ok = clock_gettime(CLOCK_MONOTONIC, &now) == 0 && ok;
  ok = clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0 && ok;
  require(ok, "clock_gettime failed");
}

const Register kVdso(Case{
    .number = 45,
    .name = "vdso",
    .summary = "Clock reads that the vDSO answers are not syscalls; reading the thread's CPU clock is one.",
    .windows = {{"", read_clocks, {calls("clock_gettime", 1)}}},
    .missing = clock_source_missing,
});

long int80(long number, long first = 0) {
  long result = 0;
  asm volatile("int $0x80" : "=a"(result) : "0"(number), "b"(first) : "memory", "r8", "r9", "r10", "r11");
  return result;
}

constexpr long kGetpid32 = 20;
constexpr long kClose32 = 6;

std::string int80_missing() {
  // Without IA-32 emulation `int $0x80` is a fault, which must not end the process that asks.
  pid_t child = fork();
  if (child == 0) _exit(int80(kGetpid32) == getpid() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? "" : "the kernel has no IA-32 emulation; build it with CONFIG_IA32_EMULATION";
}

const Register kInt80(Case{
    .number = 46,
    .name = "int80",
    .summary = "Calls through int $0x80 have the names of their own table: 20 is getpid there, not writev.",
    .windows = {{"",
                 [] {
                   bool ok = true;
                   for (int i = 0; i < 10; ++i) ok = int80(kGetpid32) > 0 && ok;
                   for (int i = 0; i < 5; ++i) ok = static_cast<int>(int80(kClose32, -1)) == -EBADF && ok;
                   repeat_raw(3, 0, SYS_getppid);
                   require(ok, "a call through int $0x80 failed");
                 },
                 {calls("i386:getpid", 10), calls("i386:close", 5).failing(EBADF, 5), calls("getppid", 3)}}},
    .missing = int80_missing,
});

constexpr long kX32Bit = 0x4000'0000;

const Register kX32(Case{
    .number = 46,
    .name = "x32_without_kernel_support",
    .summary = "An x32 number is named by its own table, and fails with ENOSYS on a kernel without x32.",
    .windows = {{"",
                 [] { require(repeat_raw(4, -ENOSYS, kX32Bit | SYS_getpid), "x32 getpid did not fail with ENOSYS"); },
                 {calls("x32:getpid", 4).failing(ENOSYS, 4)}}},
    .missing = []() -> std::string {
      return raw(kX32Bit | SYS_getpid) == -ENOSYS ? ""
                                                  : "the kernel has x32; run on one built without CONFIG_X86_X32_ABI";
    },
});

/// The smallest io_uring: one submission ring, one completion ring, no-ops and writes.
class Ring {
 public:
  bool open() {
    io_uring_params params = {};
    fd_ = static_cast<int>(raw(SYS_io_uring_setup, 8, &params));
    if (fd_ < 0) return false;
    auto map = [this](std::size_t bytes, long offset) {
      return static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_, offset));
    };
    char* ring = map(params.sq_off.array + params.sq_entries * sizeof(std::uint32_t), IORING_OFF_SQ_RING);
    entries_ = reinterpret_cast<io_uring_sqe*>(map(params.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES));
    tail_ = reinterpret_cast<std::atomic<std::uint32_t>*>(ring + params.sq_off.tail);
    mask_ = *reinterpret_cast<std::uint32_t*>(ring + params.sq_off.ring_mask);
    array_ = reinterpret_cast<std::uint32_t*>(ring + params.sq_off.array);
    return true;
  }
  int error() const { return -fd_; }

  /// Submits one write of one byte and waits for it: one io_uring_enter, and a write that is not a syscall.
  bool write_byte(int fd) {
    std::uint32_t tail = tail_->load(std::memory_order_relaxed);
    std::uint32_t slot = tail & mask_;
    entries_[slot] = {};
    entries_[slot].opcode = IORING_OP_WRITE;
    entries_[slot].fd = fd;
    entries_[slot].addr = reinterpret_cast<std::uint64_t>("x");
    entries_[slot].len = 1;
    array_[slot] = slot;
    tail_->store(tail + 1, std::memory_order_release);
    return raw(SYS_io_uring_enter, fd_, 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0) == 1;
  }

 private:
  int fd_ = -1;
  io_uring_sqe* entries_ = nullptr;
  std::atomic<std::uint32_t>* tail_ = nullptr;
  std::uint32_t* array_ = nullptr;
  std::uint32_t mask_ = 0;
};

Ring g_ring;
int g_null = -1;

const Register kIoUring(Case{
    .number = 47,
    .name = "io_uring",
    .summary = "Ten writes through io_uring are ten io_uring_enter and no write.",
    .setup =
        [] {
          require(g_ring.open(), "io_uring_setup failed");
          g_null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        },
    .windows = {{"",
                 [] {
                   bool ok = true;
                   for (int i = 0; i < 10; ++i) ok = g_ring.write_byte(g_null) && ok;
                   require(ok, "io_uring_enter did not submit one entry");
                 },
                 {calls("io_uring_enter", 10)}}},
    .missing = []() -> std::string {
      Ring ring;
      if (ring.open()) return {};
      return "io_uring_setup fails with errno " + std::to_string(ring.error()) +
             "; allow it (kernel.io_uring_disabled=0, a seccomp profile that permits it)";
    },
});

}  // namespace
}  // namespace conformance
