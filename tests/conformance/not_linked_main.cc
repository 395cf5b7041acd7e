// SPDX-License-Identifier: MIT
//
// conformance_not_linked NAME: one case as a program of GoogleTest that knows nothing of syscost. `bench run` measures
// it: each window of the case is the body of a test.
//
// Exit status: that of the tests; 1 the case found the kernel's behaviour other than it assumes, 2 usage, 77 this
// machine lacks something the case needs.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <string>
#include <utility>

#include "case.h"

namespace conformance {
namespace {

constexpr int kSkipped = 77;

class Step : public testing::Test {
 public:
  explicit Step(const std::function<void()>& body) : body_(body) {}
  void TestBody() override {
    if (body_) body_();
  }

 private:
  const std::function<void()>& body_;
};

void add_step(const std::string& name, const std::function<void()>& body) {
  testing::RegisterTest("Conformance", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [&body]() -> testing::Test* { return new Step(body); });
}

int run(const Case& one) {
  const std::string missing = one.missing ? one.missing() : "";
  if (!missing.empty()) {
    std::printf("missing: %s\n", missing.c_str());
    return kSkipped;
  }
  if (!one.death_style.empty()) GTEST_FLAG_SET(death_test_style, one.death_style);
  if (one.early) one.early();
  // The tests start the backend, so `setup` is one of them.
  add_step("setup", one.setup);
  for (const Window& window : one.windows) add_step(not_linked_test(window), window.body);
  add_step("teardown", one.teardown);
  const int status = RUN_ALL_TESTS();
  for (const std::string& problem : problems()) std::fprintf(stderr, "conformance_not_linked: %s\n", problem.c_str());
  return problems().empty() ? status : 1;
}

}  // namespace
}  // namespace conformance

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const conformance::Case* const one = argc == 2 ? conformance::find_case(argv[1]) : nullptr;
  if (one == nullptr) {
    std::fprintf(stderr, "usage: conformance_not_linked NAME, of a case that conformance_case --list lists\n");
    return 2;
  }
  return conformance::run(*one);
}
