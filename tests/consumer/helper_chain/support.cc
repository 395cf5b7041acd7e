// SPDX-License-Identifier: MIT
//
// The code of a project's own test support library. The tests need not use it.
int answer_of_the_test_support() {
  return 42;
}
