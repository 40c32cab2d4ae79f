// Fatbinaries, as a file that cuModuleLoad takes has them: one is refused, or its images are read and the PTX among them is linked.

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include <warpmat/cuda/fatbinary.h>
#include <warpmat/ptx/syntax/link.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpmat;
  if (size < cuda::fatbinary_header_bytes || cuda::image_kind(data) != cuda::ImageKind::fatbinary) return 0;
  if (cuda::fatbinary_bytes(data) > size) return 0;  // as cuModuleLoad
  try {
    const std::vector<cuda::Image> images = cuda::read_fatbinary(data);
    std::vector<std::string> texts;
    for (const cuda::Image& image : images)
      if (image.kind == cuda::Image::Kind::ptx && texts.size() < 4) texts.push_back(image.text());
    for (const char* name : {"sm_75", "sm_90a", "sm_100"}) {
      try {
        cuda::choose_ptx(images, target(name));
      } catch (const cuda::FatbinaryError&) {
      }
    }
    syntax::link_modules(texts);
  } catch (const cuda::FatbinaryError&) {
  } catch (const syntax::LinkError&) {
  } catch (const std::bad_alloc&) {
  }
  return 0;
}
