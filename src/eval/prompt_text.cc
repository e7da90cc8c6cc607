#include "eval/prompt_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

namespace afterimage {
namespace {

constexpr std::array<std::pair<std::string_view, ChunkSource>, 6> kSources = {{{"question", ChunkSource::kQuestion},
                                                                               {"semantic", ChunkSource::kSemantic},
                                                                               {"answer", ChunkSource::kAnswer},
                                                                               {"group", ChunkSource::kGroup},
                                                                               {"image", ChunkSource::kImage},
                                                                               {"combined", ChunkSource::kCombined}}};

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Runs of white space as one space, none at the ends.
std::string Collapse(std::string_view text) {
  std::string collapsed;
  for (const char c : text) {
    if (!IsSpace(c)) {
      collapsed.push_back(c);
    } else if (!collapsed.empty() && collapsed.back() != ' ') {
      collapsed.push_back(' ');
    }
  }
  if (collapsed.ends_with(' ')) collapsed.pop_back();
  return collapsed;
}

// Object ids stand in parentheses and tie a program to one picture.
std::string WithoutParentheses(std::string_view text) {
  std::string rest;
  while (!text.empty()) {
    const size_t open = text.find('(');
    const size_t close = open == std::string_view::npos ? open : text.find(')', open);
    rest += text.substr(0, close == std::string_view::npos ? close : open);
    text.remove_prefix(close == std::string_view::npos ? text.size() : close + 1);
  }
  return rest;
}

std::string Program(const Sample& sample) {
  return Collapse(WithoutParentheses(sample.semantic_str.empty() ? sample.semantic_program : sample.semantic_str));
}

std::string Joined(std::initializer_list<std::string_view> parts) {
  std::string joined;
  for (const std::string_view part : parts) {
    if (part.empty()) continue;
    if (!joined.empty()) joined += ' ';
    joined += part;
  }
  return joined;
}

std::string SourceText(const Sample& sample, ChunkSource source) {
  switch (source) {
    case ChunkSource::kQuestion:
      return sample.question;
    case ChunkSource::kSemantic:
      return Program(sample);
    case ChunkSource::kAnswer:
      return sample.full_answer.empty() ? sample.answer : sample.full_answer;
    case ChunkSource::kGroup:
      return Joined({sample.global_group, sample.local_group});
    case ChunkSource::kImage:
      return sample.image_id.empty() ? "" : "image-" + sample.image_id;
    case ChunkSource::kCombined:
      return Joined({Program(sample), sample.global_group, sample.local_group});
  }
  return "";
}

std::string_view Placeholder(std::string_view name, const Sample& sample) {
  const std::pair<std::string_view, std::string_view> values[] = {{"question", sample.question},
                                                                  {"answer", sample.answer},
                                                                  {"full_answer", sample.full_answer},
                                                                  {"image_id", sample.image_id},
                                                                  {"dataset_id", sample.id},
                                                                  {"global_group", sample.global_group},
                                                                  {"local_group", sample.local_group},
                                                                  {"semantic_str", sample.semantic_str},
                                                                  {"semantic_program", sample.semantic_program}};
  for (const auto& [key, value] : values) {
    if (key == name) return value;
  }
  return "";
}

bool IsNameCharacter(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

constexpr std::string_view kShortTemplate = "{question}\nAnswer the question using a single word or phrase.";
constexpr std::string_view kOriginalTemplate =
    "You are assisting with the GQA benchmark. Answer the question based on the referenced image.\n"
    "Image ID: {image_id}\nQuestion: {question}\nAnswer:";

}  // namespace

std::string_view Name(ChunkSource source) {
  return std::find_if(kSources.begin(), kSources.end(), [&](const auto& entry) { return entry.second == source; })
      ->first;
}

Result<ChunkSource> ParseChunkSource(std::string_view name) {
  for (const auto& [key, source] : kSources) {
    if (key == name) return source;
  }
  return Error{Errc::kInvalidArgument,
               fmt::format("There is no chunk source '{}': give one of {}.", name, kChunkSources)};
}

std::string ChunkText(const Sample& sample, ChunkSource source) {
  std::string text = SourceText(sample, source);
  return text.empty() ? sample.question : text;
}

std::string FillTemplate(std::string_view prompt_template, const Sample& sample) {
  if (prompt_template.empty() || prompt_template == "question") return sample.question;
  if (prompt_template == "short") prompt_template = kShortTemplate;
  if (prompt_template == "original") prompt_template = kOriginalTemplate;
  std::string filled;
  size_t i = 0;
  while (i < prompt_template.size()) {
    const char c = prompt_template[i];
    if ((c == '{' || c == '}') && prompt_template.substr(i + 1, 1) == std::string_view(&c, 1)) {
      filled.push_back(c);
      i += 2;
      continue;
    }
    size_t end = i + 1;
    while (c == '{' && end < prompt_template.size() && IsNameCharacter(prompt_template[end])) ++end;
    if (end > i + 1 && end < prompt_template.size() && prompt_template[end] == '}') {
      filled += Placeholder(prompt_template.substr(i + 1, end - i - 1), sample);
      i = end + 1;
    } else {
      filled.push_back(c);
      ++i;
    }
  }
  return filled;
}

}  // namespace afterimage
