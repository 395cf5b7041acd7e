// SPDX-License-Identifier: MIT
//
// The whole of bench as a function, so that tests run it in-process against golden output.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace syscost::bench {

/// `args` without the program's name. Returns the exit code (see ExitCode). Results go to `out`, everything about
/// the input's faults to `err`. A failing `out` (a full disk) ends in a message and exit code 2.
int bench_main(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace syscost::bench
