// SPDX-License-Identifier: MIT
//
// RunColumns: the columns that are the same on every row of one program's run.
#pragma once

#include <cstdint>
#include <string>

namespace syscost::csv {

/// Columns of the same names; docs/csv-format.md defines them. Empty = unknown.
struct RunColumns {
  std::string run_id;
  std::string started_at;
  std::string label;
  std::string host;
  std::string kernel_release;
  std::string commit;
  std::string why_no_commit;  ///< No column: why `commit` is empty although there is a repository.
  std::string build_id;
  std::string build_type;
  std::string backend;
  std::string selection;
  std::string filter;  ///< --syscost_filter as given; empty = everything is counted.
  std::string program;
  std::uint64_t pid = 0;
  std::string shard;  ///< "2 of 4" where the framework runs a part of the tests only; written with `surroundings`.
  std::string surroundings;  ///< Column `detail` of the run's own row: `cpus=2;locale=C`. Empty: there is no such row.
};

}  // namespace syscost::csv
