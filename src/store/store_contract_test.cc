#include "testing/store_contract.h"

#include "store/disk_store.h"
#include "store/memory_store.h"
#include "store/tiered_store.h"
#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

std::shared_ptr<ChunkStore> MakeMemory(uint64_t max_bytes, uint64_t max_blocks) {
  return std::make_shared<MemoryStore>(MemoryStoreOptions{.max_bytes = max_bytes, .max_blocks = max_blocks},
                                       SteadyClock());
}

struct InFolder {
  TemporaryFolder folder;
  std::unique_ptr<DiskStore> disk;
  std::unique_ptr<MemoryStore> memory;
  std::unique_ptr<TieredStore> tiered;
};

std::shared_ptr<InFolder> OpenInFolder(uint64_t max_bytes, uint64_t max_blocks, Durability durability) {
  auto made = std::make_shared<InFolder>();
  const DiskStoreOptions options = {.folder = made->folder / "store",
                                    .max_bytes = max_bytes,
                                    .max_blocks = max_blocks,
                                    .queue_bytes = uint64_t{4} << 20,
                                    .durability = durability};
  made->disk = DiskStore::Open(options, PosixFileSystem(), SteadyClock()).value();
  return made;
}

template <Durability kDurability>
std::shared_ptr<ChunkStore> MakeDisk(uint64_t max_bytes, uint64_t max_blocks) {
  const auto made = OpenInFolder(max_bytes, max_blocks, kDurability);
  return {made, made->disk.get()};
}

// The fast store holds half of what the slow one may, so that both serve.
std::shared_ptr<ChunkStore> MakeTiered(uint64_t max_bytes, uint64_t max_blocks) {
  const auto made = OpenInFolder(max_bytes, max_blocks, Durability::kProcess);
  made->memory = std::make_unique<MemoryStore>(
      MemoryStoreOptions{.max_bytes = max_bytes / 2, .max_blocks = max_blocks / 2}, SteadyClock());
  made->tiered = std::make_unique<TieredStore>(*made->memory, *made->disk);
  return {made, made->tiered.get()};
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract,
                         testing::Values(StoreCase{"Memory", MakeMemory},
                                         StoreCase{"Disk", MakeDisk<Durability::kProcess>},
                                         StoreCase{"DiskAgainstPowerCuts", MakeDisk<Durability::kPower>},
                                         StoreCase{"Tiered", MakeTiered}),
                         StoreCaseName);

}  // namespace
}  // namespace afterimage
