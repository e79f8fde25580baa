// Helpers of the schema: a std::variant whose alternative is chosen by a key `kind`, and numbers with a word for a special
// value.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "scenarios/fields.h"

namespace traingraph::scenarios {

namespace detail {

template <class Variant, std::size_t... I>
void make_alternative(Variant& v, std::size_t index, std::index_sequence<I...>) {
  static_cast<void>(((index == I && v.index() != I ? (v.template emplace<I>(), true) : false) || ...));
}

}  // namespace detail

/// The leaf of `kind`: `words` name the alternatives in the variant's order.
template <class Variant>
[[nodiscard]] Leaf kind_leaf(Variant& v, std::vector<std::string> words) {
  std::string type = "one of ";
  for (std::size_t i = 0; i < words.size(); ++i) type += (i == 0 ? "" : ", ") + words[i];
  return {std::move(type),
          [&v, words](const Value& value) {
            std::size_t i = 0;
            std::string error = detail::read_word(value, words, i);
            if (error.empty()) detail::make_alternative(v, i, std::make_index_sequence<std::variant_size_v<Variant>>{});
            return error;
          },
          [&v, words] { return std::optional<std::string>{words[v.index()]}; }};
}

/// The keys of one alternative: they exist where the variant holds it.
template <class Alternative, class Variant, class Body>
void alternative(Fields& f, std::string_view condition, Variant& v, const Body& body) {
  Alternative scratch{};  // visited when the variant holds another one, so that its keys are known
  Alternative* const held = std::get_if<Alternative>(&v);
  f.when(condition, held != nullptr, [&] { body(held != nullptr ? *held : scratch); });
}

/// `inner`, with `word` for the value `special` ("auto" for 0).
template <class T>
[[nodiscard]] Leaf or_word(T& v, T special, std::string word, const Leaf& inner) {
  return {inner.type + ", or " + word,
          [&v, special, word, inner](const Value& value) {
            if (value.kind == ValueKind::scalar && value.text == word) {
              v = special;
              return std::string{};
            }
            return inner.read(value);
          },
          [&v, special, word, inner] { return v == special ? std::optional<std::string>{word} : inner.print(); }};
}
/// 0 is written `auto`, and means what the key's line says.
template <class T>
[[nodiscard]] Leaf or_auto(T& v) {
  return or_word(v, T{}, "auto", leaf(v, kPositive));
}

}  // namespace traingraph::scenarios
