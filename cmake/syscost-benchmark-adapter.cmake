# Builds syscost::benchmark and syscost::benchmark_main, in the build that includes this, against the Google Benchmark
# that build uses.
#
# syscost_add_benchmark_adapter(SOURCE_DIR folder BENCHMARK target SOURCES file... MAIN_SOURCES file...) defines, with
# `folder` as the include root of the adapter's own headers, the targets syscost_benchmark and syscost_benchmark_main and
# their aliases.
#
# The adapter stands before some functions of Google Benchmark by `--wrap`: the linker gives every reference to them from
# the program's objects and archives to the adapter. As interface options these travel through the consumer's own
# INTERFACE and STATIC helper libraries, and reach shared libraries that link syscost::benchmark as well.
#
# Works with CMake 3.16, as everything a consumer's build sees.

cmake_policy(VERSION 3.16...3.25)  # of what this file defines, however old the project is

# Sets `result` to the target of the Google Benchmark that this build uses, looking for an installed one only when the
# build has none.
macro(syscost_find_benchmark result)
  set(${result} "")
  if(NOT TARGET benchmark::benchmark AND NOT TARGET benchmark)
    find_package(benchmark QUIET)
  endif()
  foreach(syscost_candidate benchmark::benchmark benchmark)
    if(TARGET ${syscost_candidate})
      set(${result} ${syscost_candidate})
      break()
    endif()
  endforeach()
endmacro()

# Sets `result` to the linker options of every program that is measured.
function(syscost_benchmark_link_options result)
  set(run "_ZN9benchmark22RunSpecifiedBenchmarksE")
  set(reporter "PNS_17BenchmarkReporterE")
  set(string "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE")
  set(options "LINKER:-u,syscost_benchmark_registration")
  foreach(symbol ${run}v ${run}${string} ${run}${reporter} ${run}${reporter}${string} ${run}${reporter}S1_
                 ${run}${reporter}S1_${string} _ZN9benchmark10InitializeEPiPPcPFvvE
                 _ZN9benchmark5State16StartKeepRunningEv _ZN9benchmark5State17FinishKeepRunningEv
                 _ZN9benchmark5State11PauseTimingEv _ZN9benchmark5State12ResumeTimingEv
                 _ZN9benchmark8internal9Benchmark10ComplexityENS_4BigOE
                 _ZN9benchmark8internal9Benchmark10ComplexityEPFdlE
                 _ZN9benchmark9Benchmark10ComplexityENS_4BigOE _ZN9benchmark9Benchmark10ComplexityEPFdlE)
    list(APPEND options "LINKER:--wrap=${symbol}")
  endforeach()
  set(${result} "${options}" PARENT_SCOPE)
endfunction()

include("${CMAKE_CURRENT_LIST_DIR}/syscost-adapter.cmake")

function(syscost_add_benchmark_adapter)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_DIR;BENCHMARK" "SOURCES;MAIN_SOURCES")
  syscost_benchmark_link_options(link_options)
  syscost_add_adapter(benchmark SOURCE_DIR "${arg_SOURCE_DIR}" FRAMEWORK ${arg_BENCHMARK} LINK_OPTIONS ${link_options}
                      SOURCES ${arg_SOURCES} MAIN_SOURCES ${arg_MAIN_SOURCES})
endfunction()
