// SPDX-License-Identifier: MIT
#include "session/run/commit.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string_view>

#include "os/environment.h"
#include "os/small_file.h"

namespace syscost::session {
namespace {

constexpr std::array kVariables = {"GITHUB_SHA",  "CI_COMMIT_SHA", "BUILDKITE_COMMIT",
                                   "CIRCLE_SHA1", "GIT_COMMIT",    "BUILD_SOURCEVERSION"};

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// `target`, which may be relative to `folder`.
std::string below(const std::string& folder, const std::string& target) {
  return target.starts_with('/') ? target : folder + "/" + target;
}

/// The hash of `name` ("refs/heads/main") in packed-refs; the lines of packed-refs are "HASH NAME".
std::string packed_ref(const std::string& packed_refs, const std::string& name) {
  for (std::size_t begin = 0; begin < packed_refs.size();) {
    std::size_t end = std::min(packed_refs.find('\n', begin), packed_refs.size());
    std::string_view line(packed_refs.data() + begin, end - begin);
    if (std::size_t space = line.find(' '); space != std::string_view::npos && line.substr(space + 1) == name) {
      return std::string(line.substr(0, space));
    }
    begin = end + 1;
  }
  return {};
}

std::string commit_of_git_folder(const std::string& git) {
  constexpr std::string_view kReference = "ref: ";
  std::string head = first_line(read_small_file(git + "/HEAD"));
  if (!head.starts_with(kReference)) return head;
  std::string name = head.substr(kReference.size());
  // A linked work tree has its own HEAD and shares the branches.
  std::string common = first_line(read_small_file(git + "/commondir"));
  std::string shared = common.empty() ? git : below(git, common);
  std::string hash = first_line(read_small_file(shared + "/" + name));
  return hash.empty() ? packed_ref(read_small_file(shared + "/packed-refs"), name) : hash;
}

}  // namespace

std::string commit_of_repository(std::string folder) {
  constexpr std::string_view kPointer = "gitdir: ";
  while (!folder.empty()) {
    std::string git = folder + "/.git";
    if (access((git + "/HEAD").c_str(), R_OK) == 0) return commit_of_git_folder(git);
    // Submodules and linked work trees have a file there that names the folder.
    if (std::string pointer = first_line(read_small_file(git)); pointer.starts_with(kPointer)) {
      return commit_of_git_folder(below(folder, pointer.substr(kPointer.size())));
    }
    folder.erase(folder.rfind('/'));
  }
  return {};
}

std::string find_commit() {
  for (const char* name : kVariables) {
    if (const char* value = variable(name); value != nullptr && *value != '\0') return value;
  }
  std::array<char, PATH_MAX> folder{};
  return getcwd(folder.data(), folder.size()) != nullptr ? commit_of_repository(folder.data()) : std::string();
}

}  // namespace syscost::session
