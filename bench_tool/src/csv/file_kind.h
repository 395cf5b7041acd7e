// SPDX-License-Identifier: MIT
//
// What kind of file a RUN is, told by its content: a name proves nothing.
#pragma once

#include <string>

namespace syscost::bench::csv {

/// True for a regular file that begins with `{`. Pipes are not looked into: what is read of them is gone.
bool is_json(const std::string& file);

/// True for one that begins as --benchmark_out writes it.
bool is_benchmark_json(const std::string& file);

}  // namespace syscost::bench::csv
