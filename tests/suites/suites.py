# SPDX-License-Identifier: MIT
"""Test suites that we did not write: where their sources come from, and how they are built with us linked.

A suite's tests are GoogleTest's unless "framework" names another one. "programs" are programs of such a suite, and the words
that make each write its report to the file {xml}."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from backends import BACKENDS  # pylint: disable=wrong-import-position,unused-import

SUITES = {
    # Death tests, threads, captured output, flags. Some of its tests are meant to fail.
    "googletest": {"source": "/usr/src/googletest", "package": "googletest",
                   "cmake": ["-Dgtest_build_tests=ON", "-Dgmock_build_tests=OFF", "-DINSTALL_GTEST=OFF"],
                   "texts": {"googletest-output-test", "googletest-shuffle-test", "gtest_xml_outfiles_test",
                             "googletest-json-outfiles-test", "gtest_xml_output_unittest",
                             "googletest-json-output-unittest"}},
    # HiddenValuesAreRemoved races with a compaction in the background: bare, on a busy machine, 19 of 60 runs failed.
    # Its programs run benchmarks after their tests, which have no verdict. Some tests draw numbers from GoogleTest's seed.
    # MultiThreaded makes as many calls as it can in 10 s; Issue320 takes as long as all the others.
    "leveldb": {"package": "leveldb", "beside": True, "syncs": True, "cmake": ["-DLEVELDB_BUILD_BENCHMARKS=OFF"],
                "variables": {"GTEST_FILTER": "-DBTest.HiddenValuesAreRemoved:DBTest.MultiThreaded:Issue320.*", "BENCHMARK_FILTER": "^$", "GTEST_RANDOM_SEED": "1"}},
    # Threads, death tests, files; ours stands before its own main(). Of the other tests each is a program of its own.
    "glog": {"package": "google-glog", "cmake": ["-DBUILD_TESTING=ON", "-DWITH_GTEST=ON", "-DWITH_PKGCONFIG=OFF"]},
    "snappy": {"package": "snappy",
               "cmake": ["-DSNAPPY_BUILD_BENCHMARKS=OFF", "-DSNAPPY_ENABLE_RTTI=ON", "-DBUILD_SHARED_LIBS=ON"]},
    # Sockets: a client and a server in one process. It brings a GoogleTest of its own. What asks servers of the internet
    # is left out, because they answer as they please, and three tests that wait for 36 of 50 seconds.
    "c-ares": {"package": "c-ares", "beside": True, "gtest": "test/gmock-1.11.0", "targets": ["arestest"],
               "cmake": ["-DCARES_BUILD_TESTS=ON", "-DCARES_BUILD_TOOLS=OFF", "-DCARES_STATIC=ON", "-DCARES_SHARED=OFF"],
               "variables": {"GTEST_FILTER": "-*Live*:*SearchDomainsAllocFail*:*Resend/*"}},
    # Threads, death tests, signals. Its 200 test programs take an hour to compile; these are the ones that ask something
    # of the kernel, and some that do not.
    "abseil": {"package": "abseil",
               "cmake": ["-DCMAKE_BUILD_TYPE=", "-DABSL_BUILD_TESTING=ON", "-DBUILD_TESTING=ON", "-DCMAKE_CXX_STANDARD=17",
                         "-DABSL_USE_EXTERNAL_GOOGLETEST=ON", "-DABSL_FIND_GOOGLETEST=ON"],
               "targets": [f"absl_{name}_test" for name in (
                   "barrier blocking_counter notification per_thread_sem lifetime symbolize "
                   "failure_signal_handler demangle leak_check stack_consumption spinlock call_once raw_logging sysinfo "
                   "low_level_alloc thread_identity scoped_set_env log_severity strerror errno_saver atomic_hook invoke "
                   "throw_delegate endian flags_commandlineflag flags_config flags_flag flags_marshalling flags_parse "
                   "flags_path_util flags_program_name flags_reflection flags_sequence_lock flags_usage_config flags_usage "
                   "sample_recorder periodic_sampler time status statusor hashtablez_sampler cordz_handle cordz_info "
                   "str_split").split()]},
    # Servers with threads of their own, TLS, and clients, on loopback. Its authors build it by meson; without the
    # tests that need the internet, as Debian runs it; without those that failed or hung on a busy machine (they were not tried bare), and those that
    # wait for most of two minutes. Two of them end the program where a server is not up after 1 ms (bare, 8 of 40 runs did), and
    # one sends until its client has gone.
    "cpp-httplib": {"package": "cpp-httplib", "cmake": [], "beside": True, "ports": True,
                    "variables": {"GTEST_FILTER": "-*_Online:ClientProblemDetectionTest.*:ExceptionHandlerTest.ContentLength:"
                                                  "*Large*:SSLClientServerTest.*:KeepAliveTest.*:ServerTest.ClientStop:ServerStopTest.*:"
                                                  "SSLClientTest.ServerCertificateVerification4:HttpToHttpsRedirectTest.CertFile:"
                                                  "ServerTest.GetStreamedEndless"},
                    "lists": """
find_package(OpenSSL REQUIRED)
find_package(Threads REQUIRED)
set(test ${SOURCE}/test)
add_executable(httplib_test ${test}/test.cc ${test}/include_httplib.cc)
target_include_directories(httplib_test PRIVATE ${SOURCE})
target_compile_definitions(httplib_test PRIVATE CPPHTTPLIB_OPENSSL_SUPPORT CPPHTTPLIB_ZLIB_SUPPORT CPPHTTPLIB_USE_POLL
                                                CPPHTTPLIB_BROTLI_SUPPORT)
target_link_libraries(httplib_test PRIVATE gtest_main gtest OpenSSL::SSL z brotlienc brotlidec brotlicommon Threads::Threads)
set(here ${CMAKE_CURRENT_BINARY_DIR})
foreach(name www www2 www3 ca-bundle.crt image.jpg)
  file(COPY ${test}/${name} DESTINATION ${here})
endforeach()
function(openssl output)
  list(POP_FRONT ARGN command)
  if(NOT EXISTS ${here}/${output})
    execute_process(COMMAND openssl ${command} -out ${output} ${ARGN} WORKING_DIRECTORY ${here} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endfunction()
set(config -config ${test}/test.conf)
openssl(key.pem genrsa 2048)
openssl(temp_req req -new -batch ${config} -key key.pem)
openssl(cert.pem x509 -in temp_req -days 3650 -req -signkey key.pem)
openssl(cert2.pem req -x509 ${config} -key key.pem -sha256 -days 3650 -nodes -extensions SAN)
openssl(key_encrypted.pem genrsa -aes256 -passout pass:test123! 2048)
openssl(cert_encrypted.pem req -x509 ${config} -key key_encrypted.pem -passin pass:test123! -sha256 -days 3650 -nodes -extensions SAN)
openssl(rootCA.key.pem genrsa 2048)
openssl(rootCA.cert.pem req -x509 -new -batch -config ${test}/test.rootCA.conf -key rootCA.key.pem -days 1024)
openssl(client.key.pem genrsa 2048)
openssl(client_temp_req req -new -batch ${config} -key client.key.pem)
openssl(client.cert.pem x509 -in client_temp_req -days 370 -req -CA rootCA.cert.pem -CAkey rootCA.key.pem -CAcreateserial)
add_test(NAME httplib_test COMMAND httplib_test)
"""},
    # Pipes, descriptors and redirected output. Its authors' tests of compilers and installations are left out.
    "fmtlib": {"package": "fmtlib", "cmake": ["-DFMT_TEST=ON", "-DFMT_DOC=OFF"],
               "targets": [f"{name}-test" for name in ("args", "assert", "color", "core", "gtest-extra", "os", "ostream", "posix-mock",
                                                       "printf", "scan", "std", "unicode", "xchar")]},
    # Databases in files: locks, journals, fsync.
    "sqlitecpp": {"package": "sqlitecpp", "syncs": True,
                  "cmake": ["-DSQLITECPP_BUILD_TESTS=ON", "-DSQLITECPP_INTERNAL_SQLITE=OFF", "-DSQLITECPP_RUN_CPPLINT=OFF",
                            "-DSQLITECPP_RUN_CPPCHECK=OFF", "-DSQLITECPP_BUILD_EXAMPLES=OFF"]},
    # Catch2. Sockets of ZeroMQ, with its threads. ctest runs each test in a process of its own.
    "cppzmq": {"package": "cppzmq", "framework": "catch2", "beside": True, "ports": True, "cmake": ["-DCPPZMQ_BUILD_TESTS=ON"],
               "programs": {"tests/unit_tests": ["-r", "junit", "-o", "{xml}"]}},
    # Catch2. Log files, and threads that write them. With the compiled library; its authors build the same tests once more
    # for the headers alone.
    "spdlog": {"package": "spdlog", "framework": "catch2", "targets": ["spdlog-utests"],
               "cmake": ["-DSPDLOG_BUILD_TESTS=ON", "-DSPDLOG_FMT_EXTERNAL=ON", "-DSPDLOG_BUILD_EXAMPLE=OFF"],
               "programs": {"tests/spdlog-utests": ["-r", "junit", "-o", "{xml}"]}},
    # doctest. Allocators, also of virtual memory.
    "foonathan-memory": {"package": "foonathan-memory", "framework": "doctest", "cmake": [],
                         "programs": {"foonathan_memory_test": ["-r=junit", "-o={xml}"]}, "lists": """
set(FOONATHAN_MEMORY_BUILD_EXAMPLES OFF)
set(FOONATHAN_MEMORY_BUILD_TESTS OFF)
set(FOONATHAN_MEMORY_BUILD_TOOLS OFF)
add_subdirectory(${SOURCE} memory)
file(GLOB sources ${SOURCE}/test/*.cpp ${SOURCE}/test/detail/*.cpp)
list(FILTER sources EXCLUDE REGEX "/(profiling|benchmark)\\.cpp$")
add_executable(foonathan_memory_test ${sources})
target_include_directories(foonathan_memory_test PRIVATE ${SOURCE}/include/foonathan/memory /usr/include/doctest)
target_link_libraries(foonathan_memory_test PRIVATE foonathan_memory)
add_test(NAME test COMMAND foonathan_memory_test)
"""},
    # Pools of threads, futures, pipelines. Its authors leave out the tests that depend on the scheduler.
    "dispenso": {"git": ("https://github.com/facebookincubator/dispenso", "v1.6.2"), "cmake": [], "lists": """
set(CMAKE_CXX_STANDARD 17)
set(DISPENSO_WERROR OFF CACHE BOOL "")
find_package(GTest REQUIRED)
add_subdirectory(${SOURCE} dispenso)
file(GLOB sources ${SOURCE}/tests/*test.cpp)
list(FILTER sources EXCLUDE REGEX "/(shared_pool|priority|timed_task|timing)_test.cpp$")
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE dispenso GTest::gmock_main GTest::gmock GTest::gtest)
  add_test(NAME ${name} COMMAND ${name})
endforeach()
"""},
    # A client, and a server in a thread that is older than the tests. Without the tests that ask servers of the internet, and
    # one that fails by itself: bare, 4 of 6 runs did. Its server waits for a signal that may have come before: bare, 7 of 30
    # runs of two programs hung.
    "cpr": {"longest": 15, "variables": {"GTEST_FILTER": "-MultiAsyncCancelTests.CancellationOnQueue"}, "git": ("https://github.com/libcpr/cpr", "1.10.5"), "beside": True, "ports": True,
            "parts": {"mongoose": ("https://github.com/cesanta/mongoose", "7.7")},
            "cmake": ["-DCPR_BUILD_TESTS=ON", "-DCPR_BUILD_TESTS_SSL=OFF", "-DCPR_USE_SYSTEM_GTEST=ON", "-DCPR_USE_SYSTEM_CURL=ON",
                      "-DBUILD_SHARED_LIBS=OFF"]},
    # Event loops: files, sockets, pipes, timers, threads.
    "uvw": {"git": ("https://github.com/skypjack/uvw", "v3.0.0_libuv_v1.44"), "beside": True, "ports": True,
            "cmake": ["-DBUILD_TESTING=ON", "-DFIND_LIBUV=ON", "-DFIND_GTEST_PACKAGE=ON", "-DUSE_LIBCPP=OFF"]},
}


def give_up(why):
    print(f"{Path(sys.argv[0]).name}: {why}", file=sys.stderr)
    sys.exit(2)


def run(command, log, **options):
    """Runs `command`; its output goes to the file `log`, which the message names when it fails."""
    with open(log, "w", encoding="utf-8") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        give_up(f"{' '.join(map(str, command[:3]))} ... failed: see {log}")


def apt_source(package, work):
    """Unpacks the package's source with Debian's patches. The machine's own list of sources stays as it is."""
    found = sorted(path for path in work.glob(f"{package}-*") if path.is_dir())
    if found:
        return found[0]
    lists = work / "apt"
    (lists / "sources.d").mkdir(parents=True, exist_ok=True)
    (lists / "state" / "partial").mkdir(parents=True, exist_ok=True)
    for file in Path("/etc/apt/sources.list.d").glob("debian*.sources"):
        text = re.sub(r"^Types:.*$", "Types: deb-src", file.read_text(encoding="utf-8"), flags=re.M)
        (lists / "sources.d" / file.name).write_text(text, encoding="utf-8")
    apt = ["apt-get", "-o", "Dir::Etc::SourceList=/dev/null", "-o", f"Dir::Etc::SourceParts={lists / 'sources.d'}",
           "-o", f"Dir::State::Lists={lists / 'state'}", "-o", "APT::Sandbox::User=root"]
    if not any((lists / "state").glob("*Sources*")):
        run([*apt, "update"], work / "apt-update.log")
    run([*apt, "source", package], work / f"apt-source-{package}.log", cwd=work)
    return next(path for path in work.glob(f"{package}-*") if path.is_dir())


def git_source(url, tag, work):
    folder = work / f"{url.rpartition('/')[2]}-{tag}"
    if not folder.is_dir():
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        run(["git", "clone", "--quiet", "--depth=1", f"--branch={tag}", url, part], work / f"{folder.name}-clone.log")
        part.rename(folder)
    return folder


def source_of(suite, work):
    if "source" in suite:
        return Path(suite["source"])
    return git_source(*suite["git"], work) if "git" in suite else apt_source(suite["package"], work)


def adapter_for(gtest, name, args):
    """Our listener compiled against the GoogleTest that the suite brings: its classes differ between versions."""
    library = args.work / f"libsyscost_gtest_{name}.a"
    plugin = TOP / "plugin"
    adapters = plugin / "src" / "adapters"
    objects = []
    for unit in sorted([*(adapters / "gtest").glob("*.cc"), *(adapters / "names").glob("*.cc")]):
        if unit.name == "main.cc":
            continue
        objects.append(args.work / f"{name}-{unit.stem}.o")
        run(["c++", "-std=c++17", "-O1", "-fPIC", "-w", f"-I{gtest}", f"-I{plugin}/include", f"-I{plugin}/src", "-c", unit, "-o", objects[-1]],
            args.work / f"{name}-adapter.log")
    run(["ar", "rcs", library, *objects], args.work / f"{name}-adapter.log")
    return library


def build(name, suite, args, linked):
    """The folder where the suite is built. Linked or not, its objects are the same ones: only programs are made anew."""
    source = source_of(suite, args.work)
    if not source.is_dir():
        give_up(f"{source} is missing: apt-get install {suite.get('package', 'git')}")
    folder = args.work / name
    options = ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS=-w", *suite["cmake"]]
    options += [f"-DFETCHCONTENT_SOURCE_DIR_{name.upper()}={git_source(*part, args.work)}" for name, part in suite.get("parts", {}).items()]
    if shutil.which("ccache"):
        options += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
    ours, last = "", ""
    if linked:
        lib = (args.build / "lib").resolve()
        framework = suite.get("framework", "gtest")
        adapter = lib / f"libsyscost_{framework}.a"
        if "gtest" in suite:
            adapter = adapter_for(source / suite["gtest"], name, args)
        start = "" if framework == "gtest" else ",-u,main,--wrap=main"
        ours = f"-Wl,-u,syscost_{framework}_registration{start} {adapter} {lib}/libsyscost_late.a"
        # For programs that are no tests and link no GoogleTest, which ours need.
        last = "" if "source" in suite or "gtest" in suite or framework != "gtest" else "-lgtest -lpthread"
    # Before the program's own objects and libraries, which bring GoogleTest; of shared libraries none gets ours, nor do
    # the programs by which CMake tries the C compiler.
    options += [f"-DCMAKE_CXX_LINK_FLAGS={ours}", f"-DCMAKE_CXX_STANDARD_LIBRARIES={last}"]
    if "lists" in suite:
        lists = args.work / f"{name}-lists"
        lists.mkdir(exist_ok=True)
        (lists / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.21)\nproject(suite CXX)\nenable_testing()\nset(SOURCE {source})\n{suite['lists']}",
            encoding="utf-8")
        source = lists
    run(["cmake", "-S", source, "-B", folder, *options], args.work / f"{name}-configure.log")
    targets = ["--target", *suite["targets"]] if "targets" in suite else []
    run(["cmake", "--build", folder, "-j", str(args.jobs), *targets], args.work / f"{name}-build.log")
    return folder
