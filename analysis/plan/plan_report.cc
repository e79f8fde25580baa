#include "analysis/plan/plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/csv.h"
#include "analysis/format.h"

namespace traingraph::analysis::plan {
namespace {

constexpr std::size_t kRows = 10;
constexpr double kDay = 86400;

std::string time_text(double seconds) { return human_time(sim::Duration::seconds(seconds)); }

std::string verdict(const Plan& p) {
  if (p.best() == nullptr) {
    if (p.search.candidates.empty()) return "no layout exists";
    return fmt::format("nothing simulated; no step is below {}", time_text(p.search.candidates.front().bound));
  }
  if (p.proven()) return "optimal: proven";
  return fmt::format("within {} of the best there can be", percent(p.may_be_faster()));
}

std::string head(const Plan& p) {
  const double rate = p.search_seconds > 0 ? static_cast<double>(p.search.layouts) / p.search_seconds : 0;
  return fmt::format("\n{} GPUs: {} layouts searched in {} ({}/s), {} simulated; {}\n", with_thousands(p.gpus),
                     with_thousands(p.search.layouts), time_text(p.search_seconds), human_count(rate),
                     with_thousands(p.simulated.size()), verdict(p));
}

std::string rows(const PlanReport& r, const Plan& p) {
  std::string text = fmt::format("  {:>10}{:>11}{:>9}{:>12}  layout\n", "step", "bound", "MFU", "memory");
  for (std::size_t i = 0; i < std::min(kRows, p.simulated.size()); ++i) {
    const Simulated& s = p.simulated[i];
    text += fmt::format("{} {:>10}{:>11}{:>9}{:>12}  {}\n", i == 0 ? '*' : ' ', time_text(s.seconds), time_text(s.bound),
                        percent(s.mfu), human_bytes(s.memory), to_string(s.layout));
  }
  if (!p.simulated.empty()) return text;
  for (std::size_t i = 0; i < std::min(kRows, p.search.candidates.size()); ++i) {
    const Candidate& c = p.search.candidates[i];
    text += fmt::format("  {:>10}{:>11}{:>9}{:>12}  {}\n", "", time_text(c.bound), "", human_bytes(c.memory),
                        to_string(c.layout));
  }
  return p.search.candidates.empty() ? fmt::format("  GPUs hold {}\n", human_bytes(r.memory_capacity)) : text;
}

std::string reasons(const Plan& p) {
  std::string text;
  for (std::size_t i = 0; i < kRejects; ++i) {
    const auto reason = static_cast<Reject>(i);
    if (p.search.rejected[i] == 0) continue;
    text += fmt::format("  {:>14} {:<25}{}\n", with_thousands(p.search.rejected[i]),
                        rejects_degrees(reason) ? "combinations of degrees:" : "layouts:", to_string(reason));
  }
  if (p.not_built > 0) {
    text += fmt::format("  {:>14} {:<25}more memory than the GPU has, or other rules, found before simulating\n",
                        with_thousands(p.not_built), "layouts:");
  }
  if (p.too_large > 0) {
    text += fmt::format("  {:>14} {:<25}too large to be simulated here\n", with_thousands(p.too_large), "layouts:");
  }
  return text.empty() ? "" : "\n  rejected\n" + text;
}

std::string why(const Plan& p) {
  if (p.runner_up_terms.empty()) return "";
  std::string text = fmt::format("\n  {:<26}{:>12}{:>12}\n", "parts of the bound", "winner", "runner-up");
  for (std::size_t i = 0; i < p.winner_terms.size(); ++i) {
    const double a = p.winner_terms[i].seconds, b = p.runner_up_terms[i].seconds;
    if (a == 0 && b == 0) continue;
    text += fmt::format("  {:<26}{:>12}{:>12}{}\n", p.winner_terms[i].name, time_text(a), time_text(b),
                        a == b ? "" : fmt::format("  {}{}", a < b ? '-' : '+', time_text(std::abs(a - b))));
  }
  const Simulated& a = p.simulated[0];
  const Simulated& b = p.simulated[1];
  return text + fmt::format("  {:<26}{:>12}{:>12}\n", "beyond the bound", time_text(a.seconds - a.bound),
                            time_text(b.seconds - b.bound));
}

std::string front_text(const PlanReport& r) {
  const std::vector<FrontPoint> front = pareto_front(r.plans);
  if (front.size() < 2) return "";
  std::string text =
      fmt::format("\nPareto front of the simulated layouts\n  {:>8}{:>12}{:>12}  layout\n", "GPUs", "step", "memory");
  for (const FrontPoint& f : front) {
    text += fmt::format("  {:>8}{:>12}{:>12}  {}\n", with_thousands(f.gpus), time_text(f.step.seconds),
                        human_bytes(f.step.memory), to_string(f.step.layout));
  }
  return text;
}

/// What a training takes on so many GPUs.
struct Training {
  std::uint32_t gpus = 0;
  bool simulated = false;
  double step_s = 0;
  std::optional<double> train_s;  ///< for the tokens asked for
  std::optional<double> tokens;   ///< in the time asked for
  bool in_time = false;
};

std::vector<Training> trainings(const PlanReport& r) {
  std::vector<Training> all;
  if (!r.tokens && !r.deadline_s) return all;
  for (const Plan& p : r.plans) {
    const std::optional<double> step = step_seconds(p);
    if (!step) continue;
    Training t{p.gpus, p.best() != nullptr, *step, std::nullopt, std::nullopt, false};
    if (r.tokens) t.train_s = *r.tokens / r.tokens_per_step * *step;
    if (r.deadline_s) t.tokens = *r.deadline_s / *step * r.tokens_per_step;
    t.in_time = t.train_s && r.deadline_s && *t.train_s <= *r.deadline_s;
    all.push_back(t);
  }
  return all;
}

std::string training_text(const PlanReport& r) {
  const std::vector<Training> all = trainings(r);
  if (all.empty()) return "";
  std::string text =
      fmt::format("\ntraining{}{}\n  {:>8}{:>12}", r.tokens ? fmt::format(" on {} tokens", human_count(*r.tokens)) : "",
                  r.deadline_s ? fmt::format(" in {:.4g} days", *r.deadline_s / kDay) : "", "GPUs", "step");
  if (r.tokens) text += fmt::format("{:>12}", "days");
  if (r.deadline_s) text += fmt::format("{:>18}", "tokens in time");
  text += '\n';
  const Training* first = nullptr;
  for (const Training& t : all) {
    text += fmt::format("  {:>8}{:>12}", with_thousands(t.gpus), time_text(t.step_s));
    if (t.train_s) text += fmt::format("{:>12.4g}", *t.train_s / kDay);
    if (t.tokens) text += fmt::format("{:>18}", human_count(*t.tokens));
    text += t.simulated ? "\n" : "  (bound only)\n";
    if (t.in_time && first == nullptr) first = &t;
  }
  if (!r.tokens || !r.deadline_s) return text;
  if (first == nullptr) return text + "  none of them is in time\n";
  return text + fmt::format("  in time from {} on\n", counted(first->gpus, "GPU"));
}

nlohmann::ordered_json layout_json(const PlanLayout& l) {
  return {{"tp", l.tp},
          {"sequence_parallel", l.sequence_parallel},
          {"cp", l.cp},
          {"pp", l.pp},
          {"virtual_stages", l.virtual_stages},
          {"dp", l.dp},
          {"ep", l.ep},
          {"schedule", workloads::name_of(l.schedule)},
          {"zero_stage", l.zero_stage},
          {"micro_batch", l.micro_batch},
          {"recompute", workloads::name_of(l.recompute)},
          {"order", kOrders[l.order]}};
}

nlohmann::ordered_json simulated_json(const Simulated& s) {
  return {{"step_time_s", s.seconds},       {"bound_s", s.bound},       {"mfu", s.mfu},
          {"tokens_per_s", s.tokens_per_s}, {"memory_bytes", s.memory}, {"layout", layout_json(s.layout)}};
}

nlohmann::ordered_json terms_json(const std::vector<BoundTerm>& terms) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const BoundTerm& t : terms) json.push_back({{"name", t.name}, {"value_s", t.seconds}});
  return json;
}

nlohmann::ordered_json plan_json(const Plan& p) {
  nlohmann::ordered_json json{{"gpus", p.gpus}, {"layouts", p.search.layouts}};
  json["optimal"] = p.proven() ? "proven" : "not proven";
  json["may_be_faster_by"] =
      p.best() == nullptr ? nlohmann::ordered_json{nullptr} : nlohmann::ordered_json(p.may_be_faster());
  json["rejected"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < kRejects; ++i) {
    const auto reason = static_cast<Reject>(i);
    if (p.search.rejected[i] == 0) continue;
    json["rejected"].push_back({{"reason", to_string(reason)},
                                {"of", rejects_degrees(reason) ? "combinations of degrees" : "layouts"},
                                {"count", p.search.rejected[i]}});
  }
  json["not_built"] = p.not_built;
  json["too_large"] = p.too_large;
  json["simulated"] = nlohmann::ordered_json::array();
  for (const Simulated& s : p.simulated) json["simulated"].push_back(simulated_json(s));
  json["least_bounds"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < std::min(kRows, p.search.candidates.size()); ++i) {
    const Candidate& c = p.search.candidates[i];
    json["least_bounds"].push_back({{"bound_s", c.bound}, {"memory_bytes", c.memory}, {"layout", layout_json(c.layout)}});
  }
  json["winner_terms"] = terms_json(p.winner_terms);
  json["runner_up_terms"] = terms_json(p.runner_up_terms);
  return json;
}

}  // namespace

std::optional<double> step_seconds(const Plan& plan) {
  if (plan.best() != nullptr) return plan.best()->seconds;
  if (plan.search.candidates.empty()) return std::nullopt;
  return plan.search.candidates.front().bound;
}

std::string to_text(const PlanReport& r) {
  std::string text = fmt::format("{}\non {}\n", r.model, r.cluster);
  for (const Plan& p : r.plans) text += head(p) + rows(r, p) + reasons(p) + why(p);
  return text + front_text(r) + training_text(r);
}

nlohmann::ordered_json to_json(const PlanReport& r) {
  nlohmann::ordered_json json{{"schema", "traingraph/plan/1"}, {"model", r.model}, {"cluster", r.cluster}};
  json["tokens_per_step"] = r.tokens_per_step;
  json["memory_capacity_bytes"] = r.memory_capacity;
  json["plans"] = nlohmann::ordered_json::array();
  for (const Plan& p : r.plans) json["plans"].push_back(plan_json(p));
  json["pareto_front"] = nlohmann::ordered_json::array();
  for (const FrontPoint& f : pareto_front(r.plans)) {
    nlohmann::ordered_json point{{"gpus", f.gpus}};
    point.update(simulated_json(f.step));
    json["pareto_front"].push_back(point);
  }
  json["trainings"] = nlohmann::ordered_json::array();
  for (const Training& t : trainings(r)) {
    nlohmann::ordered_json entry{{"gpus", t.gpus}, {"step_time_s", t.step_s}, {"simulated", t.simulated}};
    if (t.train_s) entry["train_s"] = *t.train_s;
    if (t.tokens) entry["tokens_in_time"] = *t.tokens;
    if (r.tokens && r.deadline_s) entry["in_time"] = t.in_time;
    json["trainings"].push_back(entry);
  }
  return json;
}

std::string to_csv(const PlanReport& r) {
  std::string text =
      "gpus,step_time_s,bound_s,mfu,memory_bytes,tp,sequence_parallel,cp,pp,virtual_stages,dp,ep,schedule,zero_stage,"
      "micro_batch,recompute,order\n";
  for (const Plan& p : r.plans) {
    for (const Simulated& s : p.simulated) {
      const PlanLayout& l = s.layout;
      text +=
          fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", p.gpus, s.seconds, s.bound, s.mfu, s.memory,
                      l.tp, l.sequence_parallel, l.cp, l.pp, l.virtual_stages, l.dp, l.ep, workloads::name_of(l.schedule),
                      l.zero_stage, l.micro_batch, workloads::name_of(l.recompute), kOrders[l.order]);
    }
  }
  return text;
}

}  // namespace traingraph::analysis::plan
