#include "scenarios/sweep/sweep_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/csv.h"
#include "analysis/fields.h"
#include "analysis/h5_file.h"
#include "scenarios/run_scenario.h"
#include "scenarios/scenario.h"
#include "sim/error.h"

namespace traingraph::scenarios {
namespace {

SweepCell cell_of(const analysis::Field& field) {
  SweepCell cell{field.path, true, {}};
  if (const auto* d = std::get_if<sim::Duration>(&field.value)) cell.text = analysis::exact_seconds(*d);
  if (const auto* v = std::get_if<double>(&field.value)) cell.text = fmt::format("{}", *v);
  if (const auto* n = std::get_if<std::uint64_t>(&field.value)) cell.text = fmt::format("{}", *n);
  if (const auto* t = std::get_if<std::string>(&field.value)) {
    cell.text = *t;
    cell.is_number = false;
  }
  return cell;
}

/// Columns of a table: cells by name.
struct Columns {
  std::vector<SweepCell> heads;  // text: the longest
  std::map<std::string, std::size_t> index;

  explicit Columns(const std::vector<SweepRow>& rows) {
    for (const SweepRow& row : rows) {
      for (const SweepCell& cell : row.cells) {
        const auto [at, added] = index.emplace(cell.name, heads.size());
        if (added) heads.push_back(cell);
        std::string& longest = heads[at->second].text;
        if (cell.text.size() > longest.size()) longest = cell.text;
      }
    }
  }
  /// By column; null: the row has none.
  [[nodiscard]] std::vector<const SweepCell*> of(const SweepRow& row) const {
    std::vector<const SweepCell*> cells(heads.size(), nullptr);
    for (const SweepCell& cell : row.cells) cells[index.at(cell.name)] = &cell;
    return cells;
  }
};

}  // namespace

SweepRow run_point(const Sweep& sweep, std::size_t point, const std::atomic<bool>* cancel) {
  SweepRow row{point, {}, {}};
  try {
    const Scenario scenario = load_text(sweep.scenario_text, sweep.scenario_name, sweep.overrides(point));
    const Prepared prepared = prepare(scenario);
    RunHooks hooks;
    hooks.cancel = cancel;
    for (const analysis::Field& field : analysis::fields(simulate_scenario(scenario, prepared, hooks).result, false)) {
      row.cells.push_back(cell_of(field));
    }
  } catch (const sim::InputError& e) {
    row.error = e.what();
  }
  return row;
}

std::string to_line(const SweepRow& row) {
  nlohmann::ordered_json json{{"point", row.point}, {"error", row.error}};
  json["cells"] = nlohmann::ordered_json::array();
  for (const SweepCell& cell : row.cells) json["cells"].push_back({cell.name, cell.is_number, cell.text});
  return json.dump();
}

std::optional<SweepRow> row_of(const std::string& line, std::size_t points) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("point") || !json.contains("error") || !json.contains("cells"))
    return std::nullopt;
  SweepRow row;
  row.point = json.at("point").get<std::size_t>();
  if (row.point >= points) return std::nullopt;
  row.error = json.at("error").get<std::string>();
  for (const auto& cell : json.at("cells")) {
    row.cells.push_back({cell.at(0).get<std::string>(), cell.at(1).get<bool>(), cell.at(2).get<std::string>()});
  }
  return row;
}

std::string to_csv(const Sweep& sweep, const std::vector<SweepRow>& rows) {
  const Columns columns{rows};
  std::string text = "point";
  for (const std::string& key : sweep.keys) text += "," + analysis::csv_value(key);
  text += ",error";
  for (const SweepCell& head : columns.heads) text += "," + analysis::csv_value(head.name);
  text += "\n";
  for (const SweepRow& row : rows) {
    text += fmt::format("{}", row.point);
    for (const std::string& value : sweep.points[row.point].values) text += "," + analysis::csv_value(value);
    text += "," + analysis::csv_value(row.error);
    for (const SweepCell* cell : columns.of(row)) text += "," + (cell == nullptr ? "" : analysis::csv_value(cell->text));
    text += "\n";
  }
  return text;
}

void write_hdf5(const std::filesystem::path& path, const Sweep& sweep, const std::vector<SweepRow>& rows,
                const std::string& version) {
  using enum analysis::ColumnType;
  const Columns columns{rows};
  const auto width = [&](const auto& text_of) {
    std::size_t longest = 1;
    for (const SweepRow& row : rows) longest = std::max(longest, text_of(row).size());
    return longest;
  };
  std::vector<analysis::Column> heads{{"point", uint64}};
  for (std::size_t k = 0; k < sweep.keys.size(); ++k) {
    heads.push_back({sweep.keys[k], text,
                     width([&](const SweepRow& r) -> const std::string& { return sweep.points[r.point].values[k]; })});
  }
  heads.push_back({"error", text, width([](const SweepRow& r) -> const std::string& { return r.error; })});
  for (const SweepCell& head : columns.heads) {
    heads.push_back(head.is_number ? analysis::Column{head.name, float64}
                                   : analysis::Column{head.name, text, std::max<std::size_t>(1, head.text.size())});
  }
  analysis::H5File file{path, false};
  analysis::H5Table table = file.table("/points", std::move(heads), rows.size());
  for (const SweepRow& row : rows) {
    table.put(std::uint64_t{row.point});
    for (const std::string& value : sweep.points[row.point].values) table.put(std::string_view{value});
    table.put(std::string_view{row.error});
    const std::vector<const SweepCell*> cells = columns.of(row);
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (!columns.heads[c].is_number) {
        table.put(cells[c] == nullptr ? std::string_view{} : std::string_view{cells[c]->text});
      } else {
        table.put(cells[c] == nullptr ? std::nan("") : std::strtod(cells[c]->text.c_str(), nullptr));
      }
    }
    table.end_row();
  }
  table.finish();
  file.attribute("/", "traingraph_version", version);
  file.attribute("/", "scenario", sweep.scenario_text);
  file.commit();
}

}  // namespace traingraph::scenarios
