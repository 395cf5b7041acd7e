# Debian packages, made by `cpack -G DEB` in a build folder: ./dev package makes them as they are meant to be installed, with
# prefix /usr and Debian's folder for libraries.
#
#   libsyscost0     the library, the launcher and scripts of profiles
#   libsyscost-dev  what a program is compiled and linked with
#   syscost-tools   bench, the eBPF helper, their manual pages and completions
#
# Each install rule names its component; what Debian's policy wants beside that, debian/finish.cmake adds.
set(SYSCOST_PACKAGE_MAINTAINER "syscost maintainers <maintainers@users.noreply.a-seed-ee2d658c.example>" CACHE STRING
    "Who answers for the Debian packages")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME syscost)
set(CPACK_PACKAGE_CONTACT "${SYSCOST_PACKAGE_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library devel tools)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(version "${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")

# What is opened at run time is in no list of dependencies.
set(opened "libbpf1, libdw1, libseccomp2")

# Lines of at most 79 characters, which Debian asks for. The synopsis is the first of each description.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(about "syscost is linked into the tests and benchmarks of a C++ project. Each
GoogleTest test and each Google Benchmark then reports the system calls that
it makes: how many, with which errors, and how long they take in the kernel.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libsyscost${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "${opened}, syscost-tools (= ${version})")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "bpftrace, linux-perf")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "system calls of C++ tests and benchmarks: library
${about}
.
This package has the library that measured programs load.")

set(CPACK_DEBIAN_DEVEL_PACKAGE_NAME libsyscost-dev)
set(CPACK_DEBIAN_DEVEL_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVEL_PACKAGE_DEPENDS "${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME} (= ${version})")
set(CPACK_DEBIAN_DEVEL_PACKAGE_RECOMMENDS "libgtest-dev")
set(CPACK_DEBIAN_DEVEL_PACKAGE_SUGGESTS "libbenchmark-dev, cmake, pkgconf")
set(CPACK_COMPONENT_DEVEL_DESCRIPTION "system calls of C++ tests and benchmarks: development files
${about}
.
This package has the headers, the files for CMake and pkg-config, and the
sources of the adapters for GoogleTest and Google Benchmark.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME syscost-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME} (= ${version})")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "libbpf1, libcurl4 | libcurl4t64 | libcurl3-gnutls | libcurl3t64-gnutls")
# What `bench run` starts needs the library, which is in another package.
syscost_built_prefix(built)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${built}/lib")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "system calls of C++ tests and benchmarks: tools
${about}
.
This package has bench, which summarises and compares what the tests
reported; what it needs to measure programs that are not linked with syscost;
and the helper that counts with eBPF for many programs at once.")

# For debian/finish.cmake: where things are, and which package each component becomes.
set(CPACK_SYSCOST_SOURCE "${PROJECT_SOURCE_DIR}")
set(CPACK_SYSCOST_VERSION "${version}")
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/debian/finish.cmake")
set(CPACK_POST_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/debian/triggers.cmake")
include(CPack)
