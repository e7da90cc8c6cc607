// The layers of a cache, in the order they are printed. A new layer is one more line in make_layers.cc.
#ifndef AFTERIMAGE_CACHE_MAKE_LAYERS_H_
#define AFTERIMAGE_CACHE_MAKE_LAYERS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "afterimage/cache.h"
#include "layers/layer.h"
#include "store/disk_store.h"

namespace afterimage {

// A layer's place in the report; there also when the layer is not.
struct LayerSlot {
  std::string key;
  std::string off;  // why there is none; empty: there is
  std::unique_ptr<Layer> layer;
};

struct LayerSetup {
  const CacheOptions& options;
  DiskStore& store;
  Digest compatibility;
};

using LayerFactory = std::function<Result<LayerSlot>(const LayerSetup& setup)>;

// Without the store of the cache: every slot is off, for this reason.
std::vector<LayerSlot> EmptySlots(const CacheOptions& options, const std::string& reason);

// `more`: layers after our own. Errors: kInvalidArgument (an embedding layer its hook has no source for), kIo.
Result<std::vector<LayerSlot>> MakeLayers(const LayerSetup& setup, const std::vector<LayerFactory>& more);

}  // namespace afterimage

#endif  // AFTERIMAGE_CACHE_MAKE_LAYERS_H_
