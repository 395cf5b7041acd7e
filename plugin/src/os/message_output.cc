// SPDX-License-Identifier: MIT
#include "os/message_output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "os/file_status.h"

namespace syscost {
namespace {

/// What a descriptor is open on.
class Place {
 public:
  explicit Place(int descriptor) : is_open_(status_of(descriptor, &status_) == 0) {}

  bool is_open() const { return is_open_; }
  bool is_same(const Place& other) const {
    return is_open_ && other.is_open_ && status_.st_dev == other.status_.st_dev &&
           status_.st_ino == other.status_.st_ino;
  }

 private:
  struct stat status_ {};
  bool is_open_;
};

// Before what may have something to say in a constructor.
[[gnu::init_priority(101)]] Place g_error_at_start(STDERR_FILENO);
[[gnu::init_priority(101)]] Place g_output_at_start(STDOUT_FILENO);

}  // namespace

int message_output() {
  if (!g_error_at_start.is_open()) return -1;
  if (g_error_at_start.is_same(Place(STDERR_FILENO))) return STDERR_FILENO;
  return g_output_at_start.is_same(Place(STDOUT_FILENO)) ? STDOUT_FILENO : -1;
}

void note_message_output() {
  g_error_at_start = Place(STDERR_FILENO);
  g_output_at_start = Place(STDOUT_FILENO);
}

void write_message(std::string_view text) {
  const int output = message_output();
  while (output >= 0 && !text.empty()) {
    const ssize_t written = write(output, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace syscost
