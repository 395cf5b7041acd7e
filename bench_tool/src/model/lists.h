// SPDX-License-Identifier: MIT
//
// Lists inside one cell: classes `file;desc`, errnos `ENOENT:3 EINTR:1`, histograms `512:128 576:3`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "syscost/histogram.h"

namespace syscost::bench::model {

/// (errno name, count) in the order of the file; nullopt when the text is not such a list.
std::optional<std::vector<std::pair<std::string_view, std::uint64_t>>> parse_errnos(std::string_view text);

/// True when `text` is a list that parse_errnos() reads.
bool is_errnos(std::string_view text);

/// Adds the buckets of `text` to `histogram` (its exact figures are columns of their own). False when the text is not
/// such a list or names a bound that no bucket starts at; `histogram` may then hold a part of it.
bool add_histogram_text(std::string_view text, Histogram& histogram);

/// True when `classes` holds `word`: has_class("desc;volatile", "volatile").
bool has_class(std::string_view classes, std::string_view word);

}  // namespace syscost::bench::model
