// SPDX-License-Identifier: MIT
//
// The names of one ioctl's device and request, apart from each other: for those who print a call, not a row.
#pragma once

#include "core/call_detail.h"

namespace syscost {

/// The names by the namer of the device's driver; the device's is its node if the namer has no other. Both empty if no
/// namer knows the device. As detail_text(): between windows only.
RequestNames request_names(const CallDetail& detail);

}  // namespace syscost
