// SPDX-License-Identifier: MIT
//
// A stand-in for the library of NVIDIA's driver: it starts, or does not, and has as many GPUs as
// SYSCOST_TEST_CUDA_DEVICES says. SYSCOST_TEST_CUDA_INIT: what cuInit answers.
#include <cstdlib>

namespace {

int number(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): names of the library that it stands for
extern "C" {

int cuInit(unsigned) {
  return number("SYSCOST_TEST_CUDA_INIT", 0);
}

int cuDeviceGetCount(int* count) {
  *count = number("SYSCOST_TEST_CUDA_DEVICES", 1);
  return 0;
}

int cuGetErrorName(int status, const char** name) {
  *name = status == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" : "CUDA_ERROR_OF_THE_STANDIN";
  return 0;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
