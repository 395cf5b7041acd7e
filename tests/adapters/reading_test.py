# SPDX-License-Identifier: MIT
"""The calls with which docs/csv-format.md loads the rows elsewhere, on rows of a program."""
import os
import re

from adapter_case import MANY, Case, main, needs_results


class Reading(Case):
    PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "csv-format.md")

    @needs_results
    def test_the_pandas_calls_of_the_page_load_it_right(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("needs python3-pandas")
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.*")
        with open(self.PAGE, encoding="utf-8") as file:
            load, names = re.findall(r"```python\n(.*?)```", file.read(), re.S)
        scope = {}
        os.chdir(self.folder)
        exec(names + load, scope)  # as the page says it, names first
        self.assertEqual(scope["calls"]["Shapes.CallsThreeTimes", "getppid"], 3)
        self.assertTrue(scope["tests"].entries.isna().all(), "an empty field is no 0")
        self.assertEqual(str(scope["rows"].wall_ns.dtype), "UInt64")

    @needs_results
    def test_the_query_of_the_page_in_a_stand_in_for_duckdb(self):
        # DuckDB is no Debian package: SQLite stands in. What is checked is the SQL and its answer, not read_csv()'s options.
        import sqlite3
        self.run_program(MANY, f"--syscost_csv={self.csv}", "--gtest_filter=Shapes.*")
        with open(self.PAGE, encoding="utf-8") as file:
            [query] = re.findall(r"```sql\n(.*?)```", file.read(), re.S)
        rows = self.rows()
        database = sqlite3.connect(":memory:")
        database.execute("CREATE TABLE rows (%s)" % ", ".join(f'"{name}"' for name in rows[0]))
        database.executemany("INSERT INTO rows VALUES (%s)" % ", ".join("?" * len(rows[0])),
                             [[value or None for value in row.values()] for row in rows])
        query = re.sub(r"read_csv\(.*\)", "rows", query).replace("GROUP BY ALL", "GROUP BY test, syscall")
        answer = {(test, syscall): calls for test, syscall, calls in database.execute(query)}
        self.assertEqual(answer["Shapes.CallsThreeTimes", "getppid"], 3)


if __name__ == "__main__":
    main()
