// SPDX-License-Identifier: MIT
#include "os/result.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "os/errno_names.h"

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

}  // namespace syscost
