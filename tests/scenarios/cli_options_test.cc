// The command line in both of its stages, without a process: words -> raw options -> options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "scenarios/cli/command_line.h"
#include "scenarios/cli/exit_code.h"
#include "scenarios/cli/options.h"

namespace traingraph::scenarios::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::uint32_t kCores = 6;

RawOptions raw(const std::vector<std::string>& words) { return std::get<RawOptions>(parse_command_line(words)); }

Options options(const std::vector<std::string>& words, const Terminal& terminal = {}) {
  return understand(raw(words), terminal, kCores);
}

/// The message of the UsageError that these words deserve.
std::string refusal(const std::vector<std::string>& words) {
  try {
    static_cast<void>(options(words));
  } catch (const UsageError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(CommandLine, ReadsTheVerbAndItsSubject) {
  EXPECT_EQ(options({"run", "s.yaml"}).verb, Verb::run);
  EXPECT_EQ(options({"check", "s.yaml"}).verb, Verb::check);
  EXPECT_EQ(options({"topo", "list"}).verb, Verb::topo_list);
  EXPECT_EQ(options({"topo", "show", "x"}).verb, Verb::topo_show);
  EXPECT_EQ(options({"run", "s.yaml"}).subject, "s.yaml");
  EXPECT_EQ(options({"run", "-"}).subject, "-");
  EXPECT_EQ(options({"topo", "show", "x"}).subject, "x");
}

TEST(CommandLine, AnOptionNeverSwallowsTheScenario) {
  EXPECT_EQ(options({"run", "--set", "a.b=1", "s.yaml", "--set", "c=2"}).subject, "s.yaml");
  EXPECT_THAT(options({"run", "--set", "a.b=1", "s.yaml", "--set", "c=2"}).overrides, ElementsAre("a.b=1", "c=2"));
  EXPECT_EQ(options({"run", "--trace", "tasks", "-o", "r.h5", "s.yaml"}).subject, "s.yaml");
}

TEST(CommandLine, ValuesMayHoldSpacesAndEqualsSigns) {
  EXPECT_THAT(options({"run", "s.yaml", "--set", "a.b=400 Gb/s"}).overrides, ElementsAre("a.b=400 Gb/s"));
  EXPECT_THAT(options({"run", "s.yaml", "--set=a=b=c"}).overrides, ElementsAre("a=b=c"));
  EXPECT_THAT(options({"run", "s.yaml", "--set", "a=[1, 2]"}).overrides, ElementsAre("a=[1, 2]"));
}

TEST(CommandLine, TheSeedIsAWholeNumber) {
  EXPECT_EQ(options({"run", "--seed", "7", "s.yaml"}).seed, 7U);
  EXPECT_EQ(options({"run", "--seed", "18446744073709551615", "s.yaml"}).seed, 18446744073709551615ULL);
  EXPECT_FALSE(options({"run", "s.yaml"}).seed);
  EXPECT_THAT(refusal({"run", "s.yaml", "--seed", "-1"}),
              StartsWith("--seed: found '-1', allowed: a whole number from 0 to"));
  EXPECT_THAT(refusal({"run", "s.yaml", "--seed", "1.5"}), StartsWith("--seed: found '1.5'"));
}

TEST(CommandLine, NothingIsDecidedWithoutBeingTold) {
  const Options plain = options({"run", "s.yaml"});
  EXPECT_EQ(plain.format, Format::text);
  EXPECT_FALSE(plain.output);
  EXPECT_FALSE(plain.color);
  EXPECT_FALSE(plain.progress);
  EXPECT_FALSE(plain.quiet);
  EXPECT_FALSE(plain.sensitivity);
  EXPECT_FALSE(plain.trace_tasks);
  EXPECT_FALSE(plain.trace_transfers);
  EXPECT_THAT(plain.overrides, testing::IsEmpty());
  EXPECT_EQ(plain.threads, kCores);
  EXPECT_FALSE(plain.output_policy.force);
  EXPECT_FALSE(plain.output_policy.keep_partial);
}

TEST(CommandLine, EveryFlagOfRunArrives) {
  const Options all = options({"run",       "s.yaml",    "-o",      "r.h5",          "--force", "--keep-partial", "--quiet",
                               "--plain",   "--explain", "--stats", "--sensitivity", "--trace", "tasks",          "--trace",
                               "transfers", "--bins",    "12",      "--threads",     "3",       "--no-symmetry",  "--format",
                               "json"});
  EXPECT_EQ(all.output, "r.h5");
  EXPECT_TRUE(all.output_policy.force);
  EXPECT_TRUE(all.output_policy.keep_partial);
  EXPECT_TRUE(all.quiet);
  EXPECT_TRUE(all.plain);
  EXPECT_TRUE(all.explain);
  EXPECT_TRUE(all.stats);
  EXPECT_TRUE(all.sensitivity);
  EXPECT_TRUE(all.trace_tasks);
  EXPECT_TRUE(all.trace_transfers);
  EXPECT_THAT(all.overrides, ElementsAre("run.bins=12"));
  EXPECT_EQ(all.threads, 3U);
  EXPECT_EQ(all.format, Format::json);
}

TEST(CommandLine, AWordThatIsNotAllowedIsRefusedWithThoseThatAre) {
  EXPECT_EQ(refusal({"run", "s.yaml", "--format", "xml"}), "--format: found 'xml', allowed: text, json, csv");
  EXPECT_EQ(refusal({"check", "s.yaml", "--format", "csv"}), "--format: found 'csv', allowed: text, json");
  EXPECT_EQ(refusal({"run", "s.yaml", "--progress", "on"}), "--progress: found 'on', allowed: auto, always, never");
  EXPECT_EQ(refusal({"run", "s.yaml", "--color", "yes"}), "--color: found 'yes', allowed: auto, always, never");
  EXPECT_EQ(refusal({"run", "s.yaml", "-o", "r.h5", "--trace", "all"}), "--trace: found 'all', allowed: tasks, transfers");
  EXPECT_EQ(refusal({"run", "s.yaml", "-o", "r.h5", "--bins", "0"}),
            "--bins: found '0', allowed: a whole number from 1 to 1000000");
  EXPECT_EQ(refusal({"run", "s.yaml", "--threads", "x"}), "--threads: found 'x', allowed: a whole number from 1 to 1024");
  EXPECT_THAT(refusal({"run", "s.yaml", "--set", "a.b"}), StartsWith("--set: found 'a.b', allowed: a key's path"));
}

TEST(CommandLine, WhatFillsTheResultFileNeedsOne) {
  EXPECT_EQ(refusal({"run", "s.yaml", "--trace", "tasks"}), "--trace fills tables of the result file: give -o R.h5 too");
  EXPECT_EQ(refusal({"run", "s.yaml", "--bins", "10"}), "--bins fills a table of the result file: give -o R.h5 too");
  EXPECT_THAT(refusal({"run", "s.yaml", "--keep-partial"}), HasSubstr("give -o too"));
  EXPECT_THAT(refusal({"run", "s.yaml", "-o", "r.json"}),
              StartsWith("-o: found 'r.json', allowed: a name that ends in .h5"));
}

TEST(CommandLine, AnExplanationIsNoTable) {
  EXPECT_EQ(refusal({"run", "s.yaml", "--explain", "--format", "csv"}), "--explain: allowed with --format text and json");
}

TEST(CommandLine, AMisspeltWordFindsItsNeighbour) {
  EXPECT_THAT(refusal({"rnu", "s.yaml"}), StartsWith("unknown verb 'rnu'; did you mean 'run'?"));
  EXPECT_THAT(refusal({"chekc", "s.yaml"}), StartsWith("unknown verb 'chekc'; did you mean 'check'?"));
  EXPECT_THAT(refusal({"fly"}),
              StartsWith("unknown verb 'fly'; allowed: run, check, bound, limits, plan, sweep, validate, topo, import, "
                         "collective, compare, serve, report, help"));
  EXPECT_THAT(refusal({"topo", "lits"}), StartsWith("topo: unknown verb 'lits'; did you mean 'list'?"));
  EXPECT_THAT(refusal({"run", "s.yaml", "--fromat", "json"}),
              StartsWith("run: unknown option '--fromat'; did you mean '--format'?"));
  EXPECT_THAT(refusal({"run", "s.yaml", "--sett=a=b"}), StartsWith("run: unknown option '--sett'; did you mean '--set'?"));
  EXPECT_THAT(refusal({"run", "s.yaml", "--zzzzzzzz"}), StartsWith("run: unknown option '--zzzzzzzz'\n"));
}

TEST(CommandLine, AScenarioAloneSuggestsRun) {
  EXPECT_THAT(refusal({"s.yaml"}), StartsWith("a verb is missing; did you mean `traingraph run s.yaml`?"));
  EXPECT_THAT(refusal({"s.yml", "-o", "r.h5"}),
              StartsWith("a verb is missing; did you mean `traingraph run s.yml -o r.h5`?"));
}

TEST(CommandLine, SaysWhatIsMissingAndWhatIsTooMuch) {
  EXPECT_THAT(refusal({}), StartsWith("a verb is missing\nusage: traingraph run S.yaml"));
  EXPECT_THAT(refusal({"run"}), StartsWith("run: the scenario is missing\nusage: "));
  EXPECT_THAT(refusal({"check"}), StartsWith("check: the scenario is missing\nusage: "));
  EXPECT_THAT(refusal({"topo"}), StartsWith("topo: a verb is missing: list, show\nusage: "));
  EXPECT_THAT(refusal({"topo", "show"}), StartsWith("topo show: the cluster is missing"));
  EXPECT_THAT(refusal({"run", "a.yaml", "b.yaml"}), StartsWith("run: unexpected argument 'b.yaml'\nusage: "));
  EXPECT_THAT(refusal({"run", "s.yaml", "--format"}), HasSubstr("--format"));
}

TEST(CommandLine, TheSchemaNeedsNoScenario) {
  EXPECT_TRUE(options({"check", "--schema"}).schema);
  EXPECT_FALSE(options({"check", "s.yaml"}).schema);
  EXPECT_THAT(refusal({"check", "s.yaml", "--schema"}), StartsWith("--schema: stands alone"));
}

TEST(CommandLine, HelpComesInTwoLengths) {
  const std::string brief = std::get<Answer>(parse_command_line({"run", "-h"})).text;
  const std::string full = std::get<Answer>(parse_command_line({"run", "--help"})).text;
  EXPECT_THAT(brief, HasSubstr("--keep-partial"));
  EXPECT_THAT(brief, Not(HasSubstr("Examples:")));
  EXPECT_THAT(full, HasSubstr("Examples:"));
  EXPECT_GT(full.size(), brief.size());
  EXPECT_EQ(std::get<Answer>(parse_command_line({"help", "run"})).text, full);
  EXPECT_EQ(std::get<Answer>(parse_command_line({"help"})).text, std::get<Answer>(parse_command_line({"--help"})).text);
  EXPECT_THAT(std::get<Answer>(parse_command_line({"topo", "show", "--help"})).text, HasSubstr(".svg"));
}

TEST(CommandLine, LimitsChoosesTheFormOfItsFile) {
  EXPECT_EQ(options({"limits"}).verb, Verb::limits);
  EXPECT_EQ(options({"limits", "-o", "x.h5"}).file_format, Format::hdf5);
  EXPECT_EQ(options({"limits", "-o", "x.svg", "--format", "csv"}).file_format, Format::svg);
  EXPECT_EQ(options({"limits", "-o", "x.svg", "--format", "csv"}).format, Format::csv);
  EXPECT_THAT(options({"limits", "--compare", "a.yaml", "b.yaml"}).compare, ElementsAre("a.yaml", "b.yaml"));
  EXPECT_THAT(refusal({"limits", "-o", "x.png"}), StartsWith("-o: 'x.png' does not say its form"));
  EXPECT_THAT(refusal({"limits", "a.yaml", "--compare", "a.yaml", "b.yaml"}), StartsWith("--compare: takes the two files"));
  EXPECT_THAT(refusal({"limits", "--published", "--set", "experts=2"}), StartsWith("--published: stands alone"));
}

TEST(CommandLine, HelpListsOnlyVerbsThatWork) {
  const std::string text = std::get<Answer>(parse_command_line({"--help"})).text;
  for (const char* verb : {"run", "check", "bound", "limits", "plan", "sweep", "validate", "topo", "import", "collective",
                           "compare", "serve", "report"})
    EXPECT_THAT(text, HasSubstr(verb));
  for (const char* verb : {"montecarlo", "calibrate"}) EXPECT_THAT(text, Not(HasSubstr(verb)));
}

TEST(CommandLine, AutoMeansATerminalThatCanAndMay) {
  const Terminal terminal{.stdout_is_tty = true, .stderr_is_tty = true, .term = "xterm", .no_color = "", .ci = false};
  Terminal dumb = terminal;
  dumb.term = "dumb";
  Terminal colorless = terminal;
  colorless.no_color = "1";
  Terminal ci = terminal;
  ci.ci = true;
  const std::vector<std::string> words{"run", "s.yaml"};
  EXPECT_TRUE(options(words, terminal).color);
  EXPECT_TRUE(options(words, terminal).progress);
  EXPECT_FALSE(options(words, dumb).color);
  EXPECT_FALSE(options(words, dumb).progress);
  EXPECT_FALSE(options(words, colorless).color);
  EXPECT_TRUE(options(words, colorless).progress);
  EXPECT_TRUE(options(words, ci).color);
  EXPECT_FALSE(options(words, ci).progress);
  EXPECT_FALSE(options({"run", "s.yaml", "--quiet"}, terminal).progress);
  EXPECT_FALSE(options({"run", "s.yaml", "--plain"}, terminal).color);
  EXPECT_FALSE(options({"run", "s.yaml", "--format", "json"}, terminal).color);
  EXPECT_FALSE(options({"run", "s.yaml", "--format", "json", "--color", "always"}, terminal).color);
  EXPECT_TRUE(options({"run", "s.yaml", "--color", "always"}).color);
  EXPECT_TRUE(options({"run", "s.yaml", "--progress", "always"}).progress);
  EXPECT_FALSE(options({"run", "s.yaml", "--progress", "never"}, terminal).progress);
}

TEST(CommandLine, ADrawingIsNamedByItsEnding) {
  EXPECT_EQ(options({"topo", "show", "x", "-o", "x.svg"}).format, Format::svg);
  EXPECT_EQ(options({"topo", "show", "x", "-o", "x.dot"}).format, Format::dot);
  EXPECT_EQ(options({"topo", "show", "x", "-o", "x.json"}).format, Format::json);
  EXPECT_EQ(options({"topo", "show", "x", "-o", "x.svg", "--format", "dot"}).format, Format::dot);
  EXPECT_EQ(options({"topo", "show", "x"}).format, Format::text);
  EXPECT_THAT(refusal({"topo", "show", "x", "-o", "x.pdf"}), StartsWith("-o: 'x.pdf' does not say its form"));
}

}  // namespace
}  // namespace traingraph::scenarios::cli
