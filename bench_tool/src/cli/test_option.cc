// SPDX-License-Identifier: MIT
#include "cli/test_option.h"

#include "cli/validators.h"

namespace syscost::bench::cli {

void add_test_option(CLI::App& command, Options& options) {
  command
      .add_option("--test,--filter", options.tests,
                  "Only tests that match, in the syntax of --gtest_filter: Log.*:Net.?-*Slow*")
      ->type_name("PATTERN")
      ->check(not_empty());
}

}  // namespace syscost::bench::cli
