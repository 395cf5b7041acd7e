// SPDX-License-Identifier: MIT
#include "profilers/installed_files.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace syscost::profilers {
namespace {

/// The folder of the file that holds this code: libsyscost.so, or a test that links the parts.
std::filesystem::path own_folder() {
  static const char kMark = 0;
  Dl_info info{};
  if (dladdr(&kMark, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  std::filesystem::path path = std::filesystem::canonical(info.dli_fname, error);
  // A main program is known by argv[0], which need not be a path.
  if (error) path = std::filesystem::canonical("/proc/self/exe", error);
  return error ? std::filesystem::path() : path.parent_path();
}

/// `below_prefix` from the library's folder: as installed (CMake says how many folders up the prefix is), and as built.
std::string find_below(std::string_view installed, std::string_view built) {
  const std::filesystem::path folder = own_folder();
  if (folder.empty()) return {};
  for (const std::string_view relative : {installed, built}) {
    std::error_code error;
    std::filesystem::path path = std::filesystem::canonical(folder / relative, error);
    if (!error) return path.string();
  }
  return {};
}

}  // namespace

Result<std::string> find_agent() {
  std::string path = find_below(SYSCOST_AGENT_FROM_LIBRARY, "../libexec/syscost/syscost-profile-agent");
  if (!path.empty() && access(path.c_str(), X_OK) == 0) return path;
  return Failure{"syscost-profile-agent is not there, or may not be executed: it belongs to " +
                     (own_folder() / SYSCOST_AGENT_FROM_LIBRARY).lexically_normal().string(),
                 "install syscost as a whole (cmake --install), and move it as a whole"};
}

std::string shipped_scripts_folder() {
  return find_below(SYSCOST_SCRIPTS_FROM_LIBRARY, "../share/syscost/bpftrace");
}

}  // namespace syscost::profilers
