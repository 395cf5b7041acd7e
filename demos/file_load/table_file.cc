// SPDX-License-Identifier: MIT
#include "table_file.h"

#include <algorithm>
#include <fstream>

namespace demo {

bool write_table(const std::string& path, std::span<const Row> rows) {
  std::ofstream out(path);
  out << "id,value\n";
  for (const Row& row : rows) out << row.id << ',' << row.value << '\n';
  return static_cast<bool>(out.flush());
}

std::optional<std::vector<Row>> load_table(std::span<const std::string> search_path, const std::string& name) {
  for (const std::string& folder : search_path) {
    std::ifstream in(folder + "/" + name);
    if (!in) continue;
    std::string header;
    std::getline(in, header);
    std::vector<Row> rows;
    char comma = 0;
    for (Row row; in >> row.id >> comma >> row.value;) rows.push_back(row);
    return rows;
  }
  return std::nullopt;
}

std::vector<std::span<const Row>> split_into_batches(std::span<const Row> rows, std::size_t batch_rows) {
  std::vector<std::span<const Row>> batches;
  batches.reserve((rows.size() + batch_rows - 1) / batch_rows);
  for (; !rows.empty(); rows = rows.subspan(batches.back().size())) {
    batches.push_back(rows.first(std::min(batch_rows, rows.size())));
  }
  return batches;
}

}  // namespace demo
