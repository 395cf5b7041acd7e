// SPDX-License-Identifier: MIT
//
// Saving settings so that a program that is killed, or a machine that loses its power, leaves the old file or the new
// one: into a second file, which then takes the place of the first.
#pragma once

#include <string>

namespace settings {

/// What load() finds; the empty string if there is no file.
std::string load(const std::string& path);

// Each returns true if the settings are saved.

/// Bug 1: does not look at what write and close return. A full disk leaves half a file, and save() says true.
bool save_unchecked(const std::string& path, const std::string& text);
/// Bug 2: no fsync. The new name may be on the disk before what the file holds.
bool save_without_fsync(const std::string& path, const std::string& text);
/// Bug 3: renames before the fsync. For some milliseconds it is as wrong as the one before.
bool save_rename_first(const std::string& path, const std::string& text);
/// Mended.
bool save(const std::string& path, const std::string& text);

}  // namespace settings
