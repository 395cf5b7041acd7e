// SPDX-License-Identifier: MIT
#include "otlp/sender.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "otlp/encode.h"
#include "otlp/endpoints.h"

namespace syscost::bench::otlp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Reply status_of(long status) {
  Reply reply;
  reply.status = status;
  return reply;
}

Reply fault_of(const std::string& text, bool may_pass) {
  Reply reply;
  reply.fault = text;
  reply.may_pass = may_pass;
  return reply;
}

/// Answers from a list, the last one again and again.
class ScriptedTransport : public Transport {
 public:
  explicit ScriptedTransport(std::deque<Reply> replies) : replies_(std::move(replies)) {}
  Reply post(const Endpoint& /*to*/, const std::vector<Header>& /*headers*/, const std::string& /*body*/,
             milliseconds limit) override {
    limits.push_back(limit);
    Reply reply = replies_.front();
    if (replies_.size() > 1) replies_.pop_front();
    return reply;
  }

  std::vector<milliseconds> limits;

 private:
  std::deque<Reply> replies_;
};

/// A sender with a clock of the test: time passes only while the sender waits.
class Sending {
 public:
  Sending(std::deque<Reply> replies, milliseconds limit) : transport(std::move(replies)) {
    const Clock clock = {[this] { return std::chrono::steady_clock::time_point(passed()); },
                         [this](milliseconds time) { waits.push_back(time); }};
    Sender::Targets targets;
    targets.traces.url = "http://host/v1/traces";
    targets.traces.from = "--otlp";
    Sender sender(targets, transport, limit, clock, notes);
    is_sent = sender.send({Signal::traces, "{}", 1});
    fault = sender.fault();
    rejected = sender.rejected();
  }

  milliseconds passed() const {
    milliseconds sum{0};
    for (const milliseconds wait : waits) sum += wait;
    return sum;
  }

  ScriptedTransport transport;
  std::vector<milliseconds> waits;
  std::ostringstream notes;
  bool is_sent = false;
  std::string fault;
  std::uint64_t rejected = 0;
};

TEST(Sender, WaitsLongerAfterEachFailureUpToALimit) {
  const Sending sending({fault_of("Connection refused", true)}, seconds(120));
  EXPECT_FALSE(sending.is_sent);
  ASSERT_GE(sending.waits.size(), 8U);
  milliseconds longest{500};
  for (const milliseconds wait : sending.waits) {
    EXPECT_GE(wait, longest / 2);
    EXPECT_LE(wait, longest);
    longest = std::min(longest * 2, milliseconds(10'000));
  }
  EXPECT_LE(sending.passed(), seconds(120));
  EXPECT_GE(sending.passed(), seconds(100));
  EXPECT_NE(sending.fault.find("http://host/v1/traces: Connection refused; "), std::string::npos) << sending.fault;
}

TEST(Sender, GivesNoRequestMoreTimeThanIsLeft) {
  const Sending sending({status_of(503)}, seconds(12));
  EXPECT_EQ(sending.transport.limits.front(), seconds(10));
  for (const milliseconds limit : sending.transport.limits) EXPECT_LE(limit, seconds(12));
  EXPECT_LT(sending.transport.limits.back(), seconds(10));
}

TEST(Sender, WaitsAsLongAsTheReceiverAsks) {
  Reply busy = status_of(429);
  busy.retry_after = seconds(17);
  const Sending sending({busy, status_of(200)}, seconds(60));
  EXPECT_TRUE(sending.is_sent);
  EXPECT_EQ(sending.waits, std::vector<milliseconds>{seconds(17)});
}

TEST(Sender, DoesNotWaitForWhatIsBeyondItsLimit) {
  Reply busy = status_of(503);
  busy.retry_after = seconds(61);
  const Sending sending({busy, status_of(200)}, seconds(60));
  EXPECT_FALSE(sending.is_sent);
  EXPECT_TRUE(sending.waits.empty());
  EXPECT_NE(sending.fault.find("asks to wait 61 s"), std::string::npos) << sending.fault;
}

TEST(Sender, TriesOnlyAgainWhatMayPass) {
  for (const long status : {400L, 401L, 413L, 500L, 501L, 505L}) {
    const Sending sending({status_of(status), status_of(200)}, seconds(60));
    EXPECT_FALSE(sending.is_sent) << status;
    EXPECT_EQ(sending.transport.limits.size(), 1U);
  }
  for (const long status : {429L, 502L, 503L, 504L}) {
    EXPECT_TRUE(Sending({status_of(status), status_of(200)}, seconds(60)).is_sent) << status;
  }
  EXPECT_FALSE(Sending({fault_of("certificate", false), status_of(200)}, seconds(60)).is_sent);
}

TEST(Sender, NotesAFailureOnceAndNotEachTime) {
  const Sending sending({status_of(503), status_of(503), status_of(503), status_of(200)}, seconds(60));
  EXPECT_EQ(sending.notes.str(),
            "bench: http://host/v1/traces: it answered 503; bench tries again, for 60 s at most\n");
}

TEST(Sender, AddsUpWhatWasRejected) {
  Reply reply = status_of(200);
  reply.body = R"({"partialSuccess":{"rejectedSpans":"7"}})";
  EXPECT_EQ(Sending({reply}, seconds(60)).rejected, 7U);
}

TEST(Answer, OfAnythingElseIsNotTakenForASuccess) {
  EXPECT_TRUE(parse_answer(Signal::traces, "").is_understood);
  EXPECT_TRUE(parse_answer(Signal::traces, " \r\n").is_understood);
  EXPECT_TRUE(parse_answer(Signal::traces, "{}").is_understood);
  EXPECT_EQ(parse_answer(Signal::traces, R"({"partialSuccess":{"rejectedSpans":-3}})").rejected, 0U);
  EXPECT_EQ(parse_answer(Signal::metrics, R"({"partialSuccess":{"rejectedSpans":3}})").rejected, 0U);
  for (const char* body : {"OK", "[]", "{", "<html>", "\x01\x02"}) {
    EXPECT_FALSE(parse_answer(Signal::traces, body).is_understood) << body;
  }
}

TEST(Headers, AreReadAsOpenTelemetryWritesThem) {
  std::vector<Header> headers;
  EXPECT_EQ(parse_headers(" a=b , c = d%20e%3D,,", headers), "");
  ASSERT_EQ(headers.size(), 2U);
  EXPECT_EQ(headers[0].name, "a");
  EXPECT_EQ(headers[0].value, "b");
  EXPECT_EQ(headers[1].name, "c");
  EXPECT_EQ(headers[1].value, "d e=");
}

TEST(Headers, ThatWouldBeTwoAreRefused) {
  for (const char* text : {"a=b%0d%0ac: d", "a=b%0A", "a%0d=b", "a b=c", "=c", "a", "a=%", "a=%4", "a=%zz"}) {
    std::vector<Header> headers;
    EXPECT_NE(parse_headers(text, headers), "") << text;
  }
}

TEST(ShownUrl, HasNoQueryAndNoUser) {
  EXPECT_EQ(shown_url("https://you:secret@host:1/a?key=secret#x"), "https://host:1/a");
  EXPECT_EQ(shown_url("https://host/a@b"), "https://host/a@b");
}

}  // namespace
}  // namespace syscost::bench::otlp
