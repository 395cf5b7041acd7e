// SPDX-License-Identifier: MIT
#include "render/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "csv/printable.h"

namespace syscost::bench::render {
namespace {

/// True if the file is empty, or begins with `expected`.
bool may_be_replaced(int descriptor, std::string_view expected) {
  std::string beginning(expected.size(), '\0');
  const ssize_t count = pread(descriptor, beginning.data(), beginning.size(), 0);
  return count == 0 ||
         (count > 0 && std::string_view(beginning).substr(0, static_cast<std::size_t>(count)) == expected);
}

mode_t usual_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666U & ~mask;
}

}  // namespace

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

std::string OutputFile::fault_of(int error) const {
  return fmt::format("{} cannot be written: {}", csv::printable(path_), std::generic_category().message(error));
}

std::string OutputFile::open() {
  mode_t mode = usual_mode();
  struct stat there {};
  if (::lstat(path_.c_str(), &there) == 0) {
    if (S_ISCHR(there.st_mode)) {  // /dev/null: nothing to replace
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
      return descriptor_ < 0 ? fault_of(errno) : std::string();
    }
    const int old = S_ISREG(there.st_mode) ? ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    const bool is_ours = old >= 0 && may_be_replaced(old, kind_.beginning);
    if (old >= 0) ::close(old);
    if (!is_ours) {
      return fmt::format("{} is there already, and is no {}: it is left as it is. Give another name",
                         csv::printable(path_), kind_.what);
    }
    mode = there.st_mode & 0777U;
  } else if (errno != ENOENT) {
    return fault_of(errno);
  }
  std::string beside = path_ + ".XXXXXX";
  descriptor_ = ::mkostemp(beside.data(), O_CLOEXEC);
  if (descriptor_ < 0) return fault_of(errno);
  beside_ = std::move(beside);
  if (::fchmod(descriptor_, mode) != 0) return fault_of(errno);
  return {};
}

std::string OutputFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fault_of(errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

std::string OutputFile::finish() {
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (closed != 0) return fault_of(errno);
  if (beside_.empty()) return {};
  if (std::rename(beside_.c_str(), path_.c_str()) != 0) return fault_of(errno);
  beside_.clear();
  return {};
}

}  // namespace syscost::bench::render
