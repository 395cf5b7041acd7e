// SPDX-License-Identifier: MIT
#include "extras/profilers/bpftrace/scripts.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <sstream>
#include <utility>

#include "core/selector.h"
#include "extras/profilers/find_tools.h"
#include "os/files.h"

namespace syscost::profilers {
namespace {

constexpr std::string_view kExtension = ".bt";

/// The text after "// NAME: " or, in a script that is not ours, the first comment line with text.
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
  constexpr std::size_t kMostOfScript = std::size_t{1} << 20;
  const Descriptor file = open_regular(path.c_str());
  if (!file.is_open()) return errno_failure("read", path, errno);
  std::string text;
  if (!read_whole(file, kMostOfScript, text)) return errno_failure("read", path, errno);
  return text;
}

std::vector<std::string> folders_of(const ProfilerOptions& options) {
  std::vector<std::string> folders = options.script_folders;
  folders.push_back(shipped_scripts_folder());
  std::erase(folders, "");
  return folders;
}

/// The remedy for a script that was named like a file.
std::string how_to_name(std::string_view name) {
  const std::filesystem::path path(name);
  const std::string folder = path.parent_path().string();
  return "name it without folder and " + std::string(kExtension) + ": " +
         (folder.empty() ? "" : "--syscost_bpf_path " + folder + " ") + "--syscost_bpf " + path.stem().string();
}

Failure unknown_script(const ProfilerOptions& options, std::string_view name) {
  const std::vector<ScriptInfo> all = list_scripts(options);
  std::string known;
  std::string nearest;
  std::size_t least = 3;  // a larger distance means another word, not a typing error
  for (const ScriptInfo& script : all) {
    known.append(known.empty() ? "" : ", ").append(script.name);
    if (const std::size_t steps = edit_distance(name, script.name); steps < least) {
      least = steps;
      nearest = script.name;
    }
  }
  Failure failure{"there is no script '" + std::string(name) + "'", ""};
  const bool is_file_name = name.find('/') != std::string_view::npos || name.ends_with(kExtension);
  if (is_file_name && !std::filesystem::path(name).stem().empty()) {
    failure.how_to_fix = how_to_name(name);
    return failure;
  }
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
    for (const std::string& name : names_in(folder)) {
      std::filesystem::path path = std::filesystem::path(folder) / name;
      if (path.extension() == kExtension && is_regular_file(path.string())) paths.push_back(std::move(path));
    }
    std::sort(paths.begin(), paths.end());
    for (const std::filesystem::path& path : paths) {
      std::string name = path.stem().string();
      if (!names.insert(name).second) continue;  // an earlier folder has it
      const Result<std::string> source = read_file(path.string());
      std::string purpose = source.ok() ? purpose_of(source.value(), name) : "cannot be read";
      found.push_back({std::move(name), std::move(purpose), path.string()});
    }
  }
  return found;
}

Result<void> check_script_folders(const ProfilerOptions& options) {
  for (const std::string& folder : options.script_folders) {
    if (is_folder(folder)) continue;
    return Failure{
        "--syscost_bpf_path names " + folder + ", which is not a folder that can be read",
        "correct or leave out --syscost_bpf_path (or SYSCOST_BPF_PATH); several folders have colons between"};
  }
  return {};
}

Result<Script> find_script(const ProfilerOptions& options, std::string_view name) {
  if (Result<void> checked = check_script_folders(options); !checked.ok()) return checked.failure();
  const bool is_plain_name = !name.empty() && name.find('/') == std::string_view::npos && name.front() != '.';
  for (const std::string& folder : is_plain_name ? folders_of(options) : std::vector<std::string>()) {
    // The tool runs in another folder than we do.
    const std::filesystem::path path =
        absolute_path((std::filesystem::path(folder) / (std::string(name) + std::string(kExtension))).string());
    if (!exists(path.string())) continue;
    if (!is_regular_file(path.string())) {
      return Failure{"script " + std::string(name) + " is not a file: " + path.string(),
                     "put a script of that name there, or name another folder by --syscost_bpf_path"};
    }
    Result<std::string> source = read_file(path.string());
    if (!source.ok()) return source.failure();
    return Script{{std::string(name), purpose_of(source.value(), name), path.string()}, std::move(source.value())};
  }
  return unknown_script(options, name);
}

}  // namespace syscost::profilers
