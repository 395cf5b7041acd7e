// SPDX-License-Identifier: MIT
//
// MainWatch: at the process's end, explains why a program that requested counts ran no benchmark through its adapter.
#pragma once

#include "os/fork_detector.h"
#include "syscost/counting.h"

namespace syscost::session {

class MainWatch {
 public:
  adapter::SharedAdapterState& state() { return state_; }

  /// Prints a message if the program requested something, and ran to its end (exit code `status`) without the adapter.
  /// Ends the program with 2 if the adapter could not do what was requested.
  void explain_at_exit(int status) const;

 private:
  ForkDetector fork_detector_;
  adapter::SharedAdapterState state_;
};

/// The object of this process, made at the first call and never destroyed.
MainWatch& main_watch();

}  // namespace syscost::session
