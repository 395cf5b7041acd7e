# SPDX-License-Identifier: MIT
#
# From ctest's JUnit file to "N passed, N failed, N skipped". Called by ./dev test.
#
# A test that could not start (no program, a failed fixture) is "notrun" to ctest, like one that skipped itself; its own
# counts in the file's head mix the two. Only a test that skipped itself names its skip property. Whatever neither passed
# nor skipped has failed.
/<testcase / {
  ran = / status="run"/
  disabled = / status="disabled"/
  if (ran) passed++
  else if (disabled) skipped++
  else failed++
}
/^[ \t]*<skipped message="SKIP_/ && !ran && !disabled {
  failed--
  skipped++
}
END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }
