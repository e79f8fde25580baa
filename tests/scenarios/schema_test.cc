// Every key of the schema does what it says: setting it sets the field that it stands for, and the scenario printed with it
// reads back the same. The list of keys is the schema's own, so a key without a case is a failure. That each key also
// changes what is simulated: schema_effects_test.cc.
#include "scenarios/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "scenarios/describer.h"
#include "tests/scenarios/schema_cases.h"

namespace traingraph::scenarios {
namespace {

std::vector<KeyInfo> all_keys() {
  Scenario s;
  Describer d;
  fields(d, s);
  return d.keys();
}

std::string without_comments(const std::string& yaml) {
  std::istringstream in{yaml};
  std::string out;
  for (std::string line; std::getline(in, line);) {
    line = line.substr(0, line.find("  #"));
    line.erase(line.find_last_not_of(' ') + 1);
    if (!line.empty() && line.find_first_not_of(' ') != line.find('#')) out += line + "\n";
  }
  return out;
}

TEST(Schema, EveryKeyHasACase) {
  std::set<std::string> covered;
  for (const auto& c : test::all_cases()) covered.emplace(c.key);
  std::set<std::string> keys;
  for (const KeyInfo& k : all_keys()) keys.insert(k.path);
  for (const std::string& k : keys) EXPECT_TRUE(covered.contains(k)) << k << " has no case";
  for (const std::string& k : covered) EXPECT_TRUE(keys.contains(k)) << k << " is no key";
}

TEST(Schema, EveryKeyHasATypeAndAMeaning) {
  for (const KeyInfo& k : all_keys()) {
    EXPECT_FALSE(k.type.empty()) << k.path;
    EXPECT_FALSE(k.doc.empty()) << k.path;
    EXPECT_FALSE(k.default_text.empty()) << k.path;
  }
}

TEST(Schema, EveryKeySetsItsField) {
  for (const auto& c : test::all_cases()) {
    SCOPED_TRACE(c.key);
    try {
      EXPECT_FALSE(c.holds(load_text(c.base, "base.yaml", c.given)));
      std::vector<std::string> overrides = c.given;
      overrides.insert(overrides.end(), c.overrides.begin(), c.overrides.end());
      const Scenario changed = load_text(c.base, "base.yaml", overrides);
      EXPECT_TRUE(c.holds(changed));
      const std::string printed = effective_yaml(changed);
      const Scenario again = load_text(printed, "effective.yaml");
      EXPECT_TRUE(c.holds(again)) << printed;
      EXPECT_EQ(without_comments(effective_yaml(again)), without_comments(printed));
    } catch (const sim::InputError& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

TEST(Schema, TheEffectiveScenarioNamesTheSourceOfEachValue) {
  const Scenario s = load_text(test::kTransformer, "base.yaml", {"workload.micro_batch=2"});
  const std::string text = effective_yaml(s);
  const auto has = [&](const std::string& key, const std::string& comment) {
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);) {
      if (line.find(key) != std::string::npos && line.find("# " + comment) != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_TRUE(has("nodes: 4", "base.yaml:3:10")) << text;
  EXPECT_TRUE(has("micro_batch: 2", "--set workload.micro_batch=2")) << text;
  EXPECT_TRUE(has("steps: 3", "default")) << text;
  EXPECT_TRUE(has("memory_bandwidth: 1.555 TB/s", "preset hardware/a100_40gb:")) << text;
  EXPECT_TRUE(has("matmul_efficiency: 0.84", "preset hardware/a100_40gb:")) << text;
}

TEST(Schema, TheDescriptionListsEveryKey) {
  const std::string text = describe_schema();
  for (const KeyInfo& k : all_keys()) EXPECT_NE(text.find("  " + k.path + " "), std::string::npos) << k.path;
}

}  // namespace
}  // namespace traingraph::scenarios
