// SPDX-License-Identifier: MIT
//
// The messages if CUPTI cannot record: for each way to fail, a cause and what to do about it.
#include "extras/gpu/cupti/library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace syscost::gpu::cupti {
namespace {

using Step = TrialEnd::Step;

Library library() {
  Library library;
  library.path = "libcupti.so.13";
  library.version = 130001;
  library.call.get_result_string = [](Status, const char** text) -> Status {
    *text = "CUPTI_ERROR_X";
    return kSuccess;
  };
  return library;
}

std::string text_of(Step step, int status, int device_errno = 0, const char* name = "") {
  TrialEnd end;
  end.step = step;
  end.status = status;
  end.device_errno = device_errno;
  std::strncpy(end.driver_name, name, sizeof end.driver_name - 1);
  const Result<void> result = verdict(end, library());
  return result.ok() ? "ok" : result.failure().reason + " | " + result.failure().how_to_fix;
}

void expect_all(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
}

TEST(CuptiVerdict, AWholeTrialIsFine) {
  EXPECT_EQ(text_of(Step::whole, 0), "ok");
}

TEST(CuptiVerdict, NoDriverIsNoGpu) {
  expect_all(text_of(Step::driver, 0, ENOENT), {"no NVIDIA driver: libcuda.so.1 was not found", "--gpus all"});
}

TEST(CuptiVerdict, ADeviceFileThatMayNotBeOpenedIsNamed) {
  expect_all(
      text_of(Step::initialise, 100, EACCES, "CUDA_ERROR_NO_DEVICE"),
      {"CUDA_ERROR_NO_DEVICE (100)", "/dev/nvidiactl cannot be opened: Permission denied", "ls -l /dev/nvidia*"});
}

TEST(CuptiVerdict, NoDeviceIsNoGpu) {
  expect_all(text_of(Step::initialise, 100), {"sees no GPU", "CUDA_VISIBLE_DEVICES"});
  expect_all(text_of(Step::devices, 0), {"sees no GPU"});
}

TEST(CuptiVerdict, ADriverOfTwoVersionsSaysSo) {
  expect_all(text_of(Step::initialise, 803, 0, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
             {"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)", "differ", "reboot"});
}

TEST(CuptiVerdict, TheToolkitsStubIsNoDriver) {
  expect_all(text_of(Step::initialise, 34), {"stub, not a driver", "LD_LIBRARY_PATH"});
}

TEST(CuptiVerdict, MissingPermissionSaysWhoMayGiveIt) {
  expect_all(text_of(Step::enable, 35),
             {"refuses to record: CUPTI_ERROR_X (35)", "NVreg_RestrictProfilingToAdminUsers=0"});
}

TEST(CuptiVerdict, AnotherToolIsInTheWay) {
  expect_all(text_of(Step::subscribe, 39), {"refuses a subscriber", "another tool uses CUPTI", "Nsight"});
  expect_all(text_of(Step::subscribe, 12), {"another tool uses CUPTI"});
}

TEST(CuptiVerdict, WhatIsUnknownKeepsItsName) {
  expect_all(text_of(Step::enable, 999), {"CUPTI_ERROR_X (999)", "CUDA 13.0", "SYSCOST_CUPTI"});
}

TEST(CuptiLibrary, OnesThatAreNotThereAreNamed) {
  const Result<Library> none = open_library("/nowhere/libcupti.so");
  ASSERT_FALSE(none.ok());
  expect_all(none.failure().reason, {"/nowhere/libcupti.so"});
}

TEST(CuptiLibrary, TheNewestIsTriedFirstAndCudaHomeLast) {
  setenv("CUDA_HOME", "/opt/cuda", 1);
  const std::vector<std::string> all = library_candidates();
  EXPECT_EQ(all.front(), "libcupti.so.13");
  EXPECT_NE(std::find(all.begin(), all.end(), "libcupti.so.11.8"), all.end());
  EXPECT_NE(std::find(all.begin(), all.end(), "/opt/cuda/extras/CUPTI/lib64/libcupti.so"), all.end());
  unsetenv("CUDA_HOME");
}

TEST(CuptiLibrary, VersionsReadAsTheyAreCalled) {
  EXPECT_EQ(version_text(18), "API 18");
  EXPECT_EQ(version_text(130001), "CUDA 13.0");
}

}  // namespace
}  // namespace syscost::gpu::cupti
