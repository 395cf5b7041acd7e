// SPDX-License-Identifier: MIT
#include "session/options/options.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace syscost::session {
namespace {

using Arguments = std::vector<std::string>;

Result<ParsedOptions> parse(Arguments arguments, const Arguments& environment = {},
                            Spelling spelling = Spelling::prefixed) {
  arguments.insert(arguments.begin(), "program");
  return parse_options(arguments, environment, spelling);
}

Options options(const Arguments& arguments, const Arguments& environment = {}) {
  Result<ParsedOptions> parsed = parse(arguments, environment);
  EXPECT_TRUE(parsed.ok()) << parsed.failure().reason;
  return parsed.ok() ? parsed.value().options : Options{};
}

/// Cause and fix, or "" when all is well.
std::string complaint(const Arguments& arguments, const Arguments& environment = {},
                      Spelling spelling = Spelling::prefixed) {
  Result<ParsedOptions> parsed = parse(arguments, environment, spelling);
  return parsed.ok() ? "" : parsed.failure().reason + " | " + parsed.failure().how_to_fix;
}

TEST(Options, AsksForNothingWithoutFlagsAndVariables) {
  EXPECT_FALSE(options({"--gtest_filter=A.*", "--csv", "mine"}, {"PATH=/bin", "SYSCOSTX=1"}).requests_anything());
}

TEST(Options, TakesValuesAfterASpaceAndAfterAnEqualsSign) {
  EXPECT_EQ(options({"--syscost_csv", "a.csv"}).csv, "a.csv");
  EXPECT_EQ(options({"--syscost_csv=a.csv"}).csv, "a.csv");
  EXPECT_EQ(options({"--syscost_label=x=y, z", "--syscost_csv=a"}).label, "x=y, z");
  EXPECT_EQ(options({"--syscost_csv=--odd"}).csv, "--odd");
}

TEST(Options, PrefersTheFlagToTheVariable) {
  Options both = options({"--syscost_csv=flag.csv"}, {"SYSCOST_CSV=variable.csv"});
  EXPECT_EQ(both.csv, "flag.csv");
  EXPECT_EQ(both.csv_source, Source::command_line);
  Options variable = options({}, {"SYSCOST_CSV=variable.csv"});
  EXPECT_EQ(variable.csv, "variable.csv");
  EXPECT_EQ(variable.csv_source, Source::environment);
}

TEST(Options, LetsTheLastFlagWin) {
  EXPECT_EQ(options({"--syscost_csv=a", "--syscost_csv=b"}).csv, "b");
}

TEST(Options, RefusesAFlagThatLabelsNothing) {
  EXPECT_EQ(complaint({"--syscost_label=after"}),
            "--syscost_label requires --syscost_csv | add --syscost_csv=FILE, or leave the label "
            "out");
  EXPECT_EQ(complaint({"--syscost_label=after", "--syscost_profile=syscalls"}).substr(0, 15), "--syscost_label");
  EXPECT_EQ(complaint({"--syscost_label=after"}, {"SYSCOST_CSV=a"}), "");
  EXPECT_EQ(complaint({"--syscost_label=after", "--syscost_help"}), "");
  EXPECT_FALSE(options({}, {"SYSCOST_LABEL=nightly"}).requests_anything()) << "may be set for good";
}

TEST(Options, EndsAtTwoDashes) {
  EXPECT_FALSE(options({"--", "--syscost_csv=a"}).requests_anything());
}

TEST(Options, SaysWhichArgumentsWereItsOwn) {
  Result<ParsedOptions> parsed =
      parse({"--csv", "a", "--gtest_brief=1", "--label=x", "positional"}, {}, Spelling::prefixed_short);
  ASSERT_TRUE(parsed.ok()) << parsed.failure().reason;
  EXPECT_EQ(parsed.value().used, (std::vector<std::size_t>{1, 2, 4}));
}

TEST(Options, LeavesShortFormsToOthersUnlessTheMainIsOurs) {
  EXPECT_EQ(complaint({"--csv=mine", "--filter", "mine", "--quick"}), "");
  EXPECT_EQ(complaint({"--help"}, {}, Spelling::prefixed_short), "");
  EXPECT_EQ(complaint({"--children=3"}, {}), "");
  EXPECT_NE(complaint({"--children=3"}, {}, Spelling::prefixed_short).find("--children: \"3\" is not one of 1, 0"),
            std::string::npos);
}

TEST(Options, SuggestsTheNearestNameForAnUnknownOne) {
  EXPECT_EQ(complaint({"--syscost_cvs=x"}),
            "syscost has no flag --syscost_cvs | did you mean --syscost_csv? --syscost_help lists all");
  EXPECT_NE(complaint({"--syscost_porfile=x"}).find("--syscost_profile?"), std::string::npos);
  EXPECT_NE(complaint({}, {"SYSCOST_LABLE=x"}).find("did you mean SYSCOST_LABEL?"), std::string::npos);
}

TEST(Options, TakesNothingThatBeginsWithItsNameForSomebodyElses) {
  EXPECT_EQ(complaint({"--syscost-csv=x"}),
            "syscost has no flag --syscost-csv | did you mean --syscost_csv? --syscost_help lists all");
  EXPECT_NE(complaint({"--syscostcsv=x"}).find("did you mean --syscost_csv?"), std::string::npos);
  EXPECT_NE(complaint({"--syscost"}), "");
  EXPECT_EQ(complaint({"--", "--syscost-csv=x"}), "");
}

TEST(Options, CountsChildrenOnlyWhereAskedTo) {
  EXPECT_FALSE(options({"--syscost_csv=x"}).children);
  EXPECT_TRUE(options({"--syscost_children", "--syscost_csv=x"}).children);
  EXPECT_TRUE(options({}, {"SYSCOST_CHILDREN=1"}).children);
  EXPECT_FALSE(options({"--syscost_children=0"}, {"SYSCOST_CHILDREN=1"}).children);
  EXPECT_NE(complaint({"--syscost_children=perhaps"}).find("not one of 1, 0, true, false"), std::string::npos);
  EXPECT_NE(complaint({"--syscost_children", "--syscost_backend=none"}).find("none counts nothing"), std::string::npos);
  EXPECT_NE(complaint({"--syscost_children", "--syscost_detail=ioctl"}).find("do not work together"),
            std::string::npos);
}

TEST(Options, TellsCallsApartByTheirLinesOnlyWhereAskedTo) {
  EXPECT_FALSE(options({"--syscost_csv=x"}).where.wanted);
  EXPECT_TRUE(options({"--syscost_where", "--syscost_csv=x"}).where.wanted);
  EXPECT_TRUE(options({}, {"SYSCOST_WHERE=1"}).where.wanted);
  EXPECT_FALSE(options({"--syscost_where=0"}, {"SYSCOST_WHERE=skip=third_party"}).where.wanted);
  const WhereRequest where = options({"--syscost_where=skip=third_party,skip=/opt/lib"}).where;
  EXPECT_TRUE(where.wanted);
  EXPECT_EQ(where.skip, (std::vector<std::string>{"third_party", "/opt/lib"}));
  EXPECT_EQ(options({"--syscost_where=1"}, {"SYSCOST_WHERE=skip=third_party"}).where.skip, std::vector<std::string>());
  EXPECT_NE(complaint({"--syscost_where=perhaps"}).find("not one of skip=PATH, or alone: 1, 0, true, false"),
            std::string::npos);
  EXPECT_NE(complaint({"--syscost_where=skip="}).find("the path of a source file or folder is missing"),
            std::string::npos);
  EXPECT_NE(complaint({"--syscost_where=1,skip=a"}), "");
}

TEST(Options, RefusesLinesBesideWhatHasNone) {
  EXPECT_NE(complaint({"--syscost_where", "--syscost_backend=none"}).find("none counts nothing"), std::string::npos);
  EXPECT_NE(complaint({"--syscost_where", "--syscost_detail=ioctl"}).find("not by both"), std::string::npos);
  EXPECT_NE(complaint({"--syscost_where", "--syscost_children"}).find("dispatch ends in a child process"),
            std::string::npos);
  EXPECT_EQ(complaint({"--syscost_where=0", "--syscost_children"}), "");
  EXPECT_EQ(complaint({"--syscost_where", "--syscost_backend=dispatch-trap"}), "");
}

TEST(Options, TakesSeveralProfilesAtOnce) {
  const Options both = options({"--syscost_profile=syscalls,bpftrace"});
  EXPECT_TRUE(both.profile_syscalls);
  EXPECT_TRUE(both.profile_bpftrace);
  EXPECT_FALSE(both.profile_perf);
  EXPECT_TRUE(both.wants_tools());
  EXPECT_TRUE(options({"--syscost_profile", "perf"}).profile_perf);
  const Options flag = options({"--syscost_profile=bpftrace"}, {"SYSCOST_PROFILE=syscalls"});
  EXPECT_FALSE(flag.profile_syscalls) << "a flag wins over its variable";
  EXPECT_EQ(
      complaint({"--syscost_profile=syscalls,"}),
      "bad value of --syscost_profile: \"\" is not one of syscalls, bpftrace, perf, cupti, or several of them with "
      "commas between | --syscost_help shows examples");
}

TEST(Options, CuptiCountsNothingAndIsAlone) {
  const Options alone = options({"--syscost_profile=cupti"}, {"SYSCOST_CUPTI=/opt/libcupti.so"});
  EXPECT_TRUE(alone.wants_tools());
  EXPECT_EQ(alone.backend, BackendChoice::none);
  EXPECT_EQ(alone.cupti_library, "/opt/libcupti.so");
  EXPECT_EQ(options({"--syscost_profile=perf"}).backend, BackendChoice::automatic);
  EXPECT_EQ(complaint({"--syscost_profile=cupti", "--syscost_backend=none"}), "");
  for (const char* other : {"--syscost_backend=ebpf", "--syscost_children"}) {
    EXPECT_NE(complaint({"--syscost_profile=cupti", other}).find("run the program twice"), std::string::npos) << other;
  }
  for (const char* both : {"cupti,syscalls", "perf,cupti", "bpftrace,cupti"}) {
    EXPECT_NE(complaint({"--syscost_profile", both}).find("run the program twice"), std::string::npos) << both;
  }
  Options counting = alone;
  counting.become_counting_process();
  EXPECT_TRUE(counting.profile_cupti);
}

TEST(Options, TakesScriptsTheirFoldersAndWhereToPutWhatTheyFind) {
  const Options all = options({"--syscost_profile=bpftrace", "--syscost_bpf", "syslat,offcpu,syslat",
                               "--syscost_bpf_path=/a:b", "--syscost_bpf_sudo", "--syscost_artifacts=out"});
  EXPECT_EQ(all.scripts, (std::vector<std::string>{"syslat", "offcpu"})) << "each once";
  EXPECT_EQ(all.script_folders, (std::vector<std::string>{"/a", "b"}));
  EXPECT_TRUE(all.bpf_sudo);
  EXPECT_EQ(all.artifacts, "out");
  EXPECT_EQ(options({"--syscost_trace", "--syscost_artifacts=/a::b/c:"}).artifacts, "/a::b/c:")
      << "one folder, which may have colons";
  const Options variables = options({}, {"SYSCOST_PROFILE=bpftrace", "SYSCOST_BPF=syscount", "SYSCOST_BPF_PATH=/x",
                                         "SYSCOST_BPF_SUDO=1", "SYSCOST_ARTIFACTS=/y"});
  EXPECT_EQ(variables.scripts, std::vector<std::string>{"syscount"});
  EXPECT_TRUE(variables.bpf_sudo);
  for (const char* bad : {"--syscost_bpf=", "--syscost_bpf=a,,b", "--syscost_bpf=a,list", "--syscost_bpf_path=/a::/b",
                          "--syscost_artifacts=", "--syscost_bpf_sudo=perhaps"}) {
    EXPECT_NE(complaint({"--syscost_profile=bpftrace", bad}), "") << bad;
  }
}

TEST(Options, ListsScriptsWithoutAProfile) {
  const Options list = options({"--syscost_bpf", "list"});
  EXPECT_TRUE(list.lists_scripts);
  EXPECT_TRUE(list.requests_anything());
  EXPECT_TRUE(options({"--syscost_bpf=list", "--syscost_bpf_path=/a"}).lists_scripts);
}

TEST(Options, RefusesFlagsOfAToolThatIsNotAskedFor) {
  for (const char* flag :
       {"--syscost_bpf=syslat", "--syscost_bpf_path=/a", "--syscost_bpf_sudo", "--syscost_artifacts=a"}) {
    EXPECT_NE(complaint({flag, "--syscost_profile=syscalls"}).find(" requires --syscost_profile bpftrace"),
              std::string::npos)
        << flag;
    EXPECT_EQ(complaint({flag, "--syscost_profile=bpftrace"}), "") << flag;
  }
  EXPECT_EQ(complaint({"--syscost_artifacts=a", "--syscost_profile=perf"}), "");
  EXPECT_EQ(complaint({"--syscost_artifacts=a", "--syscost_where"}), "");
  EXPECT_FALSE(options({}, {"SYSCOST_BPF=syslat", "SYSCOST_ARTIFACTS=/a"}).requests_anything())
      << "may be set for good";
}

TEST(Options, LeavesTheToolsToACountingProcess) {
  Options counting = options({"--syscost_profile=bpftrace", "--syscost_csv=a"});
  counting.become_counting_process();
  EXPECT_TRUE(counting.wants_tools());
  EXPECT_FALSE(counting.requests_anything()) << "the other process speaks for it";
  counting.drop_output();
  EXPECT_FALSE(counting.wants_tools()) << "a list of tests needs no tools";
}

TEST(Options, RefusesValuesThatMakeNoSense) {
  for (const char* bad :
       {"--syscost_cycles=abc", "--syscost_cycles=0", "--syscost_cycles=-1", "--syscost_cycles=1x",
        "--syscost_cycles=2147483648", "--syscost_cycles=", "--syscost_cycles=99999999999999999999",
        "--syscost_profile=all", "--syscost_backend=magic", "--syscost_csv=", "--syscost_doctor=maybe"}) {
    EXPECT_NE(complaint({bad}), "") << bad;
  }
  EXPECT_NE(complaint({}, {"SYSCOST_CYCLES=abc"}).find("SYSCOST_CYCLES"), std::string::npos);
}

TEST(Options, TakesAFilterAsItWasWritten) {
  EXPECT_FALSE(options({}).details.any());
  EXPECT_TRUE(options({"--syscost_detail=ioctl"}).details.ioctls);
  Options both = options({}, {"SYSCOST_DETAIL=ioctl,thread:cuda,thread:pocl-worker"});
  EXPECT_TRUE(both.details.ioctls);
  EXPECT_EQ(both.details.driver_threads, (std::vector<std::string>{"cuda", "pocl-worker"}));
  EXPECT_FALSE(options({"--syscost_detail=thread:cuda"}).details.ioctls);
  EXPECT_FALSE(options({"--syscost_detail=ioctl"}).details.files);
  const Options kinds = options({"--syscost_detail=ioctl,file"});
  EXPECT_TRUE(kinds.details.ioctls);
  EXPECT_TRUE(kinds.details.files);
  EXPECT_TRUE(options({"--syscost_detail=file"}).details.any());
  EXPECT_FALSE(options({"--syscost_detail=file"}).details.needs_kernel());
  EXPECT_NE(complaint({"--syscost_detail=futex"}).find("\"futex\" is not one of ioctl, file, thread:NAME"),
            std::string::npos);
  EXPECT_NE(complaint({"--syscost_detail=ioctl,"}).find("\"\" is not one of"), std::string::npos);
  EXPECT_NE(complaint({"--syscost_detail=thread:"}).find("does not name threads"), std::string::npos);
  EXPECT_NE(complaint({"--syscost_detail=thread:sixteen_letters_"}).find("1 to 15 letters"), std::string::npos);

  EXPECT_EQ(options({}).filter, nullptr);
  Options some = options({"--syscost_filter=%network,!accept"});
  ASSERT_NE(some.filter, nullptr);
  EXPECT_EQ(some.filter->text(), "%network,!accept");
  EXPECT_FALSE(some.requests_anything()) << "it says what to count, not that anything is to be counted";
  EXPECT_EQ(options({}, {"SYSCOST_FILTER=getppid"}).filter->text(), "getppid");
  Result<ParsedOptions> parsed = parse({"--filter", "%file"}, {}, Spelling::prefixed_short);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value().options.filter->text(), "%file");
}

TEST(Options, RefusesAFilterWithATypingErrorAndSaysWhatWasMeant) {
  EXPECT_NE(complaint({"--syscost_filter=wriet"}).find("Did you mean 'write'?"), std::string::npos);
  EXPECT_NE(complaint({"--syscost_filter=file"}).find("Did you mean '%file'?"), std::string::npos);
  EXPECT_NE(complaint({"--syscost_filter="}), "");
  EXPECT_NE(complaint({}, {"SYSCOST_FILTER=read,,write"}).find("SYSCOST_FILTER"), std::string::npos);
}

TEST(Options, RefusesAFlagWithoutItsValue) {
  EXPECT_NE(complaint({"--syscost_csv"}).find("needs a value"), std::string::npos);
  EXPECT_NE(complaint({"--syscost_csv", "--gtest_brief=1"}).find("needs a value"), std::string::npos);
}

TEST(Options, ReadsSwitchesFromTheEnvironment) {
  EXPECT_TRUE(options({}, {"SYSCOST_MARKERS=1"}).markers);
  EXPECT_TRUE(options({}, {"SYSCOST_MARKERS=true"}).markers);
  EXPECT_FALSE(options({}, {"SYSCOST_DOCTOR=0"}).doctor);
  EXPECT_NE(complaint({}, {"SYSCOST_MARKERS=yes"}), "");
}

TEST(Options, LeavesVariablesOfOthersAlone) {
  EXPECT_EQ(
      complaint({}, {"SYSCOST_BUILD_TESTS=ON", "SYSCOST_TEST_ANYTHING=1", "SYSCOST_ROOT=/opt", "SYSCOST_DIR=/opt/lib"}),
      "");
  EXPECT_EQ(options({}, {"SYSCOST_BUILD_TYPE=fast"}).build_type, "fast");
}

TEST(Options, DoesNotTakeAFlagForAVariableOnly) {
  EXPECT_NE(complaint({"--syscost_run_id=x"}).find("no flag --syscost_run_id"), std::string::npos);
}

TEST(Options, TakesTheLargestNumberOfCycles) {
  EXPECT_EQ(options({"--syscost_cycles=2147483647"}).cycles, 2147483647U);
}

TEST(Options, KnowsTheErrandsOfGoogleTest) {
  EXPECT_TRUE(is_listing_or_death_test({"program", "--gtest_list_tests"}));
  EXPECT_TRUE(is_listing_or_death_test({"program", "--gtest_internal_run_death_test=a.cc|1|0|7"}));
  EXPECT_FALSE(is_listing_or_death_test({"program", "--gtest_list_tests=0"}));
  EXPECT_FALSE(is_listing_or_death_test({"program", "--gtest_filter=A.*"}));
}

TEST(Options, DropsAllOutputButNotWhatIsCounted) {
  Options some = options({"--syscost_csv=a", "--syscost_profile=syscalls", "--syscost_filter=%file"});
  some.drop_output();
  EXPECT_FALSE(some.requests_anything());
  EXPECT_NE(some.filter, nullptr);
}

TEST(RemoveArguments, KeepsTheOthersInOrderBeforeANull) {
  std::array<std::string, 5> words{"program", "--syscost_csv", "a.csv", "--mine", "--syscost_quick"};
  std::array<char*, 6> argv{};
  for (std::size_t i = 0; i < words.size(); ++i) argv[i] = words[i].data();
  int argc = static_cast<int>(words.size());
  remove_arguments(&argc, argv.data(), {1, 2, 4});
  ASSERT_EQ(argc, 2);
  EXPECT_STREQ(argv[0], "program");
  EXPECT_STREQ(argv[1], "--mine");
  EXPECT_EQ(argv[2], nullptr);
}

TEST(ProcessArguments, AreThoseOfThisProgram) {
  ASSERT_FALSE(process_arguments().empty());
  EXPECT_NE(process_arguments().front().find("session_unit_tests"), std::string::npos);
}

}  // namespace
}  // namespace syscost::session
