// SPDX-License-Identifier: MIT
#include "profilers/installed_files.h"

#include <unistd.h>

#include "os/installed_file.h"

namespace syscost::profilers {

Result<std::string> find_launcher() {
  std::string path = find_installed(SYSCOST_LAUNCHER_FROM_LIBRARY, "../libexec/syscost/syscost-profile-launcher");
  if (!path.empty() && access(path.c_str(), X_OK) == 0) return path;
  return Failure{"syscost-profile-launcher is missing or not executable; its place is " +
                     expected_installed_path(SYSCOST_LAUNCHER_FROM_LIBRARY),
                 "install syscost as a whole (cmake --install), and move it as a whole"};
}

std::string shipped_scripts_folder() {
  return find_installed(SYSCOST_SCRIPTS_FROM_LIBRARY, "../share/syscost/bpftrace");
}

}  // namespace syscost::profilers
