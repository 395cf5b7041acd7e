// SPDX-License-Identifier: MIT
//
// A small column store: what file_load_test.cc loads and iterates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace demo {

/// One row of the table.
struct Row {
  std::int64_t id = 0;
  double value = 0;
};

/// Writes `rows` as text, one `id,value` line each, after a header line. False when the file cannot be written.
bool write_table(const std::string& path, std::span<const Row> rows);

/// Reads what write_table wrote; looks in each folder of `search_path` in turn. Empty when no folder has the file.
std::optional<std::vector<Row>> load_table(std::span<const std::string> search_path, const std::string& name);

/// Splits rows into runs of at most `batch_rows`, without copying and without asking the kernel for anything.
std::vector<std::span<const Row>> split_into_batches(std::span<const Row> rows, std::size_t batch_rows);

}  // namespace demo
