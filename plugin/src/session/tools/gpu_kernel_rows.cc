// SPDX-License-Identifier: MIT
#include "session/tools/gpu_kernel_rows.h"

#include "syscost/schema.h"

namespace syscost::session {

void add_gpu_kernel_rows(Recorder& recorder, const csv::WindowColumns& traced,
                         const std::vector<profilers::TimeFigure>& times, const TakeRepetitions& take_repetitions) {
  const std::string loop = traced.kind == "loop" ? "loop " + std::string(traced.window) + ": " : std::string();
  for (const profilers::TimeFigure& figure : times) {
    const std::string window = loop + figure.name;
    csv::WindowColumns row;
    row.kind = schema::kKindGpuKernel;
    row.test = traced.test;
    row.window = window;
    row.parent = traced.parent;
    row.excluded = figure.note;
    row.repetition = take_repetitions(window, figure.rows.size());
    for (const profilers::TimeRow& time : figure.rows) {
      row.iterations = time.iterations;
      row.wall_ns = time.total_ns;
      recorder.add(row, nullptr, {});
      ++row.repetition;
    }
  }
}

}  // namespace syscost::session
