// SPDX-License-Identifier: MIT
#include "cli/validators.h"

#include <cstddef>
#include <optional>
#include <string>

#include "cli/raw_options.h"

namespace syscost::bench::cli {

CLI::Validator not_empty() {
  return {[](const std::string& text) { return text.empty() ? std::string("it is empty") : std::string(); }, ""};
}

CLI::Validator at_least_1000() {
  return {[](const std::string& text) {
            const std::optional<std::size_t> number = whole_number(text);
            return number && *number >= 1000 ? std::string() : "it is a whole number from 1000 to 1000000000";
          },
          ""};
}

CLI::Validator at_least_1(std::size_t most) {
  return {[most](const std::string& text) {
            const std::optional<std::size_t> number = whole_number(text);
            return number && *number >= 1 && *number <= most ? std::string()
                                                             : "it is a whole number from 1 to " + std::to_string(most);
          },
          ""};
}

}  // namespace syscost::bench::cli
