// Ids are types: a LinkId cannot be passed where a RankId is meant, and an IdVector can only be indexed by its own id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace traingraph::sim {

enum class LinkId : std::uint32_t {};          ///< a directed link of the fabric
enum class EndpointId : std::uint32_t {};      ///< a device that sends and receives: a GPU, by its number in the fabric
enum class PathId : std::uint32_t {};          ///< an interned path (PathTable)
enum class RankId : std::uint32_t {};          ///< one player of a program; a GPU, or a class of interchangeable GPUs
enum class CommunicatorId : std::uint32_t {};  ///< an ordered group of ranks
enum class ChannelId : std::uint32_t {};       ///< an ordered point-to-point stream of messages, source to destination
enum class TemplateId : std::uint32_t {};      ///< a list of operations shared by ranks with the same role
enum class TransferId : std::uint32_t {};      ///< a slot of a transfer in flight (reused after its end)

template <class Id>
[[nodiscard]] constexpr std::uint32_t index(Id id) {
  return static_cast<std::uint32_t>(id);
}

/// A vector that is indexed by one id type only.
template <class Id, class T>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(std::size_t n, const T& value = T{}) : v_(n, value) {}

  [[nodiscard]] decltype(auto) operator[](Id id) { return v_[index(id)]; }
  [[nodiscard]] decltype(auto) operator[](Id id) const { return v_[index(id)]; }
  [[nodiscard]] std::size_t size() const { return v_.size(); }
  [[nodiscard]] bool empty() const { return v_.empty(); }
  [[nodiscard]] bool contains(Id id) const { return index(id) < v_.size(); }
  Id push_back(T value) {
    v_.push_back(std::move(value));
    return static_cast<Id>(v_.size() - 1);
  }
  void resize(std::size_t n, const T& value = T{}) { v_.resize(n, value); }
  void reserve(std::size_t n) { v_.reserve(n); }
  [[nodiscard]] auto begin() { return v_.begin(); }
  [[nodiscard]] auto end() { return v_.end(); }
  [[nodiscard]] auto begin() const { return v_.begin(); }
  [[nodiscard]] auto end() const { return v_.end(); }
  [[nodiscard]] const std::vector<T>& raw() const { return v_; }

 private:
  std::vector<T> v_;
};

}  // namespace traingraph::sim
