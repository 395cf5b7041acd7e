// SPDX-License-Identifier: MIT
#include "trace/artifact_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace syscost::bench::trace {
namespace {

/// Closes what it holds.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

std::optional<std::vector<char>> artifact_bytes(const std::string& path, csv::Problems& problems) {
  const auto fail = [&](int error) {
    problems.add(path, 0, "cannot be read: " + std::generic_category().message(error));
    return std::nullopt;
  };
  // O_NONBLOCK: to open a pipe would wait for its writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0) return fail(errno);
  if (S_ISDIR(status.st_mode)) return fail(EISDIR);
  if (!S_ISREG(status.st_mode)) {
    problems.add(path, 0, "is a pipe, a socket or a device, not a file; left out, because reading it may never end");
    return std::nullopt;
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kMostArtifactBytes) {
    problems.add(
        path, 0,
        fmt::format(
            "has {} MiB; bench reads at most {} MiB of such a file, so it is left out. Measure again with fewer events",
            size >> 20U, kMostArtifactBytes >> 20U));
    return std::nullopt;
  }
  std::vector<char> bytes(size);
  std::size_t filled = 0;
  while (filled != bytes.size()) {
    const ssize_t got = ::read(file.number(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace syscost::bench::trace
