// SPDX-License-Identifier: MIT
#include "os/errors.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "os/signals.h"

namespace syscost {
namespace {

// The usual cure of an errno, for any operation.
std::string_view usual_remedy(int error) {
  switch (error) {
    case EACCES:
      return "Check the permissions of it and of the folders above it, or run as a user who has them.";
    case EPERM:
      return "It needs a privilege that this process lacks; --syscost_doctor says which, and how to grant it.";
    case ENOSPC:
    case EDQUOT:
      return "Free space on that file system, raise the quota, or name a file on another one.";
    case EROFS:
      return "That file system is mounted read-only: name a file on another one.";
    case ENOENT:
    case ENOTDIR:
      return "Check the spelling; a folder must exist before something is put into it.";
    case EISDIR:
      return "That is a folder: name a file.";
    case EEXIST:
      return "Name another, or remove the one that is there.";
    case EMFILE:
      return "Raise the limit of open files of this process (ulimit -n), or close some.";
    case ENFILE:
      return "Raise the system's limit of open files (sysctl fs.file-max).";
    case ENOMEM:
      return "Free memory, or raise the limits of this process (ulimit -v, ulimit -l) or of its control group.";
    case EAGAIN:
      return "Try again; if it persists, raise the limits of this process (ulimit -a).";
    case EBUSY:
    case ETXTBSY:
      return "Another program is using it: wait until it is done, or end it.";
    case ENOSYS:
    case EOPNOTSUPP:
      return "This kernel or file system does not offer it, or a seccomp profile hides it: use a newer kernel or "
             "another place, or let the profile pass it.";
    case ENAMETOOLONG:
      return "Use a shorter name.";
    case ELOOP:
      return "Its symbolic links go in circles: name the target itself.";
    case EFBIG:
      return "The file would be larger than allowed (ulimit -f): start a new one.";
    case EIO:
    case ENODEV:
    case ENXIO:
      return "The device does not answer; the kernel's log (dmesg) says more.";
    default:
      return "Look up the error's meaning for this operation in its manual page.";
  }
}

// write(2) until done. A failure cannot be reported anywhere.
void write_to_stderr(std::string_view text) {
  const SignalHold size_limit(SIGXFSZ);
  while (!text.empty()) {
    ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

Failure errno_failure(std::string_view operation, std::string_view object, int error) {
  std::string reason("Cannot ");
  reason.append(operation);
  if (!object.empty()) reason.append(" ").append(object);
  reason.append(": ").append(std::generic_category().message(error));
  reason.append(" (").append(errno_name(error)).append(").");
  return Failure{std::move(reason), std::string(usual_remedy(error))};
}

void check_failed(const char* file, int line, const char* condition) {
  // No allocation and no stdio: memory may be what is broken.
  char digits[16];
  char* end = std::to_chars(digits, digits + sizeof(digits), line).ptr;
  write_to_stderr("syscost: internal error: ");
  write_to_stderr(file);
  write_to_stderr(":");
  write_to_stderr(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  write_to_stderr(": this check failed: ");
  write_to_stderr(condition);
  write_to_stderr(". This is a bug in syscost: please report it with this line.\n");
  std::abort();
}

namespace {

struct NamedErrno {
  int number;
  std::string_view name;
};

#define SYSCOST_ERRNO(name) NamedErrno{name, #name},
// Programs see these; numbers differ between architectures, so the compiler fills them in.
constexpr NamedErrno kErrnos[] = {
    // clang-format off
    SYSCOST_ERRNO(EPERM) SYSCOST_ERRNO(ENOENT) SYSCOST_ERRNO(ESRCH) SYSCOST_ERRNO(EINTR) SYSCOST_ERRNO(EIO)
    SYSCOST_ERRNO(ENXIO) SYSCOST_ERRNO(E2BIG) SYSCOST_ERRNO(ENOEXEC) SYSCOST_ERRNO(EBADF) SYSCOST_ERRNO(ECHILD)
    SYSCOST_ERRNO(EAGAIN) SYSCOST_ERRNO(ENOMEM) SYSCOST_ERRNO(EACCES) SYSCOST_ERRNO(EFAULT) SYSCOST_ERRNO(ENOTBLK)
    SYSCOST_ERRNO(EBUSY) SYSCOST_ERRNO(EEXIST) SYSCOST_ERRNO(EXDEV) SYSCOST_ERRNO(ENODEV) SYSCOST_ERRNO(ENOTDIR)
    SYSCOST_ERRNO(EISDIR) SYSCOST_ERRNO(EINVAL) SYSCOST_ERRNO(ENFILE) SYSCOST_ERRNO(EMFILE) SYSCOST_ERRNO(ENOTTY)
    SYSCOST_ERRNO(ETXTBSY) SYSCOST_ERRNO(EFBIG) SYSCOST_ERRNO(ENOSPC) SYSCOST_ERRNO(ESPIPE) SYSCOST_ERRNO(EROFS)
    SYSCOST_ERRNO(EMLINK) SYSCOST_ERRNO(EPIPE) SYSCOST_ERRNO(EDOM) SYSCOST_ERRNO(ERANGE) SYSCOST_ERRNO(EDEADLK)
    SYSCOST_ERRNO(ENAMETOOLONG) SYSCOST_ERRNO(ENOLCK) SYSCOST_ERRNO(ENOSYS) SYSCOST_ERRNO(ENOTEMPTY)
    SYSCOST_ERRNO(ELOOP) SYSCOST_ERRNO(ENOMSG) SYSCOST_ERRNO(EIDRM) SYSCOST_ERRNO(ECHRNG) SYSCOST_ERRNO(EL2NSYNC)
    SYSCOST_ERRNO(EL3HLT) SYSCOST_ERRNO(EL3RST) SYSCOST_ERRNO(ELNRNG) SYSCOST_ERRNO(EUNATCH) SYSCOST_ERRNO(ENOCSI)
    SYSCOST_ERRNO(EL2HLT) SYSCOST_ERRNO(EBADE) SYSCOST_ERRNO(EBADR) SYSCOST_ERRNO(EXFULL) SYSCOST_ERRNO(ENOANO)
    SYSCOST_ERRNO(EBADRQC) SYSCOST_ERRNO(EBADSLT) SYSCOST_ERRNO(EBFONT) SYSCOST_ERRNO(ENOSTR)
    SYSCOST_ERRNO(ENODATA) SYSCOST_ERRNO(ETIME) SYSCOST_ERRNO(ENOSR) SYSCOST_ERRNO(ENONET) SYSCOST_ERRNO(ENOPKG)
    SYSCOST_ERRNO(EREMOTE) SYSCOST_ERRNO(ENOLINK) SYSCOST_ERRNO(EADV) SYSCOST_ERRNO(ESRMNT) SYSCOST_ERRNO(ECOMM)
    SYSCOST_ERRNO(EPROTO) SYSCOST_ERRNO(EMULTIHOP) SYSCOST_ERRNO(EDOTDOT) SYSCOST_ERRNO(EBADMSG)
    SYSCOST_ERRNO(EOVERFLOW) SYSCOST_ERRNO(ENOTUNIQ) SYSCOST_ERRNO(EBADFD) SYSCOST_ERRNO(EREMCHG)
    SYSCOST_ERRNO(ELIBACC) SYSCOST_ERRNO(ELIBBAD) SYSCOST_ERRNO(ELIBSCN) SYSCOST_ERRNO(ELIBMAX)
    SYSCOST_ERRNO(ELIBEXEC) SYSCOST_ERRNO(EILSEQ) SYSCOST_ERRNO(ERESTART) SYSCOST_ERRNO(ESTRPIPE)
    SYSCOST_ERRNO(EUSERS) SYSCOST_ERRNO(ENOTSOCK) SYSCOST_ERRNO(EDESTADDRREQ) SYSCOST_ERRNO(EMSGSIZE)
    SYSCOST_ERRNO(EPROTOTYPE) SYSCOST_ERRNO(ENOPROTOOPT) SYSCOST_ERRNO(EPROTONOSUPPORT)
    SYSCOST_ERRNO(ESOCKTNOSUPPORT) SYSCOST_ERRNO(EOPNOTSUPP) SYSCOST_ERRNO(EPFNOSUPPORT)
    SYSCOST_ERRNO(EAFNOSUPPORT) SYSCOST_ERRNO(EADDRINUSE) SYSCOST_ERRNO(EADDRNOTAVAIL) SYSCOST_ERRNO(ENETDOWN)
    SYSCOST_ERRNO(ENETUNREACH) SYSCOST_ERRNO(ENETRESET) SYSCOST_ERRNO(ECONNABORTED) SYSCOST_ERRNO(ECONNRESET)
    SYSCOST_ERRNO(ENOBUFS) SYSCOST_ERRNO(EISCONN) SYSCOST_ERRNO(ENOTCONN) SYSCOST_ERRNO(ESHUTDOWN)
    SYSCOST_ERRNO(ETOOMANYREFS) SYSCOST_ERRNO(ETIMEDOUT) SYSCOST_ERRNO(ECONNREFUSED) SYSCOST_ERRNO(EHOSTDOWN)
    SYSCOST_ERRNO(EHOSTUNREACH) SYSCOST_ERRNO(EALREADY) SYSCOST_ERRNO(EINPROGRESS) SYSCOST_ERRNO(ESTALE)
    SYSCOST_ERRNO(EUCLEAN) SYSCOST_ERRNO(ENOTNAM) SYSCOST_ERRNO(ENAVAIL) SYSCOST_ERRNO(EISNAM)
    SYSCOST_ERRNO(EREMOTEIO) SYSCOST_ERRNO(EDQUOT) SYSCOST_ERRNO(ENOMEDIUM) SYSCOST_ERRNO(EMEDIUMTYPE)
    SYSCOST_ERRNO(ECANCELED) SYSCOST_ERRNO(ENOKEY) SYSCOST_ERRNO(EKEYEXPIRED) SYSCOST_ERRNO(EKEYREVOKED)
    SYSCOST_ERRNO(EKEYREJECTED) SYSCOST_ERRNO(EOWNERDEAD) SYSCOST_ERRNO(ENOTRECOVERABLE) SYSCOST_ERRNO(ERFKILL)
    SYSCOST_ERRNO(EHWPOISON)
    // clang-format on
};
#undef SYSCOST_ERRNO

// Second names of numbers above.
constexpr NamedErrno kAliases[] = {
    {EWOULDBLOCK, "EWOULDBLOCK"},
    {EDEADLOCK, "EDEADLOCK"},
    {ENOTSUP, "ENOTSUP"},
};

// The kernel's own, the same on all architectures (its include/linux/errno.h is no user-space header).
constexpr NamedErrno kKernelErrnos[] = {
    {512, "ERESTARTSYS"},
    {513, "ERESTARTNOINTR"},
    {514, "ERESTARTNOHAND"},
    {515, "ENOIOCTLCMD"},
    {516, "ERESTART_RESTARTBLOCK"},
    {517, "EPROBE_DEFER"},
    {518, "EOPENSTALE"},
    {519, "ENOPARAM"},
    {521, "EBADHANDLE"},
    {522, "ENOTSYNC"},
    {523, "EBADCOOKIE"},
    {524, "ENOTSUPP"},
    {525, "ETOOSMALL"},
    {526, "ESERVERFAULT"},
    {527, "EBADTYPE"},
    {528, "EJUKEBOX"},
    {529, "EIOCBQUEUED"},
    {530, "ERECALLCONFLICT"},
    {531, "ENOGRACE"},
};

constexpr std::string_view kNumberedErrno = "errno_";

}  // namespace

std::string errno_name(int number) {
  for (const NamedErrno& known : kErrnos) {
    if (known.number == number) return std::string(known.name);
  }
  for (const NamedErrno& known : kKernelErrnos) {
    if (known.number == number) return std::string(known.name);
  }
  return std::string(kNumberedErrno).append(std::to_string(number));
}

std::optional<int> errno_number(std::string_view name) {
  for (const NamedErrno& known : kErrnos) {
    if (known.name == name) return known.number;
  }
  for (const NamedErrno& known : kAliases) {
    if (known.name == name) return known.number;
  }
  for (const NamedErrno& known : kKernelErrnos) {
    if (known.name == name) return known.number;
  }
  if (!name.starts_with(kNumberedErrno)) return std::nullopt;
  name.remove_prefix(kNumberedErrno.size());
  int number = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

}  // namespace syscost
