#include "tests/scenarios/cli_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace traingraph::scenarios::cli_tests {
namespace {

void redirect(int fd, const std::string& file, int flags) {
  const int opened = ::open(file.c_str(), flags, 0666);
  if (opened < 0 || ::dup2(opened, fd) != fd) ::_exit(125);
  ::close(opened);
}

[[noreturn]] void become_program(const Start& start, const TemporaryFolder& streams) {
  redirect(STDIN_FILENO, streams.file("in"), O_RDONLY);
  redirect(STDERR_FILENO, streams.file("err"), O_WRONLY | O_CREAT | O_TRUNC);
  if (start.close_stdout) {
    ::close(STDOUT_FILENO);
  } else if (start.reader_leaves) {
    int ends[2];
    if (::pipe(ends) != 0) ::_exit(125);
    ::close(ends[0]);
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[1]);
  } else {
    redirect(STDOUT_FILENO, start.out_to.empty() ? streams.file("out") : start.out_to, O_WRONLY | O_CREAT | O_TRUNC);
  }
  if (start.address_space_bytes > 0) {
    const rlimit limit{start.address_space_bytes, start.address_space_bytes};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(125);
  }
  if (!start.folder.empty() && ::chdir(start.folder.c_str()) != 0) ::_exit(125);
  std::vector<std::string> words{TRAINGRAPH_BINARY};
  words.insert(words.end(), start.words.begin(), start.words.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(126);
}

}  // namespace

Finished execute(const Start& start) {
  // Streams go through files: no pipe can fill up and block either side.
  const TemporaryFolder streams;
  streams.write("in", start.in);
  const pid_t child = ::fork();
  if (child < 0) throw std::system_error{errno, std::generic_category(), "fork"};
  if (child == 0) become_program(start, streams);
  if (start.meanwhile) start.meanwhile(child);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error{errno, std::generic_category(), "waitpid"};
  }
  Finished finished;
  finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (std::filesystem::exists(streams.file("out"))) finished.out = read_file(streams.file("out"));
  finished.err = read_file(streams.file("err"));
  return finished;
}

Finished execute(std::vector<std::string> words) {
  Start start;
  start.words = std::move(words);
  return execute(start);
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "traingraph-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::system_error{errno, std::generic_category(), pattern};
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream out{file(name), std::ios::binary};
  out << text;
  out.close();
  if (!out) throw std::runtime_error{"cannot write " + file(name)};
  return file(name);
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator{path_}) found.push_back(entry.path().filename().string());
  std::sort(found.begin(), found.end());
  return found;
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  if (!in) throw std::runtime_error{"cannot read " + file.string()};
  return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace traingraph::scenarios::cli_tests
