// SPDX-License-Identifier: MIT
#include "profilers/scripts.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/edit_distance.h"
#include "profilers/installed_files.h"

namespace syscost::profilers {
namespace {

constexpr std::string_view kExtension = ".bt";

/// The text behind "// NAME: " or, in a script of somebody else's, the first comment line that says anything.
std::string purpose_of(std::string_view source, std::string_view name) {
  std::istringstream lines{std::string(source)};
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#!")) continue;
    if (!line.starts_with("//")) break;
    line.erase(0, std::min(line.find_first_not_of("/ "), line.size()));
    if (line.starts_with(std::string(name) + ": ")) return line.substr(name.size() + 2);
    if (first.empty() && !line.starts_with("SPDX")) first = line;
  }
  return first;
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return errno_failure("read", path, errno);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return errno_failure("read", path, errno);
  return text;
}

std::vector<std::string> folders_of(const ProfilerOptions& options) {
  std::vector<std::string> folders = options.script_folders;
  folders.push_back(shipped_scripts_folder());
  std::erase(folders, "");
  return folders;
}

Failure unknown_script(const ProfilerOptions& options, std::string_view name) {
  const std::vector<ScriptInfo> all = list_scripts(options);
  std::string known;
  std::string nearest;
  std::size_t least = 3;  // further off is another word, not a typing error
  for (const ScriptInfo& script : all) {
    known.append(known.empty() ? "" : ", ").append(script.name);
    if (const std::size_t steps = edit_distance(name, script.name); steps < least) {
      least = steps;
      nearest = script.name;
    }
  }
  Failure failure{"there is no script '" + std::string(name) + "'", ""};
  if (!nearest.empty()) failure.how_to_fix = "did you mean " + nearest + "? ";
  failure.how_to_fix += known.empty() ? "none were found: install syscost as a whole, or name a folder by "
                                        "--syscost_bpf_path"
                                      : "there are: " + known + "; --syscost_bpf_path adds folders";
  return failure;
}

}  // namespace

std::vector<ScriptInfo> list_scripts(const ProfilerOptions& options) {
  std::vector<ScriptInfo> found;
  std::set<std::string> names;
  for (const std::string& folder : folders_of(options)) {
    std::vector<std::filesystem::path> paths;
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (at->path().extension() == kExtension) paths.push_back(at->path());
    }
    std::sort(paths.begin(), paths.end());
    for (const std::filesystem::path& path : paths) {
      std::string name = path.stem().string();
      if (!names.insert(name).second) continue;  // a folder before this one has it
      const Result<std::string> source = read_file(path.string());
      std::string purpose = source.ok() ? purpose_of(source.value(), name) : "cannot be read";
      found.push_back({std::move(name), std::move(purpose), path.string()});
    }
  }
  return found;
}

Result<Script> find_script(const ProfilerOptions& options, std::string_view name) {
  const bool is_plain_name = !name.empty() && name.find('/') == std::string_view::npos && name.front() != '.';
  for (const std::string& folder : is_plain_name ? folders_of(options) : std::vector<std::string>()) {
    // The tool runs in another folder than we do.
    std::error_code error;
    const std::filesystem::path path =
        std::filesystem::absolute(std::filesystem::path(folder) / (std::string(name) + std::string(kExtension)), error);
    if (error || !std::filesystem::exists(path, error)) continue;
    Result<std::string> source = read_file(path.string());
    if (!source.ok()) return source.failure();
    return Script{{std::string(name), purpose_of(source.value(), name), path.string()}, std::move(source.value())};
  }
  return unknown_script(options, name);
}

}  // namespace syscost::profilers
