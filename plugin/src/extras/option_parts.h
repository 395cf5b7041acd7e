// SPDX-License-Identifier: MIT
//
// The options of each extra: its flags, their words, and what does not go together with them. option_parts() lists
// them; what a flag asks for is a member of ExtraOptions (extras/extra_options.h).
#pragma once

#include "session/options/option_table.h"

namespace syscost::session {

extern const OptionPart kToolOptions;
extern const OptionPart kWhereOptions;
extern const OptionPart kTraceOptions;
extern const OptionPart kSchedulerOptions;
extern const OptionPart kFaultOptions;

}  // namespace syscost::session
