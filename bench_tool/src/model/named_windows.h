// SPDX-License-Identifier: MIT
//
// Which windows a command is about, decided from the key of their rows before the rows are kept.
#pragma once

#include <string>

#include "model/dataset.h"
#include "model/test_choice.h"

namespace syscost::bench::model {

/// True if `tests` chooses the window with `key`: a test's loops and scopes go with it; what is no test's goes by the
/// name that is printed.
bool is_chosen(Dataset& data, const Sample& key, const TestChoice& tests);

/// True if `text`, a name or a part of one, may mean the window with `key`. So may it where the window bears on how
/// one that is meant is shown: its loops, what tools saw of it, and windows of the same name in other programs.
bool may_be_meant(Dataset& data, const Sample& key, const std::string& text);

}  // namespace syscost::bench::model
