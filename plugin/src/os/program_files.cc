// SPDX-License-Identifier: MIT
#include "os/program_files.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <span>

#include "libc/symbols.h"
#include "os/environment.h"

namespace syscost {
namespace {

/// Where the file that holds `address` was loaded to; null when it is not known.
const void* base_of(const void* address, Dl_info& info) {
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// The folder of the file that holds this code: libsyscost.so, or a program that links the parts. Empty if it is
/// unknown.
std::string_view own_folder(PathBuffer& room) {
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
  if (is_main_program) {
    // In a chroot, /proc shows no path for a program that was started in another mount namespace. A relative path would
    // begin at the working directory, where others may have put files.
    // NOLINTNEXTLINE(performance-no-int-to-ptr): as above
    const auto* const started_as = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
    if (realpath("/proc/self/exe", room.data()) == nullptr &&
        (started_as == nullptr || *started_as != '/' || realpath(started_as, room.data()) == nullptr)) {
      return {};
    }
  } else if (realpath(ours.dli_fname, room.data()) == nullptr) {
    return {};
  }
  const std::string_view path = room.data();
  return path.substr(0, path.find_last_of('/'));
}

}  // namespace

void find_installed(std::string_view installed, std::string_view built, PathBuffer& path) {
  PathBuffer room{};
  const std::string_view folder = own_folder(room);
  path[0] = 0;
  for (const std::string_view relative : {installed, built}) {
    PathBuffer joined{};
    if (folder.empty() || folder.size() + 1 + relative.size() >= joined.size()) continue;
    char* end = std::copy(folder.begin(), folder.end(), joined.data());
    *end++ = '/';
    std::copy(relative.begin(), relative.end(), end);
    if (realpath(joined.data(), path.data()) != nullptr) return;
    path[0] = 0;
  }
}

std::string find_installed(std::string_view installed, std::string_view built) {
  PathBuffer path{};
  find_installed(installed, built, path);
  return path.data();
}

std::string expected_installed_path(std::string_view installed) {
  PathBuffer room{};
  return (std::filesystem::path(own_folder(room)) / installed).lexically_normal().string();
}

namespace {

struct Search {
  const char* name;
  void* found;
};

int look_in(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  Search& search = *static_cast<Search*>(data);
  link_map module{};
  module.l_addr = info->dlpi_addr;
  for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (segment.p_type == PT_DYNAMIC) {
      module.l_ld =
          reinterpret_cast<ElfW(Dyn)*>(info->dlpi_addr + segment.p_vaddr);  // NOLINT(performance-no-int-to-ptr)
    }
  }
  search.found = libc::Module(&module).find("", search.name);
  return search.found != nullptr ? 1 : 0;
}

}  // namespace

void* loaded_function(const char* name) {
  Search search{name, nullptr};
  dl_iterate_phdr(look_in, &search);
  return search.found;
}

}  // namespace syscost
