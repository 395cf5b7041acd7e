// SPDX-License-Identifier: MIT
//
// Files of programs and libraries: the file of this program, files that are installed beside libsyscost.so, build ids,
// and the functions in the modules that are loaded.
//
// Programs without libsyscost.so include this header. They may call only the functions that are defined in it.
#pragma once

#include <elf.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace syscost {

// The file of this program: bench and its programs execute and load others from its folder.
//
// Where /proc is not mounted, the kernel does not say which file it is. argv[0] and AT_EXECFN are no answer, because
// the caller of the program makes them up. Nor is a path that begins at the working directory: others may have put
// files there, and root would execute them. So the answer is an absolute path of this very file, or none, and the
// caller refuses then.

inline constexpr const char* kOwnProgramLink = "/proc/self/exe";

/// Absolute; empty if it is not known, and errno says why.
inline std::string own_program_path() {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = readlink(kOwnProgramLink, path.data(), path.size() - 1);
  if (size < 0) return {};
  struct stat running {};
  struct stat named {};
  if (stat(kOwnProgramLink, &running) != 0) return {};
  // The kernel has no path for a file that was deleted, or that cannot be reached from this root.
  if (path[0] == '/' && stat(path.data(), &named) == 0 && named.st_dev == running.st_dev &&
      named.st_ino == running.st_ino) {
    return {path.data(), static_cast<std::size_t>(size)};
  }
  errno = ENOENT;
  return {};
}

/// The message where it is not known, with the errno of own_program_path(). The remedy is a line of its own.
inline std::string why_own_program_is_unknown(int error) {
  return std::string("this program's own folder is not known: ") + kOwnProgramLink + ": " + std::strerror(error);
}
inline constexpr const char* kOwnProgramRemedy =
    "mount /proc (mount -t proc proc /proc), and start the program by the file that is installed";

// Files that belong to libsyscost.so are found relative to the library's own folder.
//
// The dynamic linker reports where the library was loaded from. So an installed tree may be moved, and the build tree,
// which has the same layout, works without installing.

/// The absolute path of a file or folder. Both names are relative to the library's folder: in an installation (CMake
/// knows how many folders up the prefix is) and in a build tree. Empty if neither exists.
std::string find_installed(std::string_view installed, std::string_view built);

/// A path that takes no memory of the heap.
using PathBuffer = std::array<char, PATH_MAX>;
/// The same, into `path`, which begins with a NUL if neither exists.
void find_installed(std::string_view installed, std::string_view built, PathBuffer& path);

/// The absolute path of `installed`, whether or not it exists; for messages.
std::string expected_installed_path(std::string_view installed);

/// The build id of a program (the linker's number of it, which is one of the notes in an ELF file) among `notes`, the
/// bytes of a PT_NOTE: in hexadecimal digits, and empty if there is none. The bytes may be anything.
inline std::string build_id_in(std::string_view notes) {
  constexpr std::size_t kMostBytes = 65536;  // real notes are some hundred bytes
  constexpr std::size_t kMostOfId = 64;
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto padded = [](std::uint32_t size) { return (std::size_t{size} + 3) & ~std::size_t{3}; };
  notes = notes.substr(0, kMostBytes);
  Elf64_Nhdr note{};
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    notes.remove_prefix(sizeof note);
    const std::size_t name = padded(note.n_namesz);
    if (name > notes.size() || note.n_descsz > notes.size() - name) return {};
    const std::string_view value = notes.substr(name, note.n_descsz);
    const bool is_gnu = notes.substr(0, note.n_namesz) == std::string_view("GNU\0", 4);
    if (is_gnu && note.n_type == NT_GNU_BUILD_ID && value.size() <= kMostOfId) {
      std::string text;
      for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 15U];
      }
      return text;
    }
    notes.remove_prefix(std::min(name + padded(note.n_descsz), notes.size()));
  }
  return {};
}

// Looks functions up in the running program without a trace in its heap.
//
// dlsym() that finds nothing puts a text for dlerror() in the heap. The heap is the program's: what lies there would
// depend on which of these calls syscost makes, and with it on the flags. And a program's own malloc() may call dlsym()
// itself, which frees the text while dlerror() writes to it. So the tables of the modules are read here.

/// The function `name` of the program or of a library that it has loaded, in the order in which they were loaded; null
/// if there is none, and for a module that has only the old kind of table (DT_HASH). Any thread; not in a handler.
void* loaded_function(const char* name);

}  // namespace syscost
