// SPDX-License-Identifier: MIT
//
// What a project's own test support library holds; the tests need not even use it.
int answer_of_the_test_support() {
  return 42;
}
