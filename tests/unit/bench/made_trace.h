// SPDX-License-Identifier: MIT
//
// MadeTrace: the trace of a window, call by call, for tests of what is made of it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/trace_file.h"

namespace syscost::bench::testing {

class MadeTrace {
 public:
  /// A function of a call stack, and the line in it.
  struct Place {
    std::string_view function;
    std::string_view source;
    int line = 0;
  };
  using Arguments = std::vector<std::pair<std::string_view, std::string>>;

  /// A call of `thread` that takes 1000 ns; the next one begins when it has ended.
  MadeTrace& call(std::string_view name, const Arguments& arguments, const std::string& result,
                  std::uint32_t thread = 17) {
    trace::Call call;
    call.name = name;
    call.result = kept(result);
    call.site = site_;
    call.stack = stack_;
    call.start_ns = now_ns_;
    call.took_ns = took_ns_;
    call.thread = thread;
    call.first_note = file_.notes.size();
    call.note_count = arguments.size();
    for (const auto& [argument, text] : arguments) file_.notes.push_back({argument, kept(text), 0});
    file_.calls.push_back(call);
    now_ns_ += took_ns_;
    return *this;
  }
  MadeTrace& call(std::string_view name, const Arguments& arguments, std::int64_t result, std::uint32_t thread = 17) {
    return call(name, arguments, std::to_string(result), thread);
  }
  MadeTrace& open(const std::string& path, int descriptor, const std::string& flags = "O_RDONLY") {
    return call("openat", {{"dfd", "AT_FDCWD"}, {"filename", '"' + path + '"'}, {"flags", flags}}, descriptor);
  }
  MadeTrace& missing(const std::string& path) {
    return call("openat", {{"dfd", "AT_FDCWD"}, {"filename", '"' + path + '"'}, {"flags", "O_RDONLY"}},
                "-1 ENOENT (No such file or directory)");
  }
  /// A call with a descriptor as its only argument.
  MadeTrace& on(std::string_view name, int descriptor, std::int64_t result = 0) {
    return call(name, {{"fd", std::to_string(descriptor)}}, result);
  }
  /// The site of all later calls.
  MadeTrace& at(std::string_view site) {
    site_ = site;
    return *this;
  }
  /// The call stack of all later calls, outermost function first; {} = none.
  MadeTrace& through(const std::vector<Place>& places) {
    std::vector<std::uint32_t> frames;
    for (const Place& place : places) {
      const auto [at, is_new] = frames_.try_emplace({place.function, place.source, place.line}, file_.frames.size());
      if (is_new) {
        const std::string_view module = place.source.empty() ? "/lib/libc.so.6" : "/p";
        file_.frames.push_back({place.function, place.source, module, static_cast<std::uint64_t>(place.line)});
      }
      frames.push_back(at->second);
    }
    stack_ = 0;
    if (frames.empty()) return *this;
    stack_ = static_cast<std::uint32_t>(file_.stacks.size());
    file_.stacks.push_back(std::move(frames));
    return *this;
  }
  /// All later calls come from this line of a library's function, which the test calls once.
  MadeTrace& in_library(int line) {
    return through(
        {{"Log_Batch_Test::TestBody()", "log_test.cc", 10}, {"Log::batch", "src/log.cc", line}, {"lseek64", "", 1}});
  }
  /// The next call begins at this time.
  MadeTrace& from(std::uint64_t ns) {
    now_ns_ = ns;
    return *this;
  }
  MadeTrace& taking(std::uint64_t ns) {
    took_ns_ = ns;
    return *this;
  }

  const trace::TraceFile& file() {
    file_.slices = {{"test Suite.Test", 0, now_ns_, true, file_.calls.size(), file_.calls.size(), 0}};
    return file_;
  }

 private:
  std::string_view kept(std::string text) { return texts_.emplace_back(std::move(text)); }

  trace::TraceFile file_;
  std::deque<std::string> texts_;  ///< The file points into it.
  std::string_view site_;
  std::map<std::tuple<std::string_view, std::string_view, int>, std::uint32_t> frames_;
  std::uint32_t stack_ = 0;
  std::uint64_t now_ns_ = 0;
  std::uint64_t took_ns_ = 1000;
};

}  // namespace syscost::bench::testing
