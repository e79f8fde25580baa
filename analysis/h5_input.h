// H5Input: reading a result file that H5File wrote (hdf5_writer.h says what is in it), column by column.
//
// What is missing or of another type is the user's fault, not ours: sim::InputError names the file and the object. Reading a
// column costs its size in memory, whatever else the table holds. Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace traingraph::analysis {

class H5Input {
 public:
  using Scalar = std::variant<double, std::uint64_t, std::string>;
  struct Matrix {
    std::uint64_t rows = 0;
    std::uint64_t columns = 0;
    std::vector<float> values;  ///< row-major
  };

  explicit H5Input(std::filesystem::path path);
  H5Input(const H5Input&) = delete;
  H5Input& operator=(const H5Input&) = delete;
  ~H5Input();

  [[nodiscard]] bool has(const std::string& object) const;
  [[nodiscard]] bool is_group(const std::string& object) const;
  /// Names of what a group holds, sorted.
  [[nodiscard]] std::vector<std::string> members(const std::string& group) const;
  [[nodiscard]] Scalar scalar(const std::string& path) const;
  [[nodiscard]] std::string text_attribute(const std::string& object, const std::string& name) const;
  [[nodiscard]] std::int64_t integer_attribute(const std::string& object, const std::string& name) const;

  [[nodiscard]] std::vector<std::string> columns(const std::string& table) const;
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& table, const std::string& column) const;
  [[nodiscard]] std::vector<double> reals(const std::string& table, const std::string& column) const;
  [[nodiscard]] std::vector<std::string> texts(const std::string& table, const std::string& column) const;
  [[nodiscard]] Matrix matrix(const std::string& path) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace traingraph::analysis
