// SPDX-License-Identifier: MIT
//
// A process between its tests: its own thread, threads that begin and end there, children, and a server
// that is older than all tests. The numbers of getppid are known. When the server closes what `Gap` hands over is not:
// it may be in the test, after it, or in the next one.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <thread>

namespace {

void ask_parent(int times) {
  for (int i = 0; i < times; ++i) getppid();
}

/// A thread that closes descriptors as it gets them.
class Server {
 public:
  static constexpr int kAskParent = -1;

  Server() {
    if (pipe(requests_) != 0 || pipe(answers_) != 0) std::abort();
    thread_ = std::thread([this] { run(); });
  }
  ~Server() {
    close(requests_[1]);
    thread_.join();
    for (const int end : {requests_[0], answers_[0], answers_[1]}) close(end);
  }
  void tell(int request) {
    if (write(requests_[1], &request, sizeof request) != sizeof request) std::abort();
  }
  /// It makes 5 calls of getppid, and they are over.
  void make_calls() {
    tell(kAskParent);
    char answer = 0;
    if (read(answers_[0], &answer, 1) != 1) std::abort();
  }

 private:
  void run() {
    int request = 0;
    while (read(requests_[0], &request, sizeof request) == sizeof request) {
      if (request != kAskParent) {
        close(request);
        continue;
      }
      ask_parent(5);
      if (write(answers_[1], "", 1) != 1) std::abort();
    }
  }

  int requests_[2] = {};
  int answers_[2] = {};
  std::thread thread_;
};

std::unique_ptr<Server> server;

class Servers : public testing::Environment {
  void SetUp() override { server = std::make_unique<Server>(); }
  void TearDown() override { server.reset(); }
};

/// Works before each test and after it.
class Works : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    ask_parent(2);
    std::thread([] { ask_parent(3); }).join();
    const pid_t child = fork();
    if (child == 0) {
      ask_parent(100);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  void OnTestEnd(const testing::TestInfo&) override { server->make_calls(); }
};

[[maybe_unused]] const bool is_prepared = [] {
  testing::AddGlobalTestEnvironment(new Servers);
  testing::UnitTest::GetInstance()->listeners().Append(new Works);
  return true;
}();

class Gap : public testing::TestWithParam<int> {};

TEST_P(Gap, HandsOver) {
  ask_parent(7);
  for (int i = 0; i < 3; ++i) server->tell(open("/dev/null", O_RDONLY));
}
INSTANTIATE_TEST_SUITE_P(Many, Gap, testing::Range(0, 20));

TEST(Ends, ByExit) {
  if (std::getenv("TEST_EXITS") != nullptr) std::exit(3);
}

TEST(Ends, ByASignal) {
  if (std::getenv("TEST_CRASHES") != nullptr) std::abort();
}

}  // namespace
