# Options, and the one function through which our own targets get their compiler settings.
#
# Warnings are errors in our own build only: a project that adds us by add_subdirectory keeps its flags, and a new
# compiler's new warning must not break it.

option(SYSCOST_BUILD_BENCH "Build the bench tool" ${PROJECT_IS_TOP_LEVEL})
option(SYSCOST_BUILD_DEMOS "Build the demos" ${PROJECT_IS_TOP_LEVEL})
option(SYSCOST_BUILD_GPU_DEMOS "Build the demos for GPUs, with CUDA or OpenCL where they are" ON)
option(SYSCOST_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SYSCOST_ALL_TESTS "Also build the tests that run every night: OFF leaves those of every change" ON)
option(SYSCOST_INSTALL "Create install rules" ${PROJECT_IS_TOP_LEVEL})
option(SYSCOST_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

include(syscost-adapter) # syscost_own_language

# syscost_compile_settings(TARGET [STANDARD]): language level and warnings of everything we compile ourselves.
function(syscost_compile_settings target)
  set(standard 20)
  if(ARGC GREATER 1)
    set(standard ${ARGV1})
  endif()
  syscost_own_language(${target} ${standard})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON
                                             CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion
                                           -Wnon-virtual-dtor -Wold-style-cast>)
  # clang's -Wconversion has -Wsign-conversion in it, GCC's has not.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-sign-conversion>)
  endif()
  # GCC bug 105651: at -O3, joining strings with operator+ warns falsely.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-Wno-restrict>)
  endif()
  if(SYSCOST_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# For code that runs inside a call of the program: no register but the general ones, which is all that is saved for it, and no
# call of memset or memcpy in the place of a loop. clang on x86 cannot read the standard headers with GCC's first flag.
# tests/unit/dispatch/check_inside_a_call looks for both in what was compiled.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(SYSCOST_INSIDE_A_CALL -mno-implicit-float -fno-builtin)
else()
  set(SYSCOST_INSIDE_A_CALL -mgeneral-regs-only -fno-tree-loop-distribute-patterns)
endif()

# For code that links nothing. Distributions ask for checks that end in a function of libc or of the C++ library. -Wp, because a
# compiler reads these after every -D, and some distributions write -Wp,-D.
set(SYSCOST_WITHOUT_LIBRARY_CHECKS -Wp,-U_GLIBCXX_ASSERTIONS -Wp,-U_FORTIFY_SOURCE)

set(SYSCOST_SANITIZE "" CACHE STRING "Sanitizers for everything built here, e.g. address,undefined or thread")
option(SYSCOST_BUILD_FUZZERS "Build the libFuzzer targets (needs clang)" OFF)
if(SYSCOST_SANITIZE AND PROJECT_IS_TOP_LEVEL)
  add_compile_options(-fsanitize=${SYSCOST_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SYSCOST_SANITIZE})
endif()
