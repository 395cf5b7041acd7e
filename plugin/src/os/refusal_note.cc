// SPDX-License-Identifier: MIT
#include "os/refusal_note.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "os/environment.h"
#include "os/loaded_function.h"

namespace syscost {
namespace {

void note(const char* word, const char* text) {
  using Note = void(const char*, const char*);
  // The preloaded part knows the file; it takes the variable away before the tests begin.
  if (void* const preloaded = loaded_function("syscost_preload_note"); preloaded != nullptr) {
    reinterpret_cast<Note*>(preloaded)(word, text);
    return;
  }
  // Nothing is preloaded into a guest (agent/guest), and its environment is its own.
  const char* const notes = variable("_SYSCOST_NOTES");
  const int file = notes != nullptr ? open(notes, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
  if (file < 0) return;
  std::string line = word + (" " + std::to_string(getpid())) + " " + text;
  std::replace(line.begin(), line.end(), '\n', '\0');
  line += '\n';
  [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
  close(file);
}

}  // namespace

void note_refusal(const char* why) {
  note("refused", why);
}

void note_verdict() {
  note("verdict", "");
}

}  // namespace syscost
