// SPDX-License-Identifier: MIT
#include "agent/inject/tracee.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "agent/find/file_kind.h"

namespace syscost::inject {
namespace {

long trace(__ptrace_request request, pid_t process, std::uint64_t address, std::uint64_t data) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): as ptrace() wants it
  return ptrace(request, process, reinterpret_cast<void*>(address), reinterpret_cast<void*>(data));
}

/// 0, or the negative errno.
int checked(long result) {
  return result < 0 ? -errno : 0;
}

bool wait_for(pid_t process, int& status) {
  while (waitpid(process, &status, __WALL) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFSTOPPED(status);
}

}  // namespace

int Tracee::seize() const {
  return checked(trace(PTRACE_SEIZE, process_, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL));
}

bool Tracee::wait_for_program() {
  for (int status = 0; wait_for(process_, status);) {
    const bool is_exec = status >> 8 == (SIGTRAP | (PTRACE_EVENT_EXEC << 8));
    if (is_exec) {
      return trace(PTRACE_GETREGS, process_, 0, reinterpret_cast<std::uint64_t>(&start_)) == 0;
    }
    const int signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
    if (trace(PTRACE_CONT, process_, 0, static_cast<std::uint64_t>(signal)) < 0) return false;
  }
  return false;
}

int Tracee::begin_calls() {
  errno = 0;
  code_ = trace(PTRACE_PEEKTEXT, process_, start_.rip, 0);
  if (errno != 0) return -errno;
  constexpr std::uint64_t kSyscallThenTrap = 0xcc050f;
  const std::uint64_t code = (static_cast<std::uint64_t>(code_) & ~std::uint64_t{0xffffff}) | kSyscallThenTrap;
  if (const int error = checked(trace(PTRACE_POKETEXT, process_, start_.rip, code)); error != 0) return error;
  // The process is still in execve(), and would get the result of that in rax. After the trap it is in its program.
  constexpr std::uint64_t kTrap = 2;
  user_regs_struct registers = start_;
  registers.rip += kTrap;
  if (const int error = checked(trace(PTRACE_SETREGS, process_, 0, reinterpret_cast<std::uint64_t>(&registers)))) {
    return error;
  }
  return resume_until_trap();
}

int Tracee::end_calls() const {
  return checked(trace(PTRACE_POKETEXT, process_, start_.rip, static_cast<std::uint64_t>(code_)));
}

int Tracee::resume_until_trap() {
  for (;;) {
    if (const int error = checked(trace(PTRACE_CONT, process_, 0, 0)); error != 0) return error;
    int status = 0;
    if (!wait_for(process_, status)) return -ESRCH;
    if (status >> 16 != 0) continue;  // a stop that is no signal
    if (WSTOPSIG(status) == SIGTRAP) return 0;
    if (pending_ != 0) earlier_ |= std::uint64_t{1} << static_cast<unsigned>(pending_ - 1);
    pending_ = WSTOPSIG(status);
  }
}

long Tracee::call(long number, std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d, std::uint64_t e,
                  std::uint64_t f) {
  user_regs_struct registers = start_;
  registers.orig_rax = ~std::uint64_t{0};  // no call to restart
  registers.rax = static_cast<std::uint64_t>(number);
  registers.rdi = a;
  registers.rsi = b;
  registers.rdx = c;
  registers.r10 = d;
  registers.r8 = e;
  registers.r9 = f;
  if (const int error = checked(trace(PTRACE_SETREGS, process_, 0, reinterpret_cast<std::uint64_t>(&registers)))) {
    return error;
  }
  if (const int error = resume_until_trap(); error != 0) return error;
  if (const int error = checked(trace(PTRACE_GETREGS, process_, 0, reinterpret_cast<std::uint64_t>(&registers)))) {
    return error;
  }
  return static_cast<long>(registers.rax);
}

int Tracee::write(std::uint64_t at, const void* bytes, std::size_t size) const {
  const iovec local{const_cast<void*>(bytes), size};
  const iovec remote{reinterpret_cast<void*>(at), size};  // NOLINT(performance-no-int-to-ptr): in the other process
  const ssize_t written = process_vm_writev(process_, &local, 1, &remote, 1, 0);
  if (written < 0) return -errno;
  return static_cast<std::size_t>(written) == size ? 0 : -EFAULT;
}

int Tracee::read(std::uint64_t at, void* bytes, std::size_t size) const {
  const iovec local{bytes, size};
  const iovec remote{reinterpret_cast<void*>(at), size};  // NOLINT(performance-no-int-to-ptr): in the other process
  const ssize_t got = process_vm_readv(process_, &local, 1, &remote, 1, 0);
  if (got < 0) return -errno;
  return static_cast<std::size_t>(got) == size ? 0 : -EFAULT;
}

int Tracee::let_go(std::uint64_t entry, std::uint64_t stack) {
  user_regs_struct registers = start_;
  registers.orig_rax = ~std::uint64_t{0};
  registers.rax = 0;
  registers.rip = entry;
  registers.rsp = stack;
  if (const int error = checked(trace(PTRACE_SETREGS, process_, 0, reinterpret_cast<std::uint64_t>(&registers)))) {
    return error;
  }
  for (int signal = 1; earlier_ != 0; ++signal, earlier_ >>= 1) {
    if ((earlier_ & 1) != 0) kill(process_, signal);
  }
  return checked(trace(PTRACE_DETACH, process_, 0, static_cast<std::uint64_t>(pending_)));
}

namespace {

using agent::FileView;

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kStackBytes = std::uint64_t{1} << 20;

std::uint64_t down(std::uint64_t address) {
  return address & ~(kPage - 1);
}
std::uint64_t up(std::uint64_t address) {
  return down(address + kPage - 1);
}

std::string text_of(long error) {
  return std::strerror(static_cast<int>(-error));
}

bool is_error(long result) {
  return result < 0 && result > -4096;
}

/// The loader as it was mapped.
struct Loader {
  std::uint64_t base = 0;
  Elf64_Ehdr header{};
};

int protection(const Elf64_Phdr& segment) {
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) | ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

/// Maps one segment of the file `fd` of the process. The negative errno where it fails.
long map_segment(Tracee& tracee, std::uint64_t base, const Elf64_Phdr& segment, long fd) {
  const std::uint64_t begin = down(segment.p_vaddr);
  const std::uint64_t end_of_file = segment.p_vaddr + segment.p_filesz;
  const std::uint64_t end = up(segment.p_vaddr + segment.p_memsz);
  const auto rights = static_cast<std::uint64_t>(protection(segment));
  long result = tracee.call(SYS_mmap, base + begin, end_of_file - begin, rights, MAP_PRIVATE | MAP_FIXED,
                            static_cast<std::uint64_t>(fd), down(segment.p_offset));
  if (is_error(result) || segment.p_memsz == segment.p_filesz) return result;
  if (up(end_of_file) < end) {
    result = tracee.call(SYS_mmap, base + up(end_of_file), end - up(end_of_file), rights,
                         MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, ~std::uint64_t{0}, 0);
    if (is_error(result)) return result;
  }
  const std::string zeros(up(end_of_file) - end_of_file, '\0');
  return zeros.empty() ? 0 : tracee.write(base + end_of_file, zeros.data(), zeros.size());
}

/// `scratch`: where the path may lie in the process.
long map_loader(Tracee& tracee, const std::string& path, std::uint64_t scratch, Loader& loader) {
  const FileView file(path.c_str());
  if (!file.has(0, 1, sizeof loader.header)) return -ENOEXEC;
  std::memcpy(&loader.header, file.bytes(), sizeof loader.header);
  std::uint64_t bytes = 0;
  file.for_each_segment([&](const Elf64_Phdr& segment) {
    if (segment.p_type == PT_LOAD && segment.p_vaddr + segment.p_memsz > bytes)
      bytes = segment.p_vaddr + segment.p_memsz;
  });
  if (loader.header.e_type != ET_DYN || bytes == 0) return -ENOEXEC;
  if (const int error = tracee.write(scratch, path.c_str(), path.size() + 1); error != 0) return error;
  const long fd = tracee.call(SYS_openat, static_cast<std::uint64_t>(AT_FDCWD), scratch, O_RDONLY | O_CLOEXEC);
  if (is_error(fd)) return fd;
  long result = tracee.call(SYS_mmap, 0, up(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, ~std::uint64_t{0}, 0);
  if (!is_error(result)) {
    loader.base = static_cast<std::uint64_t>(result);
    file.for_each_segment([&](const Elf64_Phdr& segment) {
      if (segment.p_type == PT_LOAD && !is_error(result)) result = map_segment(tracee, loader.base, segment, fd);
    });
  }
  tracee.call(SYS_close, static_cast<std::uint64_t>(fd));
  return is_error(result) ? result : 0;
}

// ---- the stack ------------------------------------------------------------------------------------------------------

/// The kernel's facts about the program and the machine, as if the loader had been executed: then it loads the program
/// that its first argument names.
///
/// Read from its stack, where it follows the arguments and the environment. /proc may be that of another PID namespace,
/// in which this number is another process's.
std::vector<std::uint64_t> auxiliary_vector(const Tracee& tracee, const Loader& loader) {
  std::uint64_t at = tracee.stack();
  std::uint64_t word = 0;
  const auto next = [&] { return tracee.read(std::exchange(at, at + sizeof word), &word, sizeof word) == 0; };
  constexpr int kListsBefore = 2;
  next();  // the number of arguments
  for (int lists = 0; lists < kListsBefore && next();) {
    if (word == 0) ++lists;
  }
  std::vector<std::uint64_t> words;
  while (next()) {
    const std::uint64_t type = word;
    if (!next()) break;
    words.insert(words.end(), {type, word});
    if (type == AT_NULL) break;
  }
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] == AT_PHDR) words[i + 1] = loader.base + loader.header.e_phoff;
    if (words[i] == AT_PHNUM) words[i + 1] = loader.header.e_phnum;
    if (words[i] == AT_ENTRY) words[i + 1] = loader.base + loader.header.e_entry;
    if (words[i] == AT_BASE) words[i + 1] = 0;
  }
  return words;
}

std::string hex(std::uint64_t number) {
  char text[2 * sizeof number + 1];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(number));
  return text;
}

/// The stack that ends at `top`: how it begins, and where.
struct Stack {
  std::string bytes;
  std::uint64_t begin = 0;
};

Stack make_stack(std::uint64_t top, const std::vector<std::string>& arguments,
                 const std::vector<std::string>& environment, const std::vector<std::uint64_t>& auxiliary) {
  std::string texts;
  std::vector<std::uint64_t> words = {arguments.size()};
  std::vector<std::size_t> pointers;  // which of the words are offsets in the texts
  for (const auto* list : {&arguments, &environment}) {
    for (const std::string& text : *list) {
      pointers.push_back(words.size());
      words.push_back(texts.size());
      texts += text + '\0';
    }
    words.push_back(0);
  }
  words.insert(words.end(), auxiliary.begin(), auxiliary.end());
  constexpr std::uint64_t kAligned = ~std::uint64_t{15};
  const std::uint64_t texts_at = (top - texts.size()) & kAligned;
  Stack stack;
  stack.begin = (texts_at - words.size() * sizeof words[0]) & kAligned;
  for (const std::size_t index : pointers) words[index] += texts_at;
  stack.bytes.assign(top - stack.begin, '\0');
  std::memcpy(stack.bytes.data(), words.data(), words.size() * sizeof words[0]);
  std::memcpy(stack.bytes.data() + (texts_at - stack.begin), texts.data(), texts.size());
  return stack;
}

/// Empty where it worked; `entry` and `stack` are where the guest begins.
std::string place(Tracee& tracee, const Guest& guest, std::uint64_t& entry, std::uint64_t& stack_begin) {
  const FileView file(guest.path.c_str());
  const char* const loader_path = file.loader();
  if (loader_path == nullptr) return guest.path + " cannot be read";
  const std::vector<std::string> arguments = {loader_path,         guest.path,
                                              hex(tracee.stack()), hex(tracee.entry()),
                                              hex(guest.signals),  hex(static_cast<std::uint64_t>(getpid()))};
  std::uint64_t bytes = kStackBytes;
  for (const std::string& one : guest.environment) bytes += one.size() + 1 + sizeof(char*);
  bytes = up(bytes);
  const long area = tracee.call(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                                ~std::uint64_t{0}, 0);
  if (is_error(area)) return "no memory can be added to it: " + text_of(area);
  const auto bottom = static_cast<std::uint64_t>(area);
  Loader loader;
  if (const long error = map_loader(tracee, loader_path, bottom, loader); error != 0) {
    return std::string(loader_path) + " cannot be loaded into it: " + text_of(error);
  }
  const Stack stack = make_stack(bottom + bytes, arguments, guest.environment, auxiliary_vector(tracee, loader));
  if (const int error = tracee.write(stack.begin, stack.bytes.data(), stack.bytes.size()); error != 0) {
    return "its memory cannot be written: " + text_of(error);
  }
  entry = loader.base + loader.header.e_entry;
  stack_begin = stack.begin;
  return {};
}

}  // namespace

std::string start_guest(Tracee& tracee, const Guest& guest) {
  std::uint64_t entry = tracee.entry();
  std::uint64_t stack = tracee.stack();
  if (const int error = tracee.begin_calls(); error != 0) return "its code cannot be changed: " + text_of(error);
  std::string why = place(tracee, guest, entry, stack);
  if (!why.empty()) {
    entry = tracee.entry();
    stack = tracee.stack();
    // As the guest does before the program starts.
    const std::uint64_t scratch = tracee.stack() - 256;
    if (tracee.write(scratch, &guest.signals, sizeof guest.signals) == 0) {
      tracee.call(SYS_rt_sigprocmask, SIG_SETMASK, scratch, 0, sizeof guest.signals);
    }
  }
  if (const int error = tracee.end_calls(); error != 0) return "its code cannot be put back: " + text_of(error);
  tracee.let_go(entry, stack);
  return why;
}

}  // namespace syscost::inject
