// Every key of the schema changes something that people see: each case is run before and after, and the two must differ
// where the case says (SeenIn). A key that is read, printed and then ignored fails here.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/explain.h"
#include "analysis/json.h"
#include "scenarios/run_scenario.h"
#include "sim/error.h"
#include "tests/scenarios/schema_cases.h"
#include "topology/describe.h"

namespace traingraph::scenarios {
namespace {

using test::SchemaCase;
using test::SeenIn;

/// A run as it is seen from outside, by where it is seen.
using Outcome = std::map<SeenIn, std::string>;

std::string result_json(const analysis::Result& result) {
  nlohmann::ordered_json json = analysis::to_json(result);
  json.erase("engine");  // how much work it was is no result
  return json.dump();
}

Outcome outcome_of(const Scenario& scenario) {
  Outcome seen;
  seen[SeenIn::effective_scenario] = effective_yaml(scenario);
  const Prepared prepared = prepare(scenario);
  seen[SeenIn::topology] = topology::to_json(*prepared.fabric, topology::describe(*prepared.fabric, scenario.cluster));
  seen[SeenIn::explanation] = analysis::to_text(analysis::explain(prepared.workload.program));
  const RunOutcome run = simulate_scenario(scenario, prepared);
  seen[SeenIn::result] = result_json(run.result);
  seen[SeenIn::load_record] = fmt::format("{} bins: {}", run.record.bins, fmt::join(run.record.load, " "));
  return seen;
}

/// Runs each scenario once, however many cases start from it; one step, unless a case says otherwise.
class Runner {
 public:
  const Outcome& run(const char* base, const std::vector<std::string>& overrides) {
    const auto [at, added] = known_.try_emplace({base, overrides});
    if (!added) return at->second;
    try {
      std::vector<std::string> all{"workload.steps=1"};
      all.insert(all.end(), overrides.begin(), overrides.end());
      at->second = outcome_of(load_text(base, "base.yaml", all));
    } catch (const sim::InputError& e) {
      at->second = {{SeenIn::acceptance, e.what()}};
    }
    return at->second;
  }

 private:
  std::map<std::pair<std::string, std::vector<std::string>>, Outcome> known_;
};

std::vector<std::string> after(const SchemaCase& c) {
  std::vector<std::string> all = c.given;
  all.insert(all.end(), c.overrides.begin(), c.overrides.end());
  return all;
}

std::string refusal(const Outcome& outcome) {
  const auto found = outcome.find(SeenIn::acceptance);
  return found == outcome.end() ? "" : found->second;
}

TEST(SchemaEffects, EveryKeyChangesWhatIsSeen) {
  Runner runner;
  for (const SchemaCase& c : test::all_cases()) {
    SCOPED_TRACE(fmt::format("{} by {}", c.key, fmt::join(c.overrides, ", ")));
    const Outcome& before = runner.run(c.base, c.given);
    const Outcome& changed = runner.run(c.base, after(c));
    if (c.seen_in == SeenIn::acceptance) {
      EXPECT_NE(refusal(before).empty(), refusal(changed).empty()) << refusal(before) << refusal(changed);
      continue;
    }
    EXPECT_EQ(refusal(before), "");
    EXPECT_EQ(refusal(changed), "");
    if (!refusal(before).empty() || !refusal(changed).empty()) continue;
    EXPECT_TRUE(before.at(c.seen_in) != changed.at(c.seen_in)) << "nothing has changed: " << before.at(c.seen_in);
  }
}

// The same scenario twice is the same outcome, so a difference is the key's doing.
TEST(SchemaEffects, NothingChangesByItself) {
  const Scenario s = load_text(test::kTransformer, "base.yaml", {"workload.steps=1"});
  EXPECT_TRUE(outcome_of(s) == outcome_of(s));
}

// Only names are not seen in a run, and only labels of tables not in its result: any other key that hides is a defect.
TEST(SchemaEffects, FewKeysAreNotSeenInTheResult) {
  std::map<SeenIn, std::set<std::string_view>> keys;
  for (const SchemaCase& c : test::all_cases()) keys[c.seen_in].insert(c.key);
  using Keys = std::set<std::string_view>;
  EXPECT_EQ(keys[SeenIn::effective_scenario], Keys({"name", "hardware.name", "workload.software.name"}));
  EXPECT_EQ(keys[SeenIn::topology], Keys({"cluster.scale_out.devices[].rail"}));
  EXPECT_EQ(keys[SeenIn::explanation], Keys({"workload.groups[].name"}));
  EXPECT_EQ(keys[SeenIn::load_record], Keys({"run.bins"}));
}

}  // namespace
}  // namespace traingraph::scenarios
