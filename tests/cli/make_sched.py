# SPDX-License-Identifier: MIT
"""Writes the files sched.csv of tests/cli/data/sched: small ones as --syscost_sched leaves them, and broken ones."""

HEADER = "at_ns,event,thread,name,call,waker,waker_thread,waker_call,count"
RUN = "sched/1795225951-17/report_tests"
MAIN, FETCHER, PARSER, CHECKSUM = (17, "report_tests"), (18, "fetcher"), (19, "parser"), (20, "checksum")


def event(at, what, thread, call="", waker="", by=None, by_call="", count=""):
    number, name = thread if thread else ("", "")
    return f"{at},{what},{number},{name},{call},{waker},{by[0] if by else ''},{by_call},{count}"


def woken(at, thread, call, by, by_call):
    return event(at, "woken", thread, call, "thread", by, by_call)


def report():
    """The fetcher asks a server, the parser works on the answer, main waits for it; the checksum works beside them."""
    return [
        event(0, "begin", MAIN),
        event(40_000, "created", CHECKSUM, "", "thread", MAIN, "clone3"),
        event(52_000, "runs", CHECKSUM),
        event(80_000, "created", FETCHER, "", "thread", MAIN, "clone3"),
        event(110_000, "created", PARSER, "", "thread", MAIN, "clone3"),
        event(131_000, "blocks", MAIN, "futex"),
        event(131_000, "runs", FETCHER),
        event(150_500, "blocks", FETCHER, "clock_nanosleep"),
        event(150_500, "runs", PARSER),
        event(170_000, "blocks", PARSER, "futex"),
        event(20_151_000, "woken", FETCHER, "clock_nanosleep", "interrupt"),
        event(20_170_250, "runs", FETCHER, "clock_nanosleep"),
        woken(20_180_000, PARSER, "futex", FETCHER, "futex"),
        event(20_190_000, "ends", FETCHER, "exit"),
        event(20_190_000, "runs", PARSER, "futex"),
        event(20_700_000, "preempted", PARSER),
        event(20_950_000, "runs", PARSER),
        woken(21_450_000, MAIN, "futex", PARSER, "futex"),
        event(21_461_000, "runs", MAIN, "futex"),
        event(21_500_000, "blocks", MAIN, "recvfrom"),
        event(21_900_000, "woken", MAIN, "recvfrom", "other_process"),
        event(21_912_345, "runs", MAIN, "recvfrom"),
        event(22_000_001, "end", MAIN),
    ]


def make_sched(save):
    def save_lines(name, lines):
        save(name, ("\n".join([HEADER] + lines) + "\n").encode())

    whole = report()
    save_lines(f"{RUN}/Report.Waits/sched.csv", whole)
    lost = whole[:10] + [event(170_000, "lost", None, count=12), event(900_000, "end", MAIN)]
    save_lines(f"{RUN}/Report.Loses/sched.csv", lost)
    missing = [line for line in whole if ",woken," not in line or ",18," in line]
    save_lines(f"{RUN}/Report.Misses/sched.csv", missing)
    save_lines("sched/cut/sched.csv", whole[:9])
    save_lines("sched/damaged/sched.csv", whole[:9] + ["1,dances,18,\x1b[31m,,,,,"])
    save("sched/garbage/sched.csv", bytes(range(256)) * 4)
