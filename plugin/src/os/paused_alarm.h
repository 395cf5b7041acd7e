// SPDX-License-Identifier: MIT
//
// PausedAlarm: the process's alarm (alarm(2), ITIMER_REAL) does not run while work of ours makes the program late.
//
// A test may set an alarm and return: it knows that the program ends before the alarm. Writing a trace of the test, or
// finding its lines, may take longer, and SIGALRM would end the program before its verdict.
#pragma once

#include <sys/time.h>

namespace syscost {

/// From its construction to its destruction. The alarm then has as much time left as before. Makes one or two syscalls
/// each, so outside of windows only. An alarm that another thread sets meanwhile stays; one that another thread cancels
/// meanwhile comes back.
class PausedAlarm {
 public:
  PausedAlarm();
  ~PausedAlarm();
  PausedAlarm(const PausedAlarm&) = delete;
  PausedAlarm& operator=(const PausedAlarm&) = delete;

 private:
  itimerval left_{};  // all 0: there was no alarm
};

}  // namespace syscost
