// `traingraph serve` from outside: what it answers, what it refuses, how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "analysis/theory/limits_json.h"
#include "scenarios/limits_config.h"
#include "tests/scenarios/cli_process.h"

namespace traingraph::scenarios::cli_tests {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

constexpr const char* kJson = "application/json";

/// The port in "http://127.0.0.1:PORT/", once it is there.
int port_in(const std::string& file) {
  constexpr std::chrono::milliseconds kLook{20};
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    const std::string text = read_file(file);
    if (text.ends_with("/\n")) return std::stoi(text.substr(text.rfind(':') + 1));
    std::this_thread::sleep_for(kLook);
  }
  return 0;
}

/// Runs a server on a free port while `visit` talks to it; Ctrl-C ends it.
Finished with_server(const std::function<void(httplib::Client&, int)>& visit) {
  const TemporaryFolder folder;
  const std::string out = folder.file("out");
  std::ofstream{out}.close();
  Start start;
  start.words = {"serve", "--port", "0"};
  start.out_to = out;
  start.meanwhile = [&](pid_t pid) {
    const int port = port_in(out);
    EXPECT_GT(port, 0);
    httplib::Client client{"127.0.0.1", port};
    client.set_read_timeout(60);
    if (port > 0) visit(client, port);
    ::kill(pid, SIGINT);
  };
  return execute(start);
}

TEST(Serve, GivesThePageAndEndsAtInterrupt) {
  const Finished finished = with_server([](httplib::Client& client, int) {
    const auto page = client.Get("/");
    ASSERT_TRUE(page);
    EXPECT_EQ(page->status, 200);
    EXPECT_THAT(page->body, HasSubstr("main.js"));
    EXPECT_THAT(page->get_header_value("Content-Security-Policy"), HasSubstr("default-src 'none'"));
    const auto script = client.Get("/main.js");
    ASSERT_TRUE(script);
    EXPECT_THAT(script->get_header_value("Content-Type"), HasSubstr("text/javascript"));
  });
  EXPECT_EQ(finished.code, 0);
}

TEST(Serve, AnswersLimitsWithTheNumbersOfTheModel) {
  with_server([](httplib::Client& client, int) {
    const std::string question =
        R"({"gpu": "h100", "points": 5, "set": ["batch_exponent=0.25"], "scale": {"network_latency": 0.5}})";
    const auto cold = client.Post("/api/limits", question, kJson);
    const auto warm = client.Post("/api/limits", question, kJson);
    ASSERT_TRUE(cold && warm);
    ASSERT_EQ(cold->status, 200) << cold->body;
    EXPECT_EQ(cold->body, warm->body);  // the start of the search changes nothing

    const Json answer = Json::parse(cold->body);
    const LimitsConfig config = load_limits_preset("h100", answer["set"].get<std::vector<std::string>>());
    analysis::theory::LimitsReport report;
    report.entries.push_back(
        {config.question.gpu.name, effective_yaml(config), analysis::theory::limits(config.question), {}});
    EXPECT_EQ(answer["limits"], Json::parse(analysis::theory::to_json(report).dump())["limits"]);
    EXPECT_DOUBLE_EQ(config.question.gpu.levels[0].latency_s, 2.5e-6);

    const auto csv = client.Post("/api/limits", R"({"gpu": "h100", "points": 2, "format": "csv"})", kJson);
    ASSERT_TRUE(csv);
    EXPECT_THAT(csv->body, HasSubstr("compute_flop,utilization"));
  });
}

TEST(Serve, AFactorScalesWhatThePresetSaysAndNothingElse) {
  with_server([](httplib::Client& client, int) {
    const auto twice = client.Post("/api/limits", R"({"gpu": "h100", "points": 2, "scale": {"flop_rate": 2}})", kJson);
    ASSERT_TRUE(twice);
    EXPECT_THAT(Json::parse(twice->body)["set"].dump(), HasSubstr("gpu.matmul.flop_per_clock_per_sm=8192"));
  });
}

TEST(Serve, FaultsOfAQuestionComeBackAsText) {
  with_server([](httplib::Client& client, int) {
    const auto error = [&](const std::string& body) {
      const auto response = client.Post("/api/limits", body, kJson);
      if (!response) return std::string{"no answer"};
      EXPECT_EQ(response->status, 400) << body;
      return Json::parse(response->body)["error"].get<std::string>();
    };
    EXPECT_THAT(error("{"), HasSubstr("not valid JSON"));
    EXPECT_THAT(error("[]"), HasSubstr("no JSON object"));
    EXPECT_THAT(error(std::string(5000, '[')), HasSubstr("nested too deeply"));
    EXPECT_THAT(error(R"({"gpu": "/etc/passwd"})"), HasSubstr("unknown preset"));
    EXPECT_THAT(error(R"({"gpu": "h100", "file": "x"})"), HasSubstr("unknown key 'file'"));
    EXPECT_THAT(error(R"({"gpu": "h100", "points": 100000})"), HasSubstr("from 2 to 401"));
    EXPECT_THAT(error(R"({"gpu": "h100", "set": ["batch_exponnt=1"]})"), HasSubstr("did you mean 'batch_exponent'?"));
    EXPECT_THAT(error(R"({"gpu": "h100", "scale": {"flop_rate": 0}})"), HasSubstr("allowed: from"));
  });
}

/// The state of a run once it has ended.
std::string end_of(httplib::Client& client, const std::string& run) {
  constexpr std::chrono::milliseconds kLook{20};
  constexpr int kTries = 1500;
  for (int i = 0; i < kTries; ++i) {
    const auto response = client.Get("/api/runs/" + run);
    if (!response || response->status != 200) return "no answer";
    const std::string state = Json::parse(response->body)["state"];
    if (state != "waiting" && state != "running") return state;
    std::this_thread::sleep_for(kLook);
  }
  return "too slow";
}

std::string example(const std::string& name) {
  return read_file(std::string{TRAINGRAPH_SOURCE_DIR} + "/scenarios/examples/" + name);
}

TEST(Serve, ARunGivesTheNumbersOfTheCommandLine) {
  const std::string file = std::string{TRAINGRAPH_SOURCE_DIR} + "/scenarios/examples/ring_8.yaml";
  const Json expected = Json::parse(execute({"run", file, "--format", "json"}).out);
  with_server([&](httplib::Client& client, int) {
    const Json request{{"yaml", example("ring_8.yaml")}};
    const auto size = client.Post("/api/check", request.dump(), kJson);
    ASSERT_TRUE(size);
    EXPECT_EQ(Json::parse(size->body)["gpus"], 8);
    const auto started = client.Post("/api/runs", request.dump(), kJson);
    ASSERT_TRUE(started && started->status == 200);
    const std::string run = Json::parse(started->body)["id"];
    ASSERT_EQ(end_of(client, run), "done");
    const auto result = client.Get("/api/runs/" + run + "/step");
    ASSERT_TRUE(result);
    const Json step = Json::parse(result->body);
    for (const char* key : {"description", "step_time_s", "gap", "lower_bound_s", "gpus"}) {
      EXPECT_EQ(step["summary"][key], expected[key]) << key;
    }
    EXPECT_EQ(step["most_loaded_links"].size(), expected["most_loaded_links"].size());
    EXPECT_FALSE(step["tracks"].empty());
    EXPECT_FALSE(step["heat"]["rows"].empty());

    const std::string resource = step["resources"][0];
    const Json question{{"yaml", example("ring_8.yaml")}, {"what_if", {{"resource", resource}, {"factor", 1}}}};
    const auto asked = client.Post("/api/runs", question.dump(), kJson);
    ASSERT_TRUE(asked && asked->status == 200);
    const std::string second = Json::parse(asked->body)["id"];
    ASSERT_EQ(end_of(client, second), "done");
    EXPECT_EQ(Json::parse(client.Get("/api/runs/" + second + "/step")->body)["step_time_s"], expected["step_time_s"]);
  });
}

TEST(Serve, ARunCanBeCancelledAndAFaultyOneFails) {
  with_server([](httplib::Client& client, int) {
    const Json large{{"yaml", example("gpt3_175b_1024_a100.yaml")}};
    const std::string run = Json::parse(client.Post("/api/runs", large.dump(), kJson)->body)["id"];
    EXPECT_EQ(client.Get("/api/runs/" + run + "/step")->status, 409);
    EXPECT_EQ(client.Delete("/api/runs/" + run)->status, 200);
    EXPECT_EQ(end_of(client, run), "cancelled");

    const Json faulty{{"yaml", "cluster: {preset: nowhere}\n"}};
    const auto check = client.Post("/api/check", faulty.dump(), kJson);
    EXPECT_EQ(check->status, 400);
    EXPECT_THAT(check->body, HasSubstr("scenario:1:"));
    EXPECT_EQ(end_of(client, Json::parse(client.Post("/api/runs", faulty.dump(), kJson)->body)["id"]), "failed");
    EXPECT_EQ(client.Get("/api/runs/999")->status, 404);
  });
}

TEST(Serve, RefusesOtherNamesOriginsAndTypes) {
  with_server([](httplib::Client& client, int port) {
    const auto status = [](const httplib::Result& result) { return result ? result->status : 0; };
    const std::string own = "127.0.0.1:" + std::to_string(port);
    EXPECT_EQ(status(client.Get("/", {{"Host", "example.org"}})), 403);
    EXPECT_EQ(status(client.Get("/", {{"Host", "localhost:" + std::to_string(port)}})), 200);
    const std::string question = R"({"gpu": "h100", "points": 2, "format": "yaml"})";
    EXPECT_EQ(status(client.Post("/api/limits", {{"Origin", "http://example.org"}}, question, kJson)), 403);
    EXPECT_EQ(status(client.Post("/api/limits", {{"Origin", "http://" + own}}, question, kJson)), 200);
    EXPECT_EQ(status(client.Post("/api/limits", question, "text/plain")), 415);
    EXPECT_EQ(status(client.Post("/api/limits", std::string(3U << 20U, ' '), kJson)), 413);
    EXPECT_EQ(status(client.Get("/../../etc/passwd")), 404);
  });
}

TEST(Serve, APortThatIsTakenIsSaidSo) {
  with_server([](httplib::Client&, int port) {
    const Finished second = execute({"serve", "--port", std::to_string(port)});
    EXPECT_EQ(second.code, 4);
    EXPECT_THAT(second.err, HasSubstr("--port: port " + std::to_string(port)));
  });
}

TEST(Serve, APortIsANumber) {
  EXPECT_EQ(execute({"serve", "--port", "65536"}).code, 2);
  EXPECT_THAT(execute({"serve", "--port", "http"}).err, HasSubstr("a whole number from 0 to 65535"));
}

}  // namespace
}  // namespace traingraph::scenarios::cli_tests
