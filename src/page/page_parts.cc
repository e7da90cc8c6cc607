#include "page/page_parts.h"

// PART(Name, "file") puts the file's bytes between two symbols.
#define PART(name, file)                                      \
  asm(".pushsection .rodata\n"                                \
      ".global kPart" #name "Begin\n.hidden kPart" #name      \
      "Begin\n"                                               \
      ".global kPart" #name "End\n.hidden kPart" #name        \
      "End\n"                                                 \
      "kPart" #name "Begin:\n.incbin \"" PAGE_FOLDER "/" file \
      "\"\n"                                                  \
      "kPart" #name                                           \
      "End:\n"                                                \
      ".popsection\n");                                       \
  extern "C" const char kPart##name##Begin[];                 \
  extern "C" const char kPart##name##End[];

PART(Html, "page.html")
PART(Style, "page.css")
PART(D3, "libraries/d3.min.js")
PART(D3License, "libraries/d3.LICENSE")
PART(Plot, "libraries/plot.umd.min.js")
PART(PlotLicense, "libraries/plot.LICENSE")
PART(Data, "data.js")
PART(Dom, "dom.js")
PART(Head, "head.js")
PART(Thresholds, "thresholds.js")
PART(Figures, "figures.js")
PART(Requests, "requests.js")
PART(Table, "table.js")
PART(Gallery, "gallery.js")
PART(Main, "main.js")

#define TEXT_OF(name) std::string_view(kPart##name##Begin, static_cast<size_t>(kPart##name##End - kPart##name##Begin))

namespace afterimage {

std::string_view PageHtml() { return TEXT_OF(Html); }

std::string_view PageStyle() { return TEXT_OF(Style); }

std::span<const PageLibrary> PageLibraries() {
  static const PageLibrary libraries[] = {{TEXT_OF(D3), TEXT_OF(D3License)}, {TEXT_OF(Plot), TEXT_OF(PlotLicense)}};
  return libraries;
}

std::span<const std::string_view> PageScripts() {
  static const std::string_view scripts[] = {TEXT_OF(Data),       TEXT_OF(Dom),     TEXT_OF(Head),
                                             TEXT_OF(Thresholds), TEXT_OF(Figures), TEXT_OF(Requests),
                                             TEXT_OF(Table),      TEXT_OF(Gallery), TEXT_OF(Main)};
  return scripts;
}

}  // namespace afterimage
