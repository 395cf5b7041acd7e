// SPDX-License-Identifier: MIT
//
// Flags of Google Benchmark, in a program that passes its command line on to it. Each has a variable, since 1.5.1.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace syscost::agent::benchmark {

/// The value of --benchmark_NAME, or else of its variable; empty where there is none.
std::string flag_value(const std::string& name);
/// At least 1.
std::int64_t asked_repetitions();

/// Flags for a counting process, whatever the program was started with: it repeats each benchmark once more than the
/// process that times, because what happens only once happens in the first repetition, and it writes no file.
const std::map<std::string, std::string>& counting_flags();

/// While it lives, the variables are those of counting_flags(), and LD_PRELOAD is as before the agent took itself out
/// of it: for a program that is started meanwhile.
class CountingEnvironment {
 public:
  CountingEnvironment();
  CountingEnvironment(const CountingEnvironment&) = delete;
  CountingEnvironment& operator=(const CountingEnvironment&) = delete;
  ~CountingEnvironment();

  /// Before main(): the variables as `bench run` set them.
  static void note_preload();

 private:
  std::map<std::string, std::string> before_;
  std::map<std::string, bool> was_set_;
};

/// In a counting process, before main(): the flags on the command line get the values of counting_flags().
void change_arguments(int argc, char** argv);

}  // namespace syscost::agent::benchmark
