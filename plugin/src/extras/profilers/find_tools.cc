// SPDX-License-Identifier: MIT
#include "extras/profilers/find_tools.h"

#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

#include "os/environment.h"
#include "os/files.h"
#include "os/program_files.h"

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

namespace {

std::string search_path() {
  const char* path = variable("PATH");
  std::string result = path != nullptr ? path : "";
  for (const char* folder : {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}) {
    if ((":" + result + ":").find(":" + std::string(folder) + ":") == std::string::npos) {
      result.append(result.empty() ? "" : ":").append(folder);
    }
  }
  return result;
}

}  // namespace

Result<std::string> find_tool(const std::string& tool, std::string_view how_to_get) {
  const std::string path = search_path();
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty()) folder = ".";
    const std::string file = absolute_path(folder + "/" + tool);
    struct stat status {};
    if (!file.empty() && stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return Failure{tool + " is not installed: not in " + path, std::string(how_to_get)};
}

std::vector<std::string> tool_environment(std::string_view tool_prefix) {
  std::vector<std::string> result{"PATH=" + search_path(), "LC_ALL=C"};
  for (const std::string& entry : variables()) {
    const bool is_wanted = entry.starts_with("HOME=") || entry.starts_with("TMPDIR=") || entry.starts_with("USER=");
    if (is_wanted || entry.starts_with(tool_prefix)) result.push_back(entry);
  }
  return result;
}

std::string value_in(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return {};
}

}  // namespace syscost::profilers
