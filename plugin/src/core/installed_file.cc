// SPDX-License-Identifier: MIT
#include "core/installed_file.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

namespace syscost {
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

}  // namespace

std::string find_installed(std::string_view installed, std::string_view built) {
  const std::filesystem::path folder = own_folder();
  if (folder.empty()) return {};
  for (const std::string_view relative : {installed, built}) {
    std::error_code error;
    std::filesystem::path path = std::filesystem::canonical(folder / relative, error);
    if (!error) return path.string();
  }
  return {};
}

std::string installed_place(std::string_view installed) {
  return (own_folder() / installed).lexically_normal().string();
}

}  // namespace syscost
