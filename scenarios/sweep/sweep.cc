#include "scenarios/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/diagnostics.h"
#include "scenarios/yaml_reader.h"

namespace traingraph::scenarios {
namespace {

/// The value as YAML in one line.
std::string flow_text(const Value& v) {
  switch (v.kind) {
    case ValueKind::null:
      return "";
    case ValueKind::scalar: {
      if (!v.quoted) return v.text;
      std::string text = "'";
      for (const char c : v.text) text += c == '\'' ? std::string{"''"} : std::string{c};
      return text + "'";
    }
    case ValueKind::list:
    case ValueKind::map:
      break;
  }
  std::string text;
  for (const Value& item : v.items) text += (text.empty() ? "" : ", ") + flow_text(item);
  if (v.kind == ValueKind::list) return "[" + text + "]";
  for (const Entry& e : v.entries) text += (text.empty() ? "" : ", ") + e.key + ": " + flow_text(e.value);
  return "{" + text + "}";
}

/// Values of one key of the grid.
struct Axis {
  std::string key;
  std::vector<std::string> values;
};

class Reader {
 public:
  Reader(const Value& root, Diagnostics& diagnostics) : root_{root}, diagnostics_{diagnostics} {}

  Sweep read() {
    static const std::vector<std::string> kKeys{"scenario", "set", "grid", "list"};
    for (const Entry& e : root_.entries) {
      if (std::find(kKeys.begin(), kKeys.end(), e.key) == kKeys.end()) {
        diagnostics_.error(e.key_origin, e.key, fmt::format("unknown key{}", suggestion(e.key, kKeys)));
      }
    }
    read_scenario();
    read_set();
    read_grid();
    read_list();
    if (diagnostics_.empty() && sweep_.keys.empty()) {
      diagnostics_.error(root_.origin, "", "nothing varies: grid or list is missing");
    }
    if (diagnostics_.empty()) make_points();
    return std::move(sweep_);
  }

 private:
  void read_scenario() {
    const Entry* const e = root_.find("scenario");
    if (e == nullptr) return diagnostics_.error(root_.origin, "scenario", "is missing: the file of the scenario");
    if (e->value.kind != ValueKind::scalar) {
      return diagnostics_.error(e->value.origin, "scenario", fmt::format("expected a file, found {}", describe(e->value)));
    }
    sweep_.scenario_name = e->value.text;
  }

  /// A map under `key`; null when it is absent or wrong.
  const Value* map_of(const char* key) {
    const Entry* const e = root_.find(key);
    if (e == nullptr) return nullptr;
    if (e->value.kind == ValueKind::map && !e->value.entries.empty()) return &e->value;
    diagnostics_.error(e->value.origin, key, fmt::format("expected a map of scenario keys, found {}", describe(e->value)));
    return nullptr;
  }

  void read_set() {
    const Value* const set = map_of("set");
    if (set == nullptr) return;
    for (const Entry& e : set->entries) sweep_.common.push_back(e.key + "=" + flow_text(e.value));
  }

  void take_key(const Entry& e, const std::string& path) {
    if (std::find(sweep_.keys.begin(), sweep_.keys.end(), e.key) != sweep_.keys.end()) {
      diagnostics_.error(e.key_origin, path, "varies twice");
    }
    sweep_.keys.push_back(e.key);
  }

  void read_list() {
    const Entry* const e = root_.find("list");
    if (e == nullptr) return;
    if (e->value.kind != ValueKind::list || e->value.items.empty()) {
      return diagnostics_.error(e->value.origin, "list",
                                fmt::format("expected a list of maps, found {}", describe(e->value)));
    }
    const std::size_t first = sweep_.keys.size();
    for (std::size_t i = 0; i < e->value.items.size(); ++i) {
      const Value& row = e->value.items[i];
      const std::string path = fmt::format("list[{}]", i);
      if (row.kind != ValueKind::map || row.entries.empty()) {
        diagnostics_.error(row.origin, path, fmt::format("expected a map of scenario keys, found {}", describe(row)));
        continue;
      }
      if (sweep_.keys.size() == first) {
        for (const Entry& cell : row.entries) take_key(cell, path + "." + cell.key);
      }
      read_row(row, path, first);
    }
  }

  /// One row of the list, in the order of the first row's keys.
  void read_row(const Value& row, const std::string& path, std::size_t first) {
    std::vector<std::string> values;
    for (std::size_t k = first; k < sweep_.keys.size(); ++k) {
      const Entry* const cell = row.find(sweep_.keys[k]);
      if (cell == nullptr) {
        diagnostics_.error(row.origin, path, fmt::format("'{}' is missing, which the first row has", sweep_.keys[k]));
        return;
      }
      values.push_back(flow_text(cell->value));
    }
    if (row.entries.size() != values.size()) {
      diagnostics_.error(row.origin, path, "has keys that the first row has not");
    }
    rows_.push_back(std::move(values));
  }

  void read_grid() {
    const Value* const grid = map_of("grid");
    if (grid == nullptr) return;
    for (const Entry& e : grid->entries) {
      take_key(e, "grid." + e.key);
      if (e.value.kind != ValueKind::list || e.value.items.empty()) {
        diagnostics_.error(e.value.origin, "grid." + e.key,
                           fmt::format("expected a list of values, found {}", describe(e.value)));
        continue;
      }
      Axis& axis = axes_.emplace_back(Axis{e.key, {}});
      for (const Value& v : e.value.items) axis.values.push_back(flow_text(v));
    }
  }

  void make_points() {
    double count = static_cast<double>(std::max<std::size_t>(1, rows_.size()));
    for (const Axis& axis : axes_) count *= static_cast<double>(axis.values.size());
    if (count > static_cast<double>(kMostPoints)) {
      return diagnostics_.error(root_.origin, "", fmt::format("{} points; allowed: up to {}", count, kMostPoints));
    }
    const std::size_t combinations = static_cast<std::size_t>(count) / std::max<std::size_t>(1, rows_.size());
    for (std::size_t r = 0; r < std::max<std::size_t>(1, rows_.size()); ++r) {
      for (std::size_t c = 0; c < combinations; ++c) {
        SweepPoint point;
        std::size_t period = combinations;
        for (const Axis& axis : axes_) {
          period /= axis.values.size();
          point.values.push_back(axis.values[c / period % axis.values.size()]);
        }
        if (!rows_.empty()) point.values.insert(point.values.end(), rows_[r].begin(), rows_[r].end());
        sweep_.points.push_back(std::move(point));
      }
    }
  }

  const Value& root_;
  Diagnostics& diagnostics_;
  Sweep sweep_;
  std::vector<Axis> axes_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace

std::vector<std::string> Sweep::overrides(std::size_t point) const {
  std::vector<std::string> all;
  for (std::size_t k = 0; k < keys.size(); ++k) all.push_back(keys[k] + "=" + points[point].values[k]);
  all.insert(all.begin(), common.begin(), common.end());
  return all;
}

std::uint64_t Sweep::digest(const std::string& salt) const {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  const auto add = [&](const std::string& text) {
    for (const char c : text + '\0') hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  };
  add(salt);
  add(scenario_text);
  for (const std::string& o : common) add(o);
  for (const std::string& k : keys) add(k);
  for (const SweepPoint& p : points) {
    for (const std::string& v : p.values) add(v);
  }
  return hash;
}

Sweep load_sweep(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  Diagnostics diagnostics;
  const Origin place{OriginKind::file, file.string(), 0, 0};
  const Value root = read_yaml(read_text(file), place, diagnostics);
  if (root.kind != ValueKind::map && diagnostics.empty()) {
    diagnostics.error(root.origin, "",
                      fmt::format("expected a map with scenario, set, grid, list, found {}", describe(root)));
  }
  diagnostics.check();
  Sweep sweep = Reader{root, diagnostics}.read();
  diagnostics.check();
  const std::filesystem::path scenario = file.parent_path() / sweep.scenario_name;
  sweep.scenario_name = scenario.string();
  sweep.scenario_text = read_text(scenario);
  sweep.common.insert(sweep.common.end(), overrides.begin(), overrides.end());
  return sweep;
}

}  // namespace traingraph::scenarios
