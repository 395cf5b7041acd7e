// SPDX-License-Identifier: MIT
#include "session/process/messages.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <string>

#include "os/message_output.h"

namespace syscost::session {
namespace {

TEST(Messages, EndNoProgramIfItsErrorOutputHasNoReader) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  close(pipe_ends[0]);
  const int saved = dup(STDERR_FILENO);
  dup2(pipe_ends[1], STDERR_FILENO);
  close(pipe_ends[1]);
  note_message_output();
  say("this goes unread");  // SIGPIPE's default would end the test program here
  dup2(saved, STDERR_FILENO);
  note_message_output();
  close(saved);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

/// The text that `print` writes to stderr.
template <class Print>
std::string printed_by(Print print) {
  std::FILE* const file = std::tmpfile();
  const int saved = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  note_message_output();
  print();
  dup2(saved, STDERR_FILENO);
  note_message_output();
  close(saved);
  std::rewind(file);
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

TEST(Messages, ShowWhatAnotherProgramsNameWouldDoToATerminal) {
  const std::string name = "\x1b[31mP\x1b]0;x\a\r\u202egpj\xff";
  const std::string shown = "\\x1b[31mP\\x1b]0;x\\x07\\x0d\\u202egpj\\xff";
  EXPECT_EQ(printed_by([&] { say("a " + name); }), "syscost: a " + shown + "\n");
  EXPECT_EQ(printed_by([&] { say_failure({name, name}); }), "syscost: " + shown + "\n  fix: " + shown + "\n");
}

// A CI service takes a line that begins with :: or ## for a command.
TEST(Messages, KeepANameOnItsLine) {
  EXPECT_EQ(printed_by([] { say("a x\n::error::y"); }), "syscost: a x\\x0a::error::y\n");
  EXPECT_EQ(printed_by([] {
              say_failure({"x\n  ::error::y", "\n\n   ##[error]y"});
            }),
            "syscost: x\\x0a  ::error::y\n  fix: \\x0a\\x0a   ##[error]y\n");
  // The output of a tool.
  EXPECT_EQ(printed_by([] { say_failure({"perf ended:\n  one\n  two", ""}); }), "syscost: perf ended:\n  one\n  two\n");
}

}  // namespace
}  // namespace syscost::session
