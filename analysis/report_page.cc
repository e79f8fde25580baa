#include "analysis/report_page.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "analysis/markup.h"
#include "analysis/web_assets.h"
#include "sim/error.h"

namespace traingraph::analysis {
namespace {

std::string_view asset(std::string_view name) {
  const auto files = web_assets();
  const auto found = std::find_if(files.begin(), files.end(), [name](const EmbeddedFile& f) { return f.name == name; });
  SIM_ASSERT(found != files.end(), "a module of the page imports a file of the page");
  return found->text;
}

/// "x.js" of `import {...} from "./x.js";`, or "".
std::string imported(const std::string& line) {
  constexpr std::string_view kFrom = "from \"./";
  const std::size_t at = line.find(kFrom);
  if (!line.starts_with("import ") || at == std::string::npos) return {};
  const std::size_t begin = at + kFrom.size();
  return line.substr(begin, line.find('"', begin) - begin);
}

void add_module(std::string_view name, std::set<std::string>& added, std::string& script) {
  if (!added.emplace(name).second) return;
  constexpr std::string_view kExport = "export ";
  std::istringstream lines{std::string{asset(name)}};
  std::string body;
  for (std::string line; std::getline(lines, line);) {
    if (const std::string other = imported(line); !other.empty()) {
      add_module(other, added, script);
      continue;
    }
    body += line.starts_with(kExport) ? line.substr(kExport.size()) : line;
    body += '\n';
  }
  script += body;
}

/// JSON that may stand in a script element: no "</" in it.
std::string embeddable(const nlohmann::ordered_json& document) {
  std::string text = document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  for (std::size_t at = text.find("</"); at != std::string::npos; at = text.find("</", at + 3)) text.replace(at, 2, "<\\/");
  return text;
}

}  // namespace

std::string bundled_script(std::string_view entry) {
  std::set<std::string> added;
  std::string script;
  add_module(entry, added, script);
  return script;
}

std::string report_html(const nlohmann::ordered_json& document) {
  const std::string title = document.at("summary").value("description", std::string{"a run"});
  std::string html = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html += "<title>traingraph: " + escaped_markup(title) + "</title>\n<style>\n";
  html += asset("style.css");
  html += "</style>\n</head>\n<body>\n<header><h1>traingraph</h1></header>\n<main id=\"view\"></main>\n";
  html += "<script type=\"application/json\" id=\"document\">" + embeddable(document) + "</script>\n";
  html += "<script type=\"module\">\n" + bundled_script("report.js") + "</script>\n</body>\n</html>\n";
  return html;
}

}  // namespace traingraph::analysis
