// SPDX-License-Identifier: MIT
//
// Whether CUPTI can record here, found out by doing: driver, device, permission, and that no other tool records
// already.
//
// In a child, because initialising CUDA would change what the tests see: their first use would not be the first any
// more, and a program that forks before it uses CUDA could not use it afterwards.
#pragma once

#include <string>

#include "gpu/cupti/library.h"
#include "os/result.h"

namespace syscost::gpu::cupti {

/// How far a trial came. Plain data: it comes through a pipe.
struct TrialEnd {
  enum class Step : int { driver, initialise, devices, subscribe, enable, whole } step = Step::driver;
  int status = 0;             ///< CUresult of the driver's steps, else CUPTI's.
  int devices = 0;            ///< Those that CUDA sees.
  int device_errno = 0;       ///< Of opening /dev/nvidiactl; 0 where that works.
  char driver_name[64] = {};  ///< What the driver calls its status.
};

/// What a trial's end means, with cause and fix; ok when it is whole.
Result<void> verdict(const TrialEnd& end, const Library& library);

/// The same for an error of CUPTI's. `operation`: "starting to record".
Failure cupti_failure(const std::string& operation, Status status, const Library& library);

/// Tries in a child. In this process where CUDA's driver is loaded already.
Result<void> try_out(const Library& library);

}  // namespace syscost::gpu::cupti
