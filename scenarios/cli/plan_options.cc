#include "scenarios/cli/plan_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "scenarios/cli/interrupt.h"
#include "scenarios/cli/load.h"
#include "scenarios/cli/option_values.h"
#include "scenarios/diagnostics.h"
#include "scenarios/quantity.h"

namespace traingraph::scenarios::cli {
namespace {

constexpr std::uint32_t kMostGpus = 1U << 22;

std::uint32_t gpu_number(const std::string& word) { return whole_number<std::uint32_t>("--gpus", word, 1, kMostGpus); }

/// "1024", or "1024..65536": every doubling.
std::vector<std::uint32_t> gpu_numbers(const std::string& word) {
  const std::size_t dots = word.find("..");
  if (dots == std::string::npos) return {gpu_number(word)};
  const std::uint32_t from = gpu_number(word.substr(0, dots));
  const std::uint32_t to = gpu_number(word.substr(dots + 2));
  if (from > to) throw UsageError{fmt::format("--gpus: found '{}', allowed: from..to, the smaller first", word)};
  std::vector<std::uint32_t> numbers;
  for (std::uint64_t n = from; n <= to; n *= 2) numbers.push_back(static_cast<std::uint32_t>(n));
  return numbers;
}

template <class T>
T positive(const char* option, const Parsed<T>& parsed, const std::string& word, const char* allowed) {
  if (!parsed.value || !(*parsed.value > 0)) {
    throw UsageError{fmt::format("{}: found '{}', allowed: {}", option, word, allowed)};
  }
  return *parsed.value;
}

}  // namespace

PlanQuestion plan_question(const Options& options) {
  const PlanWords& words = options.plan;
  PlanQuestion question;
  if (words.gpus) question.gpus = gpu_numbers(*words.gpus);
  for (const std::string& name : words.keep) {
    const auto& known = kept_dimensions();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UsageError{fmt::format("--keep: unknown dimension '{}'{}", name, suggestion(name, known))};
    }
  }
  question.keep = words.keep;
  if (words.tokens) question.tokens = positive("--tokens", parse_number(*words.tokens), *words.tokens, "a number above 0");
  if (words.deadline) {
    question.deadline_s =
        positive("--deadline", parse_seconds(*words.deadline), *words.deadline, "a time above 0 with its unit, as 90d");
  }
  if (words.budget) {
    question.limits.budget_s = positive("--budget", parse_number(*words.budget), *words.budget, "seconds above 0");
  }
  if (words.top) {
    question.limits.top = whole_number<std::uint64_t>("--top", *words.top, 0, std::numeric_limits<std::uint64_t>::max());
  }
  question.limits.threads = options.threads;
  question.limits.cancel = &interrupted();
  return question;
}

Scenario plan_subject(const Options& options) {
  const PlanWords& words = options.plan;
  const bool parts = words.model || words.cluster || words.hardware || words.batch || words.sequence || words.precision;
  if (!options.subject.empty()) {
    if (parts) {
      throw UsageError{
          "plan: give a scenario, or its parts (--model, --cluster, --hardware, ...); --set changes one value of a "
          "scenario"};
    }
    return load_subject(options);
  }
  if (!words.model || !words.cluster || !words.hardware || !words.batch) {
    throw UsageError{"plan: the scenario is missing; without one, --model, --cluster, --hardware and --batch are needed"};
  }
  return scenario_of({*words.model, *words.cluster, *words.hardware, words.batch, words.sequence, words.precision},
                     options.overrides);
}

}  // namespace traingraph::scenarios::cli
