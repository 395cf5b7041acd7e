// SPDX-License-Identifier: MIT
//
// The definitions of fakes.h. They are declared under names of their own, because the headers say of many of them how
// they are to be called; in the object file they have libc's.
#include "fakes.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <type_traits>

namespace fakes {
namespace {

struct Fake {
  const char* name;
  unsigned calls;
};

bool g_is_on = false;
const char* g_chosen = nullptr;
bool g_is_always = false;

bool begins_with(const char* text, const char* beginning) {
  while (*beginning != '\0' && *beginning == *text) ++beginning, ++text;
  return *beginning == '\0';
}

bool is_same(const char* one, const char* other) {
  while (*one != '\0' && *one != ':' && *one == *other) ++one, ++other;
  return (*one == '\0' || *one == ':') && *other == '\0';
}

void choose() {
  g_chosen = "";
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (!begins_with(*entry, kVariable)) continue;
    g_chosen = *entry + sizeof("FAKE=") - 1;
    for (const char* at = g_chosen; *at != '\0'; ++at) g_is_always = g_is_always || *at == ':';
  }
}

bool answers(Fake& fake) {
  __atomic_add_fetch(&fake.calls, 1, __ATOMIC_RELAXED);
  if (g_chosen == nullptr && environ != nullptr) choose();
  return g_chosen != nullptr && (g_is_on || g_is_always) && is_same(g_chosen, fake.name);
}

long fail(int error) {
  errno = error;
  return -1;
}

long result(long returned) {
  return returned < 0 && returned > -4096 ? fail(static_cast<int>(-returned)) : returned;
}

/// libc's own. dlvsym() is none of the fakes.
template <class Function>
Function* libc(const char* name) {
  for (const char* version :
       {"GLIBC_2.2.5", "GLIBC_2.34", "GLIBC_2.3.4", "GLIBC_2.32", "GLIBC_2.33", "GLIBC_2.17", "GLIBC_2.16"}) {
    if (void* const found = dlvsym(RTLD_NEXT, name, version)) return reinterpret_cast<Function*>(found);
  }
  return nullptr;
}

template <class To, class From>
To as(From from) {
  if constexpr (std::is_null_pointer_v<From>)
    return nullptr;
  else if constexpr (std::is_pointer_v<From> != std::is_pointer_v<To>)
    return reinterpret_cast<To>(from);
  else
    return static_cast<To>(from);
}

template <class... Values>
long call(long number, Values... values) {
  return result(raw(number, as<long>(values)...));
}

}  // namespace

void turn_on(bool is_on) {
  g_is_on = is_on;
}

}  // namespace fakes

using fakes::answers;
using fakes::call;
using fakes::fail;
using fakes::libc;

// FAKE(returned type, name, parameters, what it answers while it is on, what libc does).
#define FAKE(type, name, parameters, answer, true_result)                                             \
  static fakes::Fake g_##name __attribute__((section("syscost_fakes"), used)) = {#name, 0};           \
  extern "C" __attribute__((visibility("default"), used)) type fake_##name parameters __asm__(#name); \
  type fake_##name parameters {                                                                       \
    if (answers(g_##name)) return fakes::as<type>(answer);                                            \
    return fakes::as<type>(true_result);                                                              \
  }
// The same for a function that is more than one system call.
#define FAKE_OF_LIBC(type, name, parameters, arguments, answer) \
  FAKE(type, name, parameters, answer, libc<type parameters>(#name) arguments)

using Any = long;
using Text = const char*;

// Files.
FAKE(Any, write, (int fd, const void* from, std::size_t size),
     fd == 1 || fd == 2 ? call(SYS_write, fd, from, size) : size, call(SYS_write, fd, from, size))
FAKE(Any, read, (int fd, void* into, std::size_t size), fail(EIO), call(SYS_read, fd, into, size))
FAKE(Any, pread, (int fd, void* into, std::size_t size, long at), 0, call(SYS_pread64, fd, into, size, at))
FAKE(Any, pread64, (int fd, void* into, std::size_t size, long at), 0, call(SYS_pread64, fd, into, size, at))
FAKE(Any, pwrite, (int fd, const void* from, std::size_t size, long at), size, call(SYS_pwrite64, fd, from, size, at))
FAKE(Any, lseek, (int fd, long at, int whence), fail(ESPIPE), call(SYS_lseek, fd, at, whence))
FAKE(int, open, (Text path, int flags, int mode), fail(ENOENT), call(SYS_openat, AT_FDCWD, path, flags, mode))
FAKE(int, open64, (Text path, int flags, int mode), fail(ENOENT), call(SYS_openat, AT_FDCWD, path, flags, mode))
FAKE(int, openat, (int folder, Text path, int flags, int mode), fail(ENOENT),
     call(SYS_openat, folder, path, flags, mode))
FAKE(int, close, (int fd), 0, call(SYS_close, fd))
FAKE(int, fstat, (int fd, void* into), fail(EBADF), call(SYS_fstat, fd, into))
FAKE(int, fstat64, (int fd, void* into), fail(EBADF), call(SYS_fstat, fd, into))
FAKE(int, stat, (Text path, void* into), fail(ENOENT), call(SYS_stat, path, into))
FAKE(int, lstat, (Text path, void* into), fail(ENOENT), call(SYS_lstat, path, into))
FAKE(int, fcntl, (int fd, int what, long argument), fail(EINVAL), call(SYS_fcntl, fd, what, argument))
FAKE(int, fcntl64, (int fd, int what, long argument), fail(EINVAL), call(SYS_fcntl, fd, what, argument))
FAKE(int, flock, (int fd, int how), fail(EWOULDBLOCK), call(SYS_flock, fd, how))
FAKE(int, ftruncate, (int fd, long size), 0, call(SYS_ftruncate, fd, size))
FAKE(int, access, (Text path, int how), fail(EACCES), call(SYS_access, path, how))
FAKE(int, mkdir, (Text path, unsigned mode), fail(EACCES), call(SYS_mkdir, path, mode))
FAKE(int, unlink, (Text path), 0, call(SYS_unlink, path))
FAKE(int, rename, (Text from, Text to), 0, call(SYS_rename, from, to))
FAKE(Any, readlink, (Text path, char* into, std::size_t size), fail(EACCES), call(SYS_readlink, path, into, size))
FAKE(int, dup2, (int fd, int as), fail(EMFILE), call(SYS_dup2, fd, as))
FAKE(int, pipe2, (int* ends, int flags), fail(EMFILE), call(SYS_pipe2, ends, flags))
FAKE(int, eventfd, (unsigned start, int flags), fail(EMFILE), call(SYS_eventfd2, start, flags))
FAKE(int, memfd_create, (Text name, unsigned flags), fail(EMFILE), call(SYS_memfd_create, name, flags))
FAKE(int, isatty, (int fd), 1, call(SYS_ioctl, fd, 0x5401, 0) == 0 ? 1 : 0)
FAKE(int, ioctl, (int fd, unsigned long request, void* argument), fail(ENOTTY), call(SYS_ioctl, fd, request, argument))
FAKE(int, poll, (void* files, unsigned long count, int timeout), 0, call(SYS_poll, files, count, timeout))
FAKE(int, socket, (int domain, int type, int protocol), fail(EACCES), call(SYS_socket, domain, type, protocol))
FAKE(int, connect, (int fd, const void* address, unsigned size), fail(ECONNREFUSED),
     call(SYS_connect, fd, address, size))
FAKE(Any, sendmsg, (int fd, const void* message, int flags), fail(ENOTCONN), call(SYS_sendmsg, fd, message, flags))
FAKE(Any, recvmsg, (int fd, void* message, int flags), fail(ENOTCONN), call(SYS_recvmsg, fd, message, flags))
FAKE_OF_LIBC(void*, opendir, (Text path), (path), (errno = EACCES, nullptr))
FAKE_OF_LIBC(void*, readdir, (void* folder), (folder), nullptr)
FAKE_OF_LIBC(void*, fopen, (Text path, Text mode), (path, mode), (errno = EACCES, nullptr))
FAKE_OF_LIBC(char*, realpath, (Text path, char* into), (path, into), nullptr)

// Clocks.
static int g_year = 0;
static long jump(timespec* into) {
  // To 1970, to 2096, and back.
  into->tv_sec = ++g_year % 2 == 0 ? 5 : 4'000'000'000;
  into->tv_nsec = 0;
  return 0;
}
FAKE(int, clock_gettime, (int clock, timespec* into), jump(into), call(SYS_clock_gettime, clock, into))
FAKE(int, gettimeofday, (timeval * into, void* zone), ((void)zone, into->tv_sec = 5, into->tv_usec = 0),
     call(SYS_gettimeofday, into, zone))
FAKE(Any, time, (long* into), ((void)into, 5), call(SYS_time, into))
FAKE(int, nanosleep, (const void* time, void* rest), 0, call(SYS_nanosleep, time, rest))
FAKE(int, clock_nanosleep, (int clock, int flags, const void* time, void* rest), 0,
     -fakes::raw(SYS_clock_nanosleep, clock, flags, fakes::as<long>(time), fakes::as<long>(rest)))

// Ids, and what is known of the process and the machine.
FAKE(int, getpid, (), 4711, call(SYS_getpid))
FAKE(int, getppid, (), 1, call(SYS_getppid))
FAKE(int, gettid, (), 4711, call(SYS_gettid))
FAKE(unsigned, getuid, (), 4711, call(SYS_getuid))
FAKE(unsigned, geteuid, (), 4711, call(SYS_geteuid))
FAKE(unsigned, getgid, (), 4711, call(SYS_getgid))
FAKE(unsigned, getegid, (), 4711, call(SYS_getegid))
FAKE(int, getsid, (int process), 4711, call(SYS_getsid, process))
FAKE(int, getrusage, (int who, rusage* into), (__builtin_memset(into, 0x7f, sizeof *into), 0),
     call(SYS_getrusage, who, into))
FAKE(int, uname, (utsname * into), (__builtin_memset(into, 0, sizeof *into), 0), call(SYS_uname, into))
FAKE_OF_LIBC(int, gethostname, (char* into, std::size_t size), (into, size), (into[0] = '\0', 0))
FAKE_OF_LIBC(Any, sysconf, (int what), (what), 1)
FAKE_OF_LIBC(unsigned long, getauxval, (unsigned long what), (what), 0)
FAKE_OF_LIBC(char*, getenv, (Text name), (name), nullptr)
static int g_error = 0;
FAKE_OF_LIBC(int*, __errno_location, (), (), &g_error)
FAKE_OF_LIBC(char*, secure_getenv, (Text name), (name), nullptr)
FAKE(Any, getrandom, (void* into, std::size_t size, unsigned flags), fail(ENOSYS),
     call(SYS_getrandom, into, size, flags))
FAKE(int, sched_getaffinity, (int thread, std::size_t size, void* into), fail(EINVAL),
     call(SYS_sched_getaffinity, thread, size, into) < 0 ? -1 : 0)

// Processes and threads.
FAKE_OF_LIBC(int, fork, (), (), fail(EAGAIN))
FAKE(int, kill, (int process, int signal), 0, call(SYS_kill, process, signal))
FAKE(int, waitpid, (int process, int* status, int flags), fail(ECHILD), call(SYS_wait4, process, status, flags, 0))
FAKE(int, waitid, (int kind, int which, void* into, int flags), fail(ECHILD),
     call(SYS_waitid, kind, which, into, flags, 0))
FAKE(int, prctl, (int what, long a, long b, long c, long d), fail(EINVAL), call(SYS_prctl, what, a, b, c, d))
FAKE(int, setsid, (), fail(EPERM), call(SYS_setsid))
FAKE(Any, process_vm_readv,
     (int process, const void* into, unsigned long count, const void* from, unsigned long from_count,
      unsigned long flags),
     fail(ESRCH), call(SYS_process_vm_readv, process, into, count, from, from_count, flags))
FAKE_OF_LIBC(int, pthread_create, (void* thread, const void* with, void* (*run)(void*), void* argument),
             (thread, with, run, argument), EAGAIN)
FAKE_OF_LIBC(int, pthread_mutex_lock, (void* mutex), (mutex), 0)
FAKE_OF_LIBC(int, pthread_once, (int* once, void (*run)()), (once, run), 0)
FAKE_OF_LIBC(int, pthread_sigmask, (int how, const void* set, void* old), (how, set, old), EINVAL)
FAKE(Any, syscall, (long number, long a, long b, long c, long d, long e, long f), fail(ENOSYS),
     call(number, a, b, c, d, e, f))

// Signals.
FAKE_OF_LIBC(int, sigaction, (int signal, const void* action, void* old), (signal, action, old), fail(EINVAL))
FAKE_OF_LIBC(int, sigprocmask, (int how, const void* set, void* old), (how, set, old), fail(EINVAL))
FAKE_OF_LIBC(void*, signal, (int number, void* handler), (number, handler), (errno = EINVAL, fakes::as<void*>(-1L)))
FAKE(int, setitimer, (int which, const void* value, void* old), fail(EINVAL), call(SYS_setitimer, which, value, old))

// Memory.
FAKE(void*, mmap, (void* at, std::size_t size, int rights, int flags, int fd, long offset), fail(ENOMEM),
     call(SYS_mmap, at, size, rights, flags, fd, offset))
FAKE(int, munmap, (void* at, std::size_t size), 0, call(SYS_munmap, at, size))
FAKE(int, mprotect, (void* at, std::size_t size, int rights), fail(ENOMEM), call(SYS_mprotect, at, size, rights))
FAKE(int, madvise, (void* at, std::size_t size, int advice), fail(EINVAL), call(SYS_madvise, at, size, advice))

// The loader.
FAKE_OF_LIBC(void*, dlopen, (Text path, int flags), (path, flags), nullptr)
FAKE_OF_LIBC(void*, dlsym, (void* handle, Text name), (handle, name), nullptr)
FAKE_OF_LIBC(int, dladdr, (const void* address, void* into), (address, into), 0)
FAKE_OF_LIBC(int, dl_iterate_phdr, (int (*visit)(void*, std::size_t, void*), void* data), (visit, data), 0)

// Text, as programs for small machines define it themselves or link a stub of it.
using Rest = std::va_list;
// Calls libc's `name`, which takes the arguments after `last` as a list.
#define WITH_REST(name, last, parameters, ...)                          \
  __extension__({                                                       \
    Rest rest;                                                          \
    va_start(rest, last);                                               \
    const int returned = libc<int parameters>(name)(__VA_ARGS__, rest); \
    va_end(rest);                                                       \
    returned;                                                           \
  })
FAKE(int, snprintf, (char* into, std::size_t size, Text format, ...), -1,
     WITH_REST("vsnprintf", format, (char*, std::size_t, Text, Rest), into, size, format))
FAKE_OF_LIBC(int, vsnprintf, (char* into, std::size_t size, Text format, Rest rest), (into, size, format, rest), -1)
FAKE(int, sscanf, (Text text, Text format, ...), 0, WITH_REST("vsscanf", format, (Text, Text, Rest), text, format))
FAKE(int, __isoc99_sscanf, (Text text, Text format, ...), 0,
     WITH_REST("vsscanf", format, (Text, Text, Rest), text, format))
FAKE_OF_LIBC(Any, strtol, (Text text, char** end, int base), (text, end, base), 0)
FAKE_OF_LIBC(Any, strtoll, (Text text, char** end, int base), (text, end, base), 0)
FAKE_OF_LIBC(Any, strtoul, (Text text, char** end, int base), (text, end, base), 0)
FAKE_OF_LIBC(Any, strtoull, (Text text, char** end, int base), (text, end, base), 0)
FAKE_OF_LIBC(double, strtod, (Text text, char** end), (text, end), 0)
FAKE_OF_LIBC(int, strcasecmp, (Text one, Text other), (one, other), 1)
FAKE_OF_LIBC(char*, strchr, (Text text, int wanted), (text, wanted), nullptr)
FAKE_OF_LIBC(char*, strrchr, (Text text, int wanted), (text, wanted), nullptr)
FAKE_OF_LIBC(char*, strstr, (Text text, Text wanted), (text, wanted), nullptr)
FAKE_OF_LIBC(std::size_t, strcspn, (Text text, Text none), (text, none), 0)
FAKE_OF_LIBC(std::size_t, strnlen, (Text text, std::size_t most), (text, most), 0)
FAKE_OF_LIBC(char*, strncpy, (char* into, Text text, std::size_t size), (into, text, size), into)
FAKE_OF_LIBC(char*, stpcpy, (char* into, Text text), (into, text), into)
FAKE_OF_LIBC(char*, strdup, (Text text), (text), nullptr)
FAKE_OF_LIBC(void*, memmem, (const void* in, std::size_t size, const void* wanted, std::size_t its_size),
             (in, size, wanted, its_size), nullptr)
FAKE_OF_LIBC(int, isalnum, (int c), (c), 0)
FAKE_OF_LIBC(int, isprint, (int c), (c), 0)
FAKE_OF_LIBC(int, isxdigit, (int c), (c), 0)
FAKE_OF_LIBC(void*, aligned_alloc, (std::size_t alignment, std::size_t size), (alignment, size), nullptr)

// Mathematics.
FAKE_OF_LIBC(double, exp2, (double of), (of), 0)
FAKE_OF_LIBC(double, ldexp, (double of, int exponent), (of, exponent), 0)
FAKE_OF_LIBC(double, log2, (double of), (of), 0)
FAKE_OF_LIBC(double, pow, (double of, double exponent), (of, exponent), 0)
FAKE_OF_LIBC(double, round, (double of), (of), 0)
FAKE_OF_LIBC(Any, lround, (double of), (of), 0)
FAKE_OF_LIBC(Any, llround, (double of), (of), 0)

// Output.
FAKE_OF_LIBC(int, fflush, (void* file), (file), 0)
FAKE_OF_LIBC(int, puts, (Text text), (text), 0)

extern "C" fakes::Fake __start_syscost_fakes[];  // NOLINT: the linker's names
extern "C" fakes::Fake __stop_syscost_fakes[];   // NOLINT

void fakes::print_calls() {
  for (Fake* fake = __start_syscost_fakes; fake != __stop_syscost_fakes; ++fake) {
    if (fake->calls != 0) std::fprintf(stdout, "called %s: %u\n", fake->name, fake->calls);
  }
}
