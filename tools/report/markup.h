#pragma once

#include <string>
#include <string_view>

namespace warpmat {

/// `text` as characters of an XML or HTML document, without control characters, which XML has none of.
inline std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\n':
      case '\t': out += c; break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
  return out;
}

}  // namespace warpmat
