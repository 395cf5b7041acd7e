// SPDX-License-Identifier: MIT
//
// Which windows a command shows. The key of a row decides that before the row is kept.
#pragma once

#include <string>

#include "model/dataset.h"
#include "model/test_choice.h"

namespace syscost::bench::model {

/// True if `tests` chooses the window with `key`. A test brings its loops and scopes. A window of no test is chosen by
/// the name that is printed.
bool is_chosen(Dataset& data, const Sample& key, const TestChoice& tests);

/// True if `text`, a name or a part of one, may mean the window with `key`. Also true if the window is shown with one
/// that is meant: its loops, the same window as tools counted it, and windows of this name in other programs.
bool may_be_meant(Dataset& data, const Sample& key, const std::string& text);

}  // namespace syscost::bench::model
