// SPDX-License-Identifier: MIT
#include "session/process/messages.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "os/message_output.h"
#include "os/signals.h"
#include "os/text.h"

namespace syscost::session {
namespace {

/// `text` as it is typed, in printable characters. A tool's output stands in lines of its own, which begin with two
/// blanks. Each other line break came with a name that someone else chose. It would begin a line, and a CI service
/// takes lines that begin with `::` or `##`, after blanks or not, for commands.
std::string shown(std::string_view text) {
  const std::string typed = as_typed(text);
  std::string_view rest = typed;
  std::string out;
  for (bool is_first = true; is_first || !rest.empty(); is_first = false) {
    const std::size_t end = std::min(rest.find('\n', is_first ? 0 : 1), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end);
    if (!is_first && line.starts_with("\n  ")) {
      const std::size_t begin = line.find_first_not_of(" \n");
      if (begin != std::string_view::npos && line[begin] != ':' && line[begin] != '#') {
        out += '\n';
        line.remove_prefix(1);
      }
    }
    out += printable(line);
  }
  return out;
}

/// Prints with one write, so that lines of parallel test programs do not mix, and without stdio, because its buffers
/// belong to the user.
void print(const std::string& text, void (*write)(std::string_view) = write_message) {
  // The pipe may have no reader, and the output may be a file at a limit that a test set.
  const SignalHold no_reader(SIGPIPE);
  const SignalHold size_limit(SIGXFSZ);
  write(text);
}

std::string text_of(const Failure& failure) {
  std::string text = "syscost: " + shown(failure.reason) + "\n";
  if (!failure.how_to_fix.empty()) text += "  fix: " + shown(failure.how_to_fix) + "\n";
  return text;
}

std::atomic<bool> g_has_refused{false};

}  // namespace

bool has_refused() {
  return g_has_refused;
}

void say(std::string_view text) {
  print("syscost: " + shown(text) + "\n");
}

void say_start(std::string_view text) {
  print("syscost: " + shown(text) + "\n", write_start_message);
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
