// SPDX-License-Identifier: MIT
#include "os/refusal_note.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "os/environment.h"
#include "os/loaded_function.h"

namespace syscost {
namespace {

/// Nothing is preloaded into a guest (agent/guest), and its environment is its own.
void note_in_guest(const std::string& line) {
  const char* const notes = variable("_SYSCOST_NOTES");
  const int file = notes != nullptr ? open(notes, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
  close(file);
}

}  // namespace

void note_refusal(const char* why) {
  using Refused = void(const char*);
  // The preloaded part knows the file; it takes the variable away before the tests begin.
  if (void* const refused = loaded_function("syscost_preload_refused"); refused != nullptr) {
    reinterpret_cast<Refused*>(refused)(why);
    return;
  }
  note_in_guest("refused " + std::to_string(getpid()) + " " + why + "\n");
}

void note_verdict() {
  using Verdict = void();
  if (void* const verdict = loaded_function("syscost_preload_verdict"); verdict != nullptr) {
    reinterpret_cast<Verdict*>(verdict)();
    return;
  }
  note_in_guest("verdict " + std::to_string(getpid()) + "\n");
}

}  // namespace syscost
