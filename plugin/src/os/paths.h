// SPDX-License-Identifier: MIT
//
// What std::filesystem knows of paths, by functions of libc.
//
// The C++ library makes its system calls by libc's names, and the program may define these names: then its function
// would be called, and answer (libc/symbols.h). So the parts of std::filesystem, the file streams and the clocks that
// make calls stay outside libsyscost; std::filesystem::path itself makes none.
#pragma once

#include <string>
#include <vector>

namespace syscost {

bool exists(const std::string& path);
bool is_folder(const std::string& path);
bool is_regular_file(const std::string& path);

/// The path from / on: a relative one begins at the working directory. "" if that is unknown; errno says why.
std::string absolute_path(const std::string& path);

/// What the link holds; "" if `path` is none.
std::string read_link(const std::string& path);

/// `path` without links, as far as it exists; the rest follows as it is. "" if that is unknown; errno says why.
std::string without_links(const std::string& path);

/// The names in a folder, without "." and ".."; none if it cannot be read.
std::vector<std::string> names_in(const std::string& folder);

/// Makes the folder, and those above it that are missing. 0 or an errno.
int make_folders(const std::string& path);

}  // namespace syscost
