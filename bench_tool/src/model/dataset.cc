// SPDX-License-Identifier: MIT
#include "model/dataset.h"

#include "csv/printable.h"

namespace syscost::bench::model {

void Dataset::make_printable() {
  names.make_printable();
  name = csv::printable(name);
  for (std::string& file : files) file = csv::printable(file);
}

}  // namespace syscost::bench::model
