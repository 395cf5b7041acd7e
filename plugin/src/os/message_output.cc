// SPDX-License-Identifier: MIT
#include "os/message_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "os/environment.h"
#include "os/files.h"
#include "os/program_files.h"

namespace syscost {
namespace {

/// The file that a descriptor is open on.
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

namespace {

/// False if there is no `bench run`, or none any more.
bool note(const char* word, const char* text) {
  using Note = bool(const char*, const char*);
  // The preloaded part knows the file; it takes the variable away before the tests begin.
  if (void* const preloaded = loaded_function("syscost_preload_note"); preloaded != nullptr) {
    return reinterpret_cast<Note*>(preloaded)(word, text);
  }
  // Nothing is preloaded into a guest (agent/guest), and its environment is its own.
  const char* const notes = variable("_SYSCOST_NOTES");
  const int file = notes != nullptr ? open(notes, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
  if (file < 0) return false;
  std::string line = word + (" " + std::to_string(getpid())) + " " + text;
  std::replace(line.begin(), line.end(), '\n', '\0');
  line += '\n';
  const bool is_written = write_whole(file, line) == 0;
  close(file);
  return is_written;
}

}  // namespace

void write_message(std::string_view text) {
  const int output = message_output();
  if (output < 0) {
    note("said", std::string(text).c_str());
    return;
  }
  while (!text.empty()) {
    const ssize_t written = write(output, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string message_file() {
  struct stat status {};
  const int output = message_output();
  if (output < 0 || status_of(output, &status) != 0) return "";
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

void write_start_message(std::string_view text) {
  const char* const of_bench = variable(kBenchOutput);
  if (of_bench == nullptr || message_file() == of_bench) return write_message(text);
  if (!note("started", std::string(text).c_str())) write_message(text);
}

void leave_programs_alone() {
  if (void* const stop = loaded_function("syscost_preload_stop"); stop != nullptr) reinterpret_cast<void (*)()>(stop)();
}

void measure_programs_again(bool can_be) {
  void* const go_on = loaded_function("syscost_preload_go_on");
  if (go_on != nullptr) reinterpret_cast<void (*)(bool)>(go_on)(!can_be);
}

void note_refusal(const char* why) {
  note("refused", why);
}

void note_verdict() {
  note("verdict", "");
}

}  // namespace syscost
