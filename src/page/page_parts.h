// The parts every page is made of: this folder's HTML, CSS and JavaScript, and the libraries, as they were when the
// program was built.
#ifndef AFTERIMAGE_PAGE_PAGE_PARTS_H_
#define AFTERIMAGE_PAGE_PAGE_PARTS_H_

#include <span>
#include <string_view>

namespace afterimage {

// The page with a hole for each of the others: {{title}}, {{style}}, {{libraries}}, {{data}}, {{scripts}}.
std::string_view PageHtml();
std::string_view PageStyle();
// Each with the licence it comes under.
struct PageLibrary {
  std::string_view script;
  std::string_view license;
};
std::span<const PageLibrary> PageLibraries();
// In the order they are to run.
std::span<const std::string_view> PageScripts();

}  // namespace afterimage

#endif  // AFTERIMAGE_PAGE_PAGE_PARTS_H_
