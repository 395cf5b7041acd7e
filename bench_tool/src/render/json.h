// SPDX-License-Identifier: MIT
//
// JSON pieces that all commands share. Keys are stable; `schema_version` moves when one changes meaning or goes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "model/dataset.h"
#include "stats/window_summary.h"

namespace syscost::bench::render {

using Json = nlohmann::ordered_json;

inline constexpr int kJsonVersion = 1;

/// A whole number as an integer, else a floating-point number.
Json to_json(double value);
/// null when not measured.
Json to_json(std::optional<std::uint64_t> value);
/// {"n":, "median":, "min":, "max":}; null when not measured.
Json to_json(const stats::Numbers& numbers);
/// "file;desc" as ["file", "desc"].
Json classes_json(std::string_view classes);
/// Describes a RUN: its name, its files, and the identity of each program run that was used.
Json source_json(const model::Dataset& data);

/// Indented text with a line feed at the end. Bytes that are not UTF-8 are replaced, never an error; what cannot be
/// seen is escaped.
std::string dump(const Json& json);

}  // namespace syscost::bench::render
