// SPDX-License-Identifier: MIT
//
// Command lines: the arguments of a program that is executed, their room, and their text in a message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace syscost {

/// The array that execve and its relatives take: a pointer to each of `texts`, and a null pointer after the last one.
/// The pointers hold while `texts` is not changed. execve does not write to the texts, but its parameters are not
/// const.
inline std::vector<char*> null_ended(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));  // NOLINT
  pointers.push_back(nullptr);
  return pointers;
}

// The kernel takes arguments and variables of a program up to a size (E2BIG, "Argument list too long").

/// Bytes that the kernel copies for `texts`, the arguments or the environment of a program: the texts, and a pointer to
/// each.
inline std::size_t bytes_for(const char* const* texts) {
  std::size_t bytes = 0;
  for (; *texts != nullptr; ++texts) bytes += std::strlen(*texts) + 1 + sizeof *texts;
  return bytes;
}

inline std::size_t bytes_for(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size() + 1 + sizeof(const char*);
  return bytes;
}

/// The remedy: it names the largest variable of `environment`.
inline std::string how_to_make_room(const std::vector<std::string>& environment) {
  std::string_view largest;
  for (const std::string& one : environment) {
    if (one.size() > largest.size()) largest = one;
  }
  return "unset a variable that the command does not need (the largest is " +
         std::string(largest.substr(0, largest.find('='))) + ", of " + std::to_string(largest.size()) +
         " bytes), give it fewer arguments, or raise the limit of the stack, a quarter of which is for both: ulimit -s";
}

/// `word` as a POSIX shell reads it, in quotes where it has to be. For commands in messages, so that the user can paste
/// them.
inline std::string shell_word(const std::string& word) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./=:,+@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + '\'';
}

}  // namespace syscost
