// SPDX-License-Identifier: MIT
//
// Manual pages, made of what --help says.
#pragma once

#include <string>
#include <string_view>

#include "command_tree.h"

namespace syscost::bench::shell {

/// bench(1), with a list of all commands; `command` is the root.
std::string main_page(const Command& command);

/// bench-COMMAND(1).
std::string command_page(const Command& command);

/// Returns the page of a program without a grammar. `help`: the output of its --help: a line `Usage: ...`, paragraphs,
/// `Options:`.
std::string page_of_help(const std::string& name, int section, const std::string& about, std::string_view help);

}  // namespace syscost::bench::shell
