// SPDX-License-Identifier: MIT
#include "os/installed_file.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <filesystem>
#include <system_error>

#include "os/environment.h"

namespace syscost {
namespace {

/// Where the file that holds `address` was loaded to; null when it is not known.
const void* base_of(const void* address, Dl_info& info) {
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// The folder of the file that holds this code: libsyscost.so, or a program that links the parts.
std::filesystem::path own_folder() {
  static const char kMark = 0;
  Dl_info ours{};
  Dl_info main_program{};
  const void* const base = base_of(&kMark, ours);
  if (base == nullptr || ours.dli_fname == nullptr) return {};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the auxiliary vector holds numbers
  const void* const headers = reinterpret_cast<const void*>(getauxval(AT_PHDR));
  const bool is_main_program = base == base_of(headers, main_program);
  // For a main program the linker has argv[0], which the caller makes up. A program that is started from this folder
  // may get the main program's rights, and a caller may start a link of his own. If he has fewer rights, the folder is
  // unknown.
  if (is_main_program && has_more_rights_than_caller()) return {};
  std::error_code error;
  std::filesystem::path path = std::filesystem::canonical(is_main_program ? "/proc/self/exe" : ours.dli_fname, error);
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

std::string expected_installed_path(std::string_view installed) {
  return (own_folder() / installed).lexically_normal().string();
}

}  // namespace syscost
