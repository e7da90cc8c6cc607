#include "page/page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>

#include "core/sha256.h"
#include "page/page_parts.h"
#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

class PageTest : public testing::Test {
 protected:
  std::string WriteLines(const std::string& name, const std::vector<Json>& lines) {
    std::ofstream file(folder_ / name);
    for (const Json& line : lines) file << line.dump() << "\n";
    return folder_ / name;
  }

  static std::string Make(const std::vector<std::string>& logs, const std::string& title = "A title") {
    const Result<std::string> page = MakePage(logs, title);
    EXPECT_TRUE(page.ok()) << page.error().message;
    return page.ok() ? *page : "";
  }

  // What the page's script will read.
  static Json DataOf(const std::string& page) {
    const std::string_view open = "<script type=\"application/json\" id=\"data\">";
    const size_t begin = page.find(open) + open.size();
    return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  }

  TemporaryFolder folder_;
};

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

TEST_F(PageTest, APageHoldsItsTitleItsStyleItsScriptsAndItsLibraries) {
  const std::string page = Make({WriteLines("log.jsonl", {})});
  EXPECT_NE(page.find("<title>A title</title>"), std::string::npos);
  EXPECT_NE(page.find(PageStyle()), std::string::npos);
  for (const std::string_view script : PageScripts()) EXPECT_NE(page.find(script), std::string::npos);
  for (const PageLibrary& library : PageLibraries()) {
    EXPECT_NE(page.find(library.script), std::string::npos);
    EXPECT_NE(page.find(library.license), std::string::npos);
  }
  EXPECT_TRUE(page.ends_with("</html>\n"));
}

TEST_F(PageTest, TheLibrariesAreThoseTheirReadmeNames) {
  std::ifstream file(LIBRARIES_README);
  const std::string readme(std::istreambuf_iterator<char>(file), {});
  for (const PageLibrary& library : PageLibraries()) {
    const std::string digest = Sha256().AddRaw(std::as_bytes(std::span(library.script))).Finish().Hex();
    EXPECT_NE(readme.find(digest), std::string::npos) << digest;
  }
}

TEST_F(PageTest, NoPartOfAPageCanEndTheScriptItStandsIn) {
  for (const std::string_view script : PageScripts()) {
    EXPECT_EQ(script.find("</script"), std::string_view::npos);
    EXPECT_EQ(script.find("<!--"), std::string_view::npos);
  }
  for (const PageLibrary& library : PageLibraries()) {
    EXPECT_EQ(library.script.find("</script"), std::string_view::npos);
    EXPECT_EQ(library.script.find("<!--"), std::string_view::npos);
    EXPECT_EQ(library.license.find("*/"), std::string_view::npos);
  }
  EXPECT_EQ(PageStyle().find("</style"), std::string_view::npos);
}

TEST_F(PageTest, TextsOfALogAreDataWhateverTheySay) {
  const std::string awkward = "</script><!-- <b>{{title}}</b> \" \\ \u2028 \u00fc";
  const std::string plain = Make({WriteLines("plain.jsonl", {{{"name", "a"}, {"notes", "n"}, {"error", nullptr}}})});
  const std::string page =
      Make({WriteLines("log.jsonl", {{{"name", awkward}, {"notes", awkward}, {"error", nullptr}}})});
  const Json data = DataOf(page);
  EXPECT_EQ(data["experiments"][0]["name"], awkward);
  EXPECT_EQ(data["experiments"][0]["options"]["notes"], awkward);
  EXPECT_EQ(CountOf(page, "</script"), CountOf(plain, "</script"));
  EXPECT_EQ(CountOf(page, "<!--"), CountOf(plain, "<!--"));
}

TEST_F(PageTest, ATitleIsTextToo) {
  const std::string page = Make({WriteLines("log.jsonl", {})}, "a < b & </title><script>");
  EXPECT_NE(page.find("<title>a &lt; b &amp; &lt;/title&gt;&lt;script&gt;</title>"), std::string::npos);
}

TEST_F(PageTest, BytesThatAreNoUtf8DoNoHarm) {
  std::ofstream(folder_ / "log.csv", std::ios::binary) << "name,notes,error\na,\xff\xfe,\n";
  EXPECT_EQ(DataOf(Make({folder_ / "log.csv"}))["experiments"].size(), 1);
}

TEST_F(PageTest, AMissingSamplesFileIsNamed) {
  const Json row = {{"name", "a"}, {"samples_file", "no-such.jsonl"}, {"error", nullptr}, {"hit_rate", 0.5}};
  const Json data = DataOf(Make({WriteLines("log.jsonl", {row})}));
  EXPECT_TRUE(data["experiments"][0]["requests"].is_null());
  EXPECT_NE(data["experiments"][0]["requests_missing"].get<std::string>().find("no-such.jsonl"), std::string::npos);
}

TEST_F(PageTest, SamplesAreFoundBesideTheLog) {
  WriteLines("samples.jsonl", {{{"class", "cold"}, {"ttft", 0.25}, {"hit", false}, {"hit_source", nullptr}}});
  const Json row = {{"name", "a"}, {"samples_file", "samples.jsonl"}, {"error", nullptr}};
  const Json data = DataOf(Make({WriteLines("log.jsonl", {row})}));
  EXPECT_TRUE(data["experiments"][0]["requests_missing"].is_null());
  EXPECT_EQ(data["experiments"][0]["requests"]["ttft_ms"], Json::array({250.0}));
}

TEST_F(PageTest, AFileThatIsNoLogIsRefusedByNameAndLine) {
  std::ofstream(folder_ / "text.jsonl") << R"({"name": "a", "error": null})" << "\nhello\n";
  const Result<std::string> page = MakePage({folder_ / "text.jsonl"}, "");
  ASSERT_FALSE(page.ok());
  EXPECT_EQ(page.error().code, Errc::kCorrupt);
  EXPECT_NE(page.error().message.find("text.jsonl:2"), std::string::npos) << page.error().message;
  EXPECT_EQ(MakePage({folder_ / "absent.jsonl"}, "").error().code, Errc::kNotFound);
}

}  // namespace
}  // namespace afterimage
