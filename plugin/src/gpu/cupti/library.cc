// SPDX-License-Identifier: MIT
#include "gpu/cupti/library.h"

#include <dlfcn.h>

#include "gpu/cupti/activity.h"
#include "os/environment.h"

namespace syscost::gpu::cupti {
namespace {

constexpr const char* kHowToGet =
    "install it (Debian, non-free: apt-get install libcupti-dev; from NVIDIA: cuda-cupti-13-0), or say where it is: "
    "SYSCOST_CUPTI=/path/to/libcupti.so";

template <class Function>
bool find(void* library, const char* name, Function& into, std::string& missing) {
  into = reinterpret_cast<Function>(dlsym(library, name));
  if (into == nullptr && missing.empty()) missing = name;
  return into != nullptr;
}

/// The name of the first function that is not there, or "".
std::string find_all(void* library, Functions& call) {
  std::string missing;
  find(library, "cuptiGetVersion", call.get_version, missing);
  find(library, "cuptiGetResultString", call.get_result_string, missing);
  find(library, "cuptiGetTimestamp", call.get_timestamp, missing);
  find(library, "cuptiSubscribe", call.subscribe, missing);
  find(library, "cuptiUnsubscribe", call.unsubscribe, missing);
  find(library, "cuptiActivityRegisterCallbacks", call.register_callbacks, missing);
  find(library, "cuptiActivityEnable", call.enable, missing);
  find(library, "cuptiActivityDisable", call.disable, missing);
  find(library, "cuptiActivityGetNextRecord", call.next_record, missing);
  find(library, "cuptiActivityGetNumDroppedRecords", call.dropped_records, missing);
  find(library, "cuptiActivityFlushAll", call.flush, missing);
  return missing;
}

bool is_too_new(std::uint32_t version) {
  return version >= (kNewestMajor + 1) * 10000;
}

}  // namespace

std::string version_text(std::uint32_t version) {
  if (version < 10000) return "API " + std::to_string(version);
  return "CUDA " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100);
}

std::string Library::status_text(Status status) const {
  const char* text = nullptr;
  if (call.get_result_string(status, &text) != kSuccess || text == nullptr) return "error " + std::to_string(status);
  return std::string(text) + " (" + std::to_string(status) + ")";
}

std::vector<std::string> library_candidates() {
  // CUDA 11 has a number for each minor version.
  std::vector<std::string> all = {"libcupti.so.13", "libcupti.so.12"};
  for (int minor = 8; minor >= 0; --minor) all.push_back("libcupti.so.11." + std::to_string(minor));
  all.emplace_back("libcupti.so");
  std::vector<std::string> roots;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = variable(name); root != nullptr && *root != '\0') roots.emplace_back(root);
  }
  roots.emplace_back("/usr/local/cuda");
  for (const std::string& root : roots) {
    for (const char* folder : {"/extras/CUPTI/lib64", "/lib64", "/lib"}) all.push_back(root + folder + "/libcupti.so");
  }
  return all;
}

Result<Library> open_library(const std::string& only) {
  if (has_more_rights_than_caller()) {
    return Failure{"CUPTI is code that runs inside this program, and this program has rights that its caller lacks",
                   "run it without those rights, as a copy without file capabilities (cp keeps none), or as root"};
  }
  const std::vector<std::string> candidates = only.empty() ? library_candidates() : std::vector<std::string>{only};
  void* handle = nullptr;
  Library library;
  std::string why;
  for (const std::string& candidate : candidates) {
    handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) {
      library.path = candidate;
      break;
    }
    const char* error = dlerror();
    // That a name is nowhere says nothing; that a file is there and cannot be loaded does.
    const std::string text = error != nullptr ? error : "";
    if (why.empty() && text.find("No such file") == std::string::npos) why = text;
  }
  if (handle == nullptr) {
    if (!only.empty()) {
      return Failure{
          "CUPTI cannot be opened: SYSCOST_CUPTI names " + only + (why.empty() ? ", which is not there" : ": " + why),
          "correct the path, or unset SYSCOST_CUPTI"};
    }
    return Failure{"CUPTI was not found: neither " + candidates.front() +
                       " and older ones where libraries are, nor libcupti.so " + "in CUDA_HOME or /usr/local/cuda" +
                       (why.empty() ? "" : "; " + why),
                   kHowToGet};
  }
  if (const std::string missing = find_all(handle, library.call); !missing.empty()) {
    return Failure{library.path + " has no function " + missing + ": it is not CUPTI, or it is too old", kHowToGet};
  }
  if (const Status status = library.call.get_version(&library.version); status != kSuccess) {
    return Failure{"CUPTI (" + library.path + ") does not say its version: " + library.status_text(status), kHowToGet};
  }
  if (library.version < kOldestVersion) {
    return Failure{"CUPTI (" + library.path + ") is too old: " + version_text(library.version) + ", and API " +
                       std::to_string(kOldestVersion) + " of CUDA 11.0 is needed",
                   kHowToGet};
  }
  if (is_too_new(library.version)) {
    return Failure{
        "CUPTI (" + library.path + ") is of " + version_text(library.version) +
            ", and this syscost knows where records up to CUDA " + std::to_string(kNewestMajor) + " keep what",
        "name an older one that the driver still serves, SYSCOST_CUPTI=/path/to/libcupti.so, or update syscost"};
  }
  return library;
}

}  // namespace syscost::gpu::cupti
