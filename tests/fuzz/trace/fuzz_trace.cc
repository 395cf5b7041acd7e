// SPDX-License-Identifier: MIT
#include "fuzz_trace.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "commands/trace.h"
#include "trace/trace_file.h"

namespace syscost::bench::fuzz {
namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

bool is_part(std::string_view text, const std::vector<char>& bytes) {
  return text.empty() || (text.data() >= bytes.data() && text.data() + text.size() <= bytes.data() + bytes.size());
}

}  // namespace

void read_any_trace(const std::uint8_t* data, std::size_t size) {
  csv::Problems problems;
  const trace::TraceFile file = trace::read_trace("fuzz", std::vector<char>(data, data + size), problems);
  require(!file.calls.empty() || !file.slices.empty() || !file.program.empty() || file.process != 0 ||
              !problems.empty() || size != 0,
          "an empty file is a problem");
  commands::ShownTrace shown{file, {}};
  for (const trace::Call& call : file.calls) {
    require(is_part(call.name, file.bytes) && is_part(call.result, file.bytes) && is_part(call.site, file.bytes),
            "a text is a part of the file");
    require(call.first_note + call.note_count <= file.notes.size(), "a call's arguments are in the list");
    require(call.categories < file.categories.size(), "a call's categories are in the list");
    shown.calls.push_back(&call);
  }
  for (const trace::Slice& slice : file.slices)
    require(is_part(slice.name, file.bytes), "a name is a part of the file");
  constexpr std::size_t kNarrow = 40;
  (void)commands::trace_text(shown, render::Paint(true), kNarrow);
  (void)commands::trace_csv(shown);
  (void)commands::trace_json(shown);
}

}  // namespace syscost::bench::fuzz
