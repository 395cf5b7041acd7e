// SPDX-License-Identifier: MIT
//
// The environment of a program below `bench run`: with our variables for what it executes, without them for its tests.
#pragma once

#include <sys/types.h>

#include <climits>
#include <cstddef>
#include <cstring>

namespace syscost::agent {

inline bool starts_with(const char* text, const char* beginning) {
  return std::strncmp(text, beginning, std::strlen(beginning)) == 0;
}

/// What keep_what_is_passed_on() noted, and what is passed on now.
struct Kept {
  const char** variables = nullptr;  ///< "NAME=VALUE", without LD_PRELOAD.
  std::size_t count = 0;
  const char* preload = nullptr;  ///< The path of our library.
  char inject[PATH_MAX] = {};     ///< The path of syscost-inject, beside the library.
  const char* notes = nullptr;    ///< The file that takes lines of what cannot be measured; may be null.
  bool is_passing_on = false;
  pid_t process = 0;                  ///< It passes on to what it becomes itself. 0 = none.
  bool is_filtered = false;           ///< Set with go_on_passing_on().
  bool is_environment_clean = false;  ///< take_ours_out() took ours out of it.
};
extern Kept g_kept;

/// The environment of a program that is to be executed, with our variables.
class Environment {
 public:
  explicit Environment(char* const* theirs);
  /// How many pointers and bytes build() needs.
  std::size_t pointers() const { return pointers_; }
  std::size_t bytes() const { return bytes_; }
  /// Made in `room` and `text`; what the program gave where nothing is missing.
  char* const* build(char** room, char* text) const;

 private:
  char* const* theirs_;
  std::size_t pointers_ = 0;
  std::size_t bytes_ = 0;
  bool lacks_preload_ = false;   ///< LD_PRELOAD is not there, or has been replaced.
  bool lacks_mark_ = false;      ///< The environment was cleared.
  bool lacks_filtered_ = false;  ///< kFilteredVariable shall be there.
  bool lacks_order_ = false;     ///< ASAN_OPTIONS is not there, or has been replaced.
};

/// Takes what is not for tests out of this program's environment, and puts it back. What other threads have read of the
/// environment stays where it is. One thread; they make syscalls.
void take_ours_out();
void put_ours_back();

}  // namespace syscost::agent
