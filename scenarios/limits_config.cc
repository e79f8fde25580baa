#include "scenarios/limits_config.h"

#include <fmt/format.h>

#include <cctype>
#include <utility>

#include "scenarios/binder.h"
#include "scenarios/checks.h"
#include "scenarios/describer.h"
#include "scenarios/override.h"
#include "scenarios/preset_merge.h"
#include "scenarios/preset_store.h"
#include "scenarios/printer.h"
#include "scenarios/yaml_reader.h"

namespace traingraph::scenarios {

namespace {

constexpr std::string_view kFolder = "theory";
constexpr std::string_view kDefaultGpu = "h100";

std::string lower(std::string_view text) {
  std::string result{text};
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// The preset that carries `name` as its own (`H100-Superpod`), whatever the case, or `name` itself.
std::string preset_named(std::string_view name) {
  if (find_preset(kFolder, name) != nullptr) return std::string{name};
  for (const PresetFile& preset : all_presets()) {
    if (preset.folder != kFolder) continue;
    Diagnostics ignored;
    const Value value = read_yaml(preset.text, {OriginKind::preset, std::string{preset.name}, 0, 0}, ignored);
    const Entry* const own = value.find("name");
    if (own != nullptr && lower(own->value.text) == lower(name)) return std::string{preset.name};
  }
  return std::string{name};
}

void set_gpu(Value& root, std::string_view gpu, const Origin& place) {
  Value word;
  word.kind = ValueKind::scalar;
  word.origin = place;
  word.text = preset_named(gpu);
  if (Entry* const entry = root.find("gpu")) {
    entry->value = std::move(word);
  } else {
    root.entries.push_back({"gpu", place, std::move(word)});
  }
}

/// Overrides that reach into a list need the preset's list to be there.
void apply_overrides(Value& root, const std::vector<std::string>& overrides, Diagnostics& diagnostics) {
  for (const std::string& text : overrides) {
    const bool into_list = text.find('[') < text.find('=');
    if (Entry* const gpu = root.find("gpu"); into_list && gpu != nullptr) {
      if (auto whole = with_preset(gpu->value, kFolder, "gpu", diagnostics)) gpu->value = std::move(*whole);
    }
    apply_override(root, text, diagnostics);
  }
}

void check_values(const LimitsConfig& config, Checker& check) {
  const auto& [gpu, assumptions, scan] = config.question;
  if (check.readable({"gpu"})) {
    const std::string fault = analysis::theory::fault_of(gpu);
    check.expect(fault.empty(), "gpu.network", "{}", fault);
  }
  if (check.readable({"experts", "active_experts"})) {
    check.expect(assumptions.active_experts <= assumptions.experts, check.blamed({"active_experts", "experts"}),
                 "{} active of {} experts; allowed: at most all of them", assumptions.active_experts, assumptions.experts);
  }
  if (check.readable({"scan.from", "scan.to"})) {
    check.expect(scan.from <= scan.to, check.blamed({"scan.to", "scan.from"}),
                 "the curve ends at {} FLOP, before it starts at {} FLOP", scan.to, scan.from);
  }
}

LimitsConfig bind(Value root, const std::vector<std::string>& overrides, Diagnostics& diagnostics) {
  apply_overrides(root, overrides, diagnostics);
  LimitsConfig config;
  Binder binder{root, diagnostics, config.provenance};
  fields(binder, config);
  binder.finish();
  Checker check{config.provenance, diagnostics};
  check_values(config, check);
  diagnostics.check();
  return config;
}

}  // namespace

LimitsConfig load_limits_preset(std::string_view gpu, const std::vector<std::string>& overrides) {
  const Origin place{OriginKind::file, fmt::format("--gpu {}", gpu), 0, 0};
  Value root;
  root.kind = ValueKind::map;
  root.origin = place;
  set_gpu(root, gpu, place);
  Diagnostics diagnostics;
  LimitsConfig config = bind(std::move(root), overrides, diagnostics);
  if (config.name.empty()) config.name = "paper";
  return config;
}

LimitsConfig load_limits(const std::filesystem::path& file, std::string_view gpu,
                         const std::vector<std::string>& overrides) {
  Diagnostics diagnostics;
  const Origin place{OriginKind::file, file.string(), 0, 0};
  Value root = read_yaml(read_text(file), place, diagnostics);
  if (root.kind == ValueKind::null && diagnostics.empty()) {  // an empty file: all defaults
    root.kind = ValueKind::map;
    root.origin = place;
  }
  if (root.kind != ValueKind::map && diagnostics.empty()) {
    diagnostics.error(root.origin, "", fmt::format("expected a map of keys, found {}", describe(root)));
  }
  diagnostics.check();
  if (!gpu.empty() || root.find("gpu") == nullptr) set_gpu(root, gpu.empty() ? kDefaultGpu : gpu, place);
  LimitsConfig config = bind(std::move(root), overrides, diagnostics);
  if (config.name.empty()) config.name = file.stem().string();
  return config;
}

std::string effective_yaml(const LimitsConfig& config) { return printed(config, config.provenance); }

std::string describe_limits_schema() {
  constexpr std::size_t kWidth = 38;
  return described<LimitsConfig>(kWidth);
}

}  // namespace traingraph::scenarios
