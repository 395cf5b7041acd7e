// SPDX-License-Identifier: MIT
//
// The part of --syscost_doctor about the container in which it runs.
//
// The backends report the permissions that they lack. This file reports what only bpftrace needs, with the setting of
// the container engine that provides it.
#pragma once

#include <string>

#include "os/confinement.h"

namespace syscost::session {

/// Lines for the doctor, each with its line break; empty outside of containers.
std::string describe_container(const Confinement& here, bool has_tracefs);

}  // namespace syscost::session
