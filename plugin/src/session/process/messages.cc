// SPDX-License-Identifier: MIT
#include "session/process/messages.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "os/message_output.h"
#include "os/printable.h"
#include "os/refusal_note.h"
#include "os/signal_hold.h"
#include "os/typed_flags.h"

namespace syscost::session {
namespace {

/// Prints with one write, so that lines of parallel test programs do not mix, and without stdio, because its buffers
/// belong to the user. A text may hold a name that someone else chose.
void print(const std::string& lines) {
  const std::string text = printable_lines(lines);
  // The pipe may have no reader, and the output may be a file at a limit that a test set.
  const SignalHold no_reader(SIGPIPE);
  const SignalHold size_limit(SIGXFSZ);
  write_message(text);
}

std::string text_of(const Failure& failure) {
  std::string text = "syscost: " + failure.reason + "\n";
  if (!failure.how_to_fix.empty()) text += "  fix: " + failure.how_to_fix + "\n";
  return as_typed(text);
}

std::atomic<bool> g_has_refused{false};

}  // namespace

bool has_refused() {
  return g_has_refused;
}

void say(std::string_view text) {
  print("syscost: " + as_typed(text) + "\n");
}

void say_failure(const Failure& failure) {
  print(text_of(failure));
}

void refuse(const Failure& failure) {
  std::fflush(stdout);
  say_failure(failure);
  note_refusal(failure.reason.c_str());
  g_has_refused = true;
  std::exit(2);
}

}  // namespace syscost::session
