// SPDX-License-Identifier: MIT
//
// A session for tests, and the rows it wrote. The test makes the calls that its backend counts.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/fake_backend.h"
#include "csv/temporary_folder.h"
#include "extras/profilers/session/tracing.h"
#include "session/session.h"
#include "syscost/schema.h"

namespace syscost::session {

using ::syscost::testing::FakeBackend;
using ::syscost::testing::read_file;
using ::syscost::testing::TemporaryFolder;

/// A FakeBackend that outlives the session and can be taken away as a test that closes all descriptors does.
class FrailBackend final : public Backend {
 public:
  using Watcher = std::function<void(const char*)>;
  FrailBackend(FakeBackend& fake, const bool& is_gone, const Watcher& watcher)
      : fake_(fake), is_gone_(is_gone), watcher_(watcher) {}
  std::string_view name() const override { return fake_.name(); }
  Capabilities capabilities() const override { return fake_.capabilities(); }
  Calibration calibration() const override { return {.armed_ns_per_call = 100, .measured = true}; }
  std::optional<AcquiredLane> acquire_lane() override { return fake_.acquire_lane(); }
  Generation boundary(Lane lane, Next next) override {
    if (watcher_ && lane == Lane::kProcess) watcher_(next == Next::kArm ? "ours opens" : "ours closes");
    return fake_.boundary(lane, next);
  }
  void read(Lane lane, CallTable& into) override { fake_.read(lane, into); }
  void read_crossings(CrossingSink& sink) override { fake_.read_crossings(sink); }
  Losses losses() const override { return fake_.losses(); }
  Result<std::uint64_t> hidden_losses() override {
    if (is_gone_) return Failure{"the fake was taken away", "give it back"};
    return fake_.hidden_losses();
  }
  std::uint64_t hidden_losses_beside_scopes() const override { return fake_.hidden_losses_beside_scopes(); }
  Result<void> detach() override {
    if (watcher_) watcher_("ours comes off");
    return {};
  }
  Result<void> attach() override {
    if (watcher_) watcher_("ours goes on");
    return {};
  }
  void retire() override {
    if (watcher_) watcher_("ours retires");
  }

 private:
  FakeBackend& fake_;
  const bool& is_gone_;
  const Watcher& watcher_;
};

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    options_.csv = folder_.file("out.csv");
    options_.run_id = "run";
    options_.commit = "none";
  }

  Session& session() {
    if (session_ == nullptr) {
      const BackendOpener opener = [this](const Options& options) -> Result<std::unique_ptr<Backend>> {
        if (!opens_) return Failure{"no backend here", "get one"};
        is_gone_ = false;
        fake_.select(options.filter.get());
        if (watcher_) watcher_("ours begins");
        return std::unique_ptr<Backend>(std::make_unique<FrailBackend>(fake_, is_gone_, watcher_));
      };
      session_ = std::make_unique<Session>(options_, opener, [this](const PartContext& context) {
        Parts parts = make_parts(context);
        for (std::unique_ptr<Part>& part : parts) {
          if (part->name() == Tracing::kPart) part = std::make_unique<Tracing>(context.shared, tools_);
        }
        return parts;
      });
      adapter::Framework framework;
      framework.name = "unit";
      started_ = session_->start(framework);
    }
    return *session_;
  }

  void open(std::string_view test, int repetition = 0) {
    adapter::WindowName name;
    name.test = test;
    name.repetition = repetition;
    session().windows().open(name);
  }

  /// The chosen columns of each window's rows, joined by '|', header left out. The rows of these tests hold no quotes.
  std::vector<std::string> rows(std::initializer_list<schema::Column> columns) const {
    std::vector<std::string> all;
    std::istringstream lines(read_file(options_.csv));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::vector<std::string> cells;
      std::istringstream fields(line + ",");
      for (std::string cell; std::getline(fields, cell, ',');) cells.push_back(cell);
      if (cells.at(static_cast<std::size_t>(schema::Column::kKind)) == schema::kKindRun) continue;
      std::string& row = all.emplace_back();
      for (schema::Column column : columns) row += cells.at(static_cast<std::size_t>(column)) + "|";
    }
    return all;
  }
  std::vector<std::string> keys() const {
    using schema::Column;
    return rows({Column::kKind, Column::kTest, Column::kWindow, Column::kParent, Column::kRepetition, Column::kRecord,
                 Column::kOutcome, Column::kTotalCalls, Column::kCalls});
  }

  using Keys = std::vector<std::string>;

  TemporaryFolder folder_;
  Options options_;
  FakeBackend fake_;
  FrailBackend::Watcher watcher_;  // told of what happens to the backend
  ToolOpener tools_ = open_tools;
  bool opens_ = true;
  bool is_gone_ = false;
  Result<void> started_;
  std::unique_ptr<Session> session_;
};

}  // namespace syscost::session
