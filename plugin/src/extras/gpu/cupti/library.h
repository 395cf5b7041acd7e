// SPDX-License-Identifier: MIT
//
// libcupti, opened at run time, and the trial of whether it can record here. A program linked with syscost needs no
// libcupti, and whichever CUDA is installed serves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "os/errors.h"

namespace syscost::gpu::cupti {

/// CUptiResult.
using Status = int;
inline constexpr Status kSuccess = 0;

/// The functions that are used, as cupti.h declares them; handles are pointers.
struct Functions {
  using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
  using BufferCompleted = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                   std::size_t valid_size);
  using Callback = void (*)(void* user, int domain, std::uint32_t id, const void* data);

  Status (*get_version)(std::uint32_t* version) = nullptr;
  Status (*get_result_string)(Status status, const char** text) = nullptr;
  Status (*get_timestamp)(std::uint64_t* now_ns) = nullptr;
  Status (*subscribe)(void** subscriber, Callback callback, void* user) = nullptr;
  Status (*unsubscribe)(void* subscriber) = nullptr;
  Status (*register_callbacks)(RequestBuffer request, BufferCompleted completed) = nullptr;
  Status (*enable)(int kind) = nullptr;
  Status (*disable)(int kind) = nullptr;
  Status (*next_record)(std::uint8_t* buffer, std::size_t valid_size, std::uint8_t** record) = nullptr;
  Status (*dropped_records)(void* context, std::uint32_t stream, std::size_t* dropped) = nullptr;
  Status (*flush)(std::uint32_t flag) = nullptr;
};

struct Library {
  Functions call;
  std::uint32_t version = 0;
  std::string path;  ///< As it was opened.

  /// "CUPTI_ERROR_...", with its number.
  std::string status_text(Status status) const;
};

/// Names and paths that are tried when none is given: the loader's, the newest first, then where CUDA_HOME, CUDA_PATH
/// and /usr/local/cuda have it.
std::vector<std::string> library_candidates();

/// Opens the first that can be, `only` alone when it is not empty. Fails with cause and fix: there is none, it lacks a
/// function, it is too old or too new. Stays open.
Result<Library> open_library(const std::string& only);

/// "CUDA 13.0" of 130001; "API 18" of what stands before.
std::string version_text(std::uint32_t version);

// A trial finds out whether driver, device and permission are there, and that no other tool records already.
//
// It is made in a child, because initialising CUDA would change what the tests see: their first use would not be the
// first any more, and a program that forks before it uses CUDA could not use it afterwards.

/// How far a trial came. Plain data: it comes through a pipe.
struct TrialEnd {
  enum class Step : int { driver, initialise, devices, subscribe, enable, whole } step = Step::driver;
  int status = 0;             ///< CUresult of the driver's steps, else CUPTI's.
  int devices = 0;            ///< Those that CUDA sees.
  int device_errno = 0;       ///< From opening /dev/nvidiactl; 0 where that works.
  char driver_name[64] = {};  ///< The driver's name for its status.
};

/// The meaning of a trial's end, with cause and fix; ok when it is whole.
Result<void> verdict(const TrialEnd& end, const Library& library);

/// The same for an error of CUPTI's. `operation`: "starting to record".
Failure cupti_failure(const std::string& operation, Status status, const Library& library);

/// Tries in a child. In this process where CUDA's driver is loaded already.
Result<void> try_out(const Library& library);

}  // namespace syscost::gpu::cupti
