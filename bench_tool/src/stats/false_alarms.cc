// SPDX-License-Identifier: MIT
#include "stats/false_alarms.h"

#include <fmt/format.h>

#include <boost/math/distributions/chi_squared.hpp>

namespace syscost::bench::stats {

double FalseAlarms::at_most() const {
  // The upper 95 % bound of a Poisson mean of which `departed` were counted (Garwood 1936).
  const boost::math::chi_squared_distribution<double> distribution(2.0 * (static_cast<double>(departed) + 1));
  return boost::math::quantile(distribution, 0.95) / 2 / static_cast<double>(runs);
}

std::string FalseAlarms::text() const {
  const std::string what = "false alarms of a run that changes nothing: ";
  if (!is_known()) {
    return fmt::format("{}not known from {} run{}; give {} or more", what, runs, runs == 1 ? "" : "s", kFewestRuns);
  }
  return fmt::format(
      "{}about {:.1f} tests, at most {:.1f} with 95 % confidence ({} red when each of {} runs is compared with the "
      "others)",
      what, expected(), at_most(), departed, runs);
}

}  // namespace syscost::bench::stats
