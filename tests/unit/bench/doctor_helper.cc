// SPDX-License-Identifier: MIT
//
// Stands for somebody's shared test helper that brings syscost along: it knows syscost_doctor, the program does not.
[[gnu::visibility("default")]] const char* helper_flag() {
  return "--syscost_doctor";
}
