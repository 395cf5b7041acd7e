#!/bin/sh
# Stands for a test binary: it knows syscost_doctor, and shows what it was given.
echo "$@"
