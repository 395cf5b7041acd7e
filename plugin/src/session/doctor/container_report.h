// SPDX-License-Identifier: MIT
//
// What --syscost_doctor says of the container it runs in.
//
// The backends say which permission they lack. What no backend needs, and bpftrace does, is said here, where the
// engine's line that grants it can be named.
#pragma once

#include <string>

#include "os/confinement.h"

namespace syscost::session {

/// Lines for the doctor, each ended; empty outside of containers.
std::string describe_container(const Confinement& here, bool has_tracefs);

}  // namespace syscost::session
