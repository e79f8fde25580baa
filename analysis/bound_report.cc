#include "analysis/bound_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/csv.h"
#include "analysis/fields.h"
#include "analysis/format.h"

namespace traingraph::analysis {
namespace {

/// Largest first; each knows how far it is above the next.
void rank(std::vector<Constraint>& constraints) {
  std::stable_sort(constraints.begin(), constraints.end(), [](const Constraint& a, const Constraint& b) {
    return std::pair{a.of_reported_step, a.seconds} > std::pair{b.of_reported_step, b.seconds};
  });
  for (std::size_t i = 0; i + 1 < constraints.size(); ++i) {
    const Constraint& next = constraints[i + 1];
    if (next.seconds > 0 && next.of_reported_step) constraints[i].headroom = constraints[i].seconds / next.seconds;
  }
}

std::vector<Constraint> terms_of(const theory::ScenarioStep& step) {
  const theory::StepTimes& t = step.hidden;
  std::vector<Constraint> terms{{"products", "arithmetic, memory and caches of one GPU", "", t.arithmetic_s},
                                {"blocks in series", "one microbatch alone, latencies included", "", t.serial_s}};
  for (std::size_t l = 0; l < step.levels; ++l) {
    terms.push_back({fmt::format("network {}", l), l + 1 == step.levels ? "beyond the domain" : "inside the domain", "",
                     t.network_s[l]});
  }
  return terms;
}

std::string time_text(double seconds) { return human_time(sim::Duration::seconds(seconds)); }

std::string next_text(double headroom, const std::string& next) {
  constexpr double kAlike = 1.005;
  return headroom < kAlike ? "as " + next : fmt::format("{:.3g}x, then {}", headroom, next);
}

std::string constraint_text(const std::vector<Constraint>& constraints) {
  std::string text;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const Constraint& c = constraints[i];
    const std::string next = c.headroom > 0 ? next_text(c.headroom, constraints[i + 1].name) : "";
    text += fmt::format("{} {:<18}{:>12}  {:<46}{:<32}{}\n", i == 0 ? "*" : " ", c.name, time_text(c.seconds), c.subject,
                        c.holds_for, c.of_reported_step ? next : "(first step only)");
    text.erase(text.find_last_not_of(" \n") + 1);
    text += '\n';
  }
  return text;
}

std::string model_text(const BoundReport& report) {
  std::string text = "\nclosed-form step model, on two network levels (arXiv 2411.01137)\n";
  if (!report.model.step) return text + "  none: " + report.model.why_not + "\n";
  const theory::ScenarioStep& step = *report.model.step;
  text += constraint_text(report.model_terms);
  text += fmt::format("  {:<18}{:>12}  of the pipeline, and {} of the last gradients\n", "bubble",
                      time_text(step.hidden.bubble_s), time_text(step.hidden.tail_s));
  text += fmt::format("  {:<18}{:>12}  MFU {}; {} with all communication exposed, MFU {}\n", "step",
                      time_text(step.hidden.step_s), percent(step.hidden.mfu), time_text(step.exposed.step_s),
                      percent(step.exposed.mfu));
  return text;
}

nlohmann::ordered_json constraints_json(const std::vector<Constraint>& constraints) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Constraint& c : constraints) {
    nlohmann::ordered_json entry{{"name", c.name}, {"subject", c.subject}};
    if (!c.holds_for.empty()) entry["holds_for"] = c.holds_for;
    entry["value_s"] = c.seconds;
    entry["of_reported_step"] = c.of_reported_step;
    entry["faster_before_next_binds"] = nullptr;
    if (c.headroom > 0) entry["faster_before_next_binds"] = c.headroom;
    list.push_back(entry);
  }
  return list;
}

std::string constraints_csv(const std::string& of, const std::vector<Constraint>& constraints) {
  std::string text;
  for (const Constraint& c : constraints) {
    text += fmt::format("{},{},{},{},{},{},{}\n", of, csv_value(c.name), csv_value(c.subject), csv_value(c.holds_for),
                        c.seconds, c.of_reported_step, c.headroom > 0 ? fmt::format("{}", c.headroom) : "");
  }
  return text;
}

}  // namespace

BoundReport bound_report(const std::vector<Bound>& bounds, theory::ScenarioStepAnswer model) {
  BoundReport report;
  for (const Bound& b : bounds) {
    report.bounds.push_back({b.name, b.subject, b.holds_for, seconds(b.value), b.of_reported_step});
  }
  rank(report.bounds);
  report.model = std::move(model);
  if (report.model.step) report.model_terms = terms_of(*report.model.step);
  rank(report.model_terms);
  return report;
}

std::string to_text(const BoundReport& r) {
  std::string text = r.description.empty() ? "" : r.description + "\n";
  text += fmt::format("{} GPUs{}\n", with_thousands(r.gpus), r.fabric.empty() ? "" : " on " + r.fabric);
  text +=
      fmt::format("\n{:<112}{}\n", "lower bounds of a step; no schedule is faster than the largest", "until the next binds");
  text += constraint_text(r.bounds);
  return text + model_text(r);
}

nlohmann::ordered_json to_json(const BoundReport& r) {
  nlohmann::ordered_json json{{"schema", "traingraph/bound/1"}};
  json["description"] = r.description;
  json["fabric"] = r.fabric;
  json["gpus"] = r.gpus;
  json["bounds"] = constraints_json(r.bounds);
  if (!r.model.step) {
    json["step_model"] = {{"why_not", r.model.why_not}};
    return json;
  }
  const theory::ScenarioStep& step = *r.model.step;
  json["step_model"] = {{"terms", constraints_json(r.model_terms)},
                        {"bubble_s", step.hidden.bubble_s},
                        {"tail_s", step.hidden.tail_s},
                        {"step_time_s", step.hidden.step_s},
                        {"mfu", step.hidden.mfu},
                        {"exposed_step_time_s", step.exposed.step_s},
                        {"exposed_mfu", step.exposed.mfu}};
  return json;
}

std::string to_csv(const BoundReport& r) {
  return "of,name,subject,holds_for,value_s,of_reported_step,faster_before_next_binds\n" +
         constraints_csv("lower bound", r.bounds) + constraints_csv("step model", r.model_terms);
}

}  // namespace traingraph::analysis
