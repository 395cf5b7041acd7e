// SPDX-License-Identifier: MIT
#include "extras/gpu/cupti/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "extras/gpu/cupti/activity.h"
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

namespace {

using Step = TrialEnd::Step;

constexpr const char* kDriver = "libcuda.so.1";
constexpr const char* kControlDevice = "/dev/nvidiactl";
constexpr int kTrialSeconds = 60;

// CUresult.
constexpr int kNoDevice = 100;
constexpr int kStubLibrary = 34;
constexpr int kDriverMismatch = 803;

// CUptiResult.
constexpr Status kMaxLimitReached = 12;
constexpr Status kNotCompatible = 14;
constexpr Status kVirtualised = 33;
constexpr Status kInsufficientPrivileges = 35;
constexpr Status kMultipleSubscribers = 39;
constexpr Status kVirtualisedPrivileges = 40;
constexpr Status kConfidential = 41;

int errno_of_opening(const char* device) {
  const int file = open(device, O_RDWR | O_CLOEXEC);
  if (file < 0) return errno;
  close(file);
  return 0;
}

TrialEnd run_trial(const Library& library) {
  TrialEnd end;
  end.device_errno = errno_of_opening(kControlDevice);
  void* const driver = dlopen(kDriver, RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return end;
  const auto initialise = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  const auto name = reinterpret_cast<int (*)(int, const char**)>(dlsym(driver, "cuGetErrorName"));
  const auto keep_name = [&] {
    const char* text = nullptr;
    if (name == nullptr || name(end.status, &text) != 0 || text == nullptr) return;
    std::strncpy(end.driver_name, text, sizeof end.driver_name - 1);
  };
  if (initialise == nullptr || count == nullptr) return end;
  end.step = Step::initialise;
  if ((end.status = initialise(0)) != 0) {
    keep_name();
    return end;
  }
  end.step = Step::devices;
  if ((end.status = count(&end.devices)) != 0 || end.devices == 0) {
    keep_name();
    return end;
  }
  const RecordingStart start = start_recording(library);
  end.status = start.status;
  end.step = start.status == kSuccess ? Step::whole : start.is_subscribed ? Step::enable : Step::subscribe;
  if (start.status == kSuccess) static_cast<void>(stop_recording(library).ok());
  return end;
}

/// Reads all of `end`, within kTrialSeconds.
bool receive(int pipe_end, TrialEnd& end) {
  auto* at = reinterpret_cast<char*>(&end);
  std::size_t missing = sizeof end;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const time_t until = now.tv_sec + kTrialSeconds;
  while (missing > 0) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec >= until) return false;
    pollfd waiting{pipe_end, POLLIN, 0};
    const int ready = poll(&waiting, 1, 1000);
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    const ssize_t got = read(pipe_end, at, missing);
    if (got == 0 || (got < 0 && errno != EINTR)) return false;
    if (got < 0) continue;
    at += got;
    missing -= static_cast<std::size_t>(got);
  }
  return true;
}

std::string device_remark(int error) {
  if (error == 0) return {};
  return std::string("; ") + kControlDevice + " cannot be opened: " + std::strerror(error);
}

}  // namespace

Failure cupti_failure(const std::string& operation, Status status, const Library& library) {
  const std::string reason = "CUPTI (" + library.path + ", " + version_text(library.version) + ") refuses " +
                             operation + ": " + library.status_text(status);
  switch (status) {
    case kInsufficientPrivileges:
      return {reason,
              "the driver lets only administrators profile: run as root or with CAP_SYS_ADMIN, or let all: "
              "options nvidia NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d/, then reload the driver "
              "(https://developer.nvidia.com/ERR_NVGPUCTRPERM)"};
    case kMultipleSubscribers:
    case kMaxLimitReached:
      return {reason,
              "another tool uses CUPTI in this process, and CUPTI serves one tool: run without Nsight, nvprof, "
              "cuda-gdb, and the library in CUDA_INJECTION64_PATH"};
    case kVirtualised:
    case kVirtualisedPrivileges:
      return {reason,
              "the GPU is virtual and its host does not let guests profile: enable that on the host, or measure on the "
              "host"};
    case kConfidential:
      return {reason, "the GPU is in confidential computing mode, which allows no profiling: leave that mode"};
    case kNotCompatible:
      return {reason, "use the CUPTI of a CUDA version that the driver supports: SYSCOST_CUPTI=/path/to/libcupti.so"};
    default:
      return {reason,
              "a CUPTI that is newer than the driver fails like this: name an older one with SYSCOST_CUPTI; "
              "durations by CUDA events need no CUPTI (docs/gpu.md)"};
  }
}

Result<void> verdict(const TrialEnd& end, const Library& library) {
  const std::string status =
      (end.driver_name[0] != '\0' ? std::string(end.driver_name) : "error") + " (" + std::to_string(end.status) + ")";
  switch (end.step) {
    case Step::driver:
      return Failure{std::string("CUPTI is here (") + library.path + "), but no NVIDIA driver: " + kDriver +
                         " was not found" + (end.device_errno == ENOENT ? "" : device_remark(end.device_errno)),
                     "run on a machine with an NVIDIA GPU and its driver; in a container: --gpus all (docs/gpu.md)"};
    case Step::initialise:
      if (end.device_errno == EACCES || end.device_errno == EPERM) {
        return Failure{
            "CUDA's driver does not start: " + status + device_remark(end.device_errno),
            "join the group that may open the file, or change its permissions: ls -l /dev/nvidia*; in a container: "
            "--gpus all (docs/gpu.md)"};
      }
      if (end.status == kNoDevice) break;
      if (end.status == kStubLibrary) {
        return Failure{std::string("the ") + kDriver + " is the toolkit's stub, not a driver",
                       "remove its folder from LD_LIBRARY_PATH, and install the driver"};
      }
      if (end.status == kDriverMismatch) {
        return Failure{"CUDA's driver does not start: " + status + ": its library and its kernel module differ",
                       "reboot, or reload the module, after an update of the driver"};
      }
      return Failure{"CUDA's driver does not start: " + status + device_remark(end.device_errno),
                     "check that nvidia-smi works"};
    case Step::devices:
      if (end.status == 0) break;
      return Failure{"CUDA's driver does not list its GPUs: " + status, "check that nvidia-smi works"};
    case Step::subscribe:
      return cupti_failure("a subscriber", end.status, library);
    case Step::enable:
      return cupti_failure("to record", end.status, library);
    case Step::whole:
      return {};
  }
  return Failure{"CUDA's driver sees no GPU" + device_remark(end.device_errno),
                 "run on a machine with a GPU; CUDA_VISIBLE_DEVICES may hide GPUs; in a container: --gpus all"};
}

Result<void> try_out(const Library& library) {
  if (void* loaded = dlopen(kDriver, RTLD_NOW | RTLD_NOLOAD); loaded != nullptr) {
    dlclose(loaded);
    return verdict(run_trial(library), library);
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno_failure("make", "a pipe to try CUPTI", errno);
  const pid_t child = fork();
  if (child < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    return errno_failure("fork", "to try CUPTI", error);
  }
  if (child == 0) {
    const TrialEnd end = run_trial(library);
    // One write of less than PIPE_BUF is whole.
    _exit(write(ends[1], &end, sizeof end) == static_cast<ssize_t>(sizeof end) ? 0 : 1);
  }
  close(ends[1]);
  TrialEnd end;
  const bool is_whole = receive(ends[0], end);
  close(ends[0]);
  if (!is_whole) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (is_whole) return verdict(end, library);
  return Failure{"CUPTI (" + library.path + ") could not be tested: the child process for the test " +
                     (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL
                          ? "was ended by signal " + std::to_string(WTERMSIG(status))
                          : "gave no answer"),
                 "check that nvidia-smi works; to use another CUPTI: SYSCOST_CUPTI=/path/to/libcupti.so"};
}

}  // namespace syscost::gpu::cupti
