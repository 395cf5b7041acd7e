// SPDX-License-Identifier: MIT
#include "csv/all_files.h"

#include <utility>

namespace syscost::bench::csv {

bool add_files(Run& all, const std::vector<std::string>& names, Folders folders, Problems& problems) {
  bool has_folder = false;
  for (const std::string& name : names) {
    Run one = find_files(name, folders, problems);
    has_folder = has_folder || one.is_folder;
    for (Input& file : one.files) all.files.push_back(std::move(file));
  }
  return has_folder;
}

}  // namespace syscost::bench::csv
