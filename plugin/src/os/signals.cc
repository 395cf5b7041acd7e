// SPDX-License-Identifier: MIT
#include "os/signals.h"

namespace syscost {
namespace {

bool is_set(const itimerval& alarm) {
  return alarm.it_value.tv_sec != 0 || alarm.it_value.tv_usec != 0;
}

}  // namespace

PausedAlarm::PausedAlarm() {
  const itimerval none{};
  if (getitimer(ITIMER_REAL, &left_) != 0 || !is_set(left_) || setitimer(ITIMER_REAL, &none, &left_) != 0) left_ = {};
}

PausedAlarm::~PausedAlarm() {
  itimerval now{};
  if (!is_set(left_) || getitimer(ITIMER_REAL, &now) != 0 || is_set(now)) return;
  setitimer(ITIMER_REAL, &left_, nullptr);
}

}  // namespace syscost
