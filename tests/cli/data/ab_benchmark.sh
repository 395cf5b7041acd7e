#!/bin/sh
# Stands for a Google Benchmark that is not linked with syscost: it writes where BENCHMARK_OUT says.
test "$BENCHMARK_OUT_FORMAT" = json && cp google_old.json "$BENCHMARK_OUT"
