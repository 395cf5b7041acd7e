// SPDX-License-Identifier: MIT
//
// The messages between the measured process and syscost-symbols, its helper for names and lines.
//
// The process sends a Question over a socket, and the helper answers it. A message is a length and so many bytes. Both
// programs are of one build, so there are no versions to negotiate; a message that makes no sense ends the talk.
//
// The helper reads files that anyone may have made. If such a file takes the helper over, the helper's answers are
// hostile. So the process checks each length, and uses an answer as text and numbers only.
//
// The memory of an answer is passed in, because the process that measures takes it from its quiet memory: what a test
// finds in the heap must not depend on how many names syscost keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace syscost::symbols {

/// An address to look up.
struct Address {
  std::uint64_t offset = 0;  ///< As in the file's symbol table.
  /// False for a return address: the call is before it. True for the address at which a signal interrupted the code.
  bool is_exact = false;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 within a defaulted <=> for ours
  friend auto operator<=>(const Address&, const Address&) = default;
};

/// One function in a call stack, as its source has it. Functions that the compiler inlined are frames too.
struct SourceFrame {
  explicit SourceFrame(std::pmr::memory_resource* memory) : function(memory), file(memory) {}

  std::pmr::string function;     ///< With namespaces and classes, without parameters; empty = unknown.
  std::pmr::string file;         ///< Normalised; mostly absolute; empty = unknown.
  std::uint32_t line = 0;        ///< Where this frame calls the one inside it; 0 = unknown.
  std::uint32_t first_line = 0;  ///< The function's, if it is in the same file; 0 = unknown.
};

/// The source of an address, as far as it is known.
struct Place {
  explicit Place(std::pmr::memory_resource* memory) : frames(memory) {}

  std::pmr::vector<SourceFrame> frames;  ///< Innermost inlined function first; empty = nothing is known.
  /// The code by which a signal handler returns: its caller's address is exact.
  bool is_signal_frame = false;
};

inline constexpr int kSocketDescriptor = 3;  ///< The helper's.

/// If the helper has no answer to a question after so many seconds, it ends.
inline constexpr unsigned kMostSecondsForAnswer = 30;

/// Limits of a message, in bytes, and of what is in it.
inline constexpr std::uint32_t kMaxQuestionBytes = 16U << 20;
inline constexpr std::uint32_t kMaxAnswerBytes = 64U << 20;
inline constexpr std::uint32_t kMaxFrames = 200;      ///< Inlined into each other at one address.
inline constexpr std::size_t kMaxTextBytes = 4096;    ///< For a function's name or a file's path.
inline constexpr std::size_t kMaxAddresses = 20'000;  ///< In one question.

/// Asks for addresses of one file.
struct Question {
  std::string path;
  std::string build_id;  ///< In hexadecimal; empty = none.
  std::vector<Address> addresses;
};

/// Appends the message, with its length.
void put_question(std::pmr::string& message, std::string_view path, std::string_view build_id,
                  std::span<const Address> addresses);
/// `body` is a message without its length. False if it is none.
bool take_question(std::string_view body, Question& question);

/// An answer: a place for each address of the question, or why the file cannot be used.
struct Answer {
  explicit Answer(std::pmr::memory_resource* memory) : reason(memory), places(memory) {}

  std::pmr::string reason;  ///< "cannot be opened: No such file or directory"; empty = the file was read.
  std::pmr::vector<Place> places;
};

void put_answer(std::pmr::string& message, const Answer& answer);
/// False if `body` is no answer for `count` addresses.
bool take_answer(std::string_view body, std::size_t count, Answer& answer);

}  // namespace syscost::symbols
