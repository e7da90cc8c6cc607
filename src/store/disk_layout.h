// DiskLayout: where a disk store's files lie.
//
//   <folder>/catalog.db                      the catalogue, with SQLite's -wal and -shm
//   <folder>/kv_chunks/xx/<id>.kv            xx: the first two hex digits of the id
//   <folder>/fusion_chunks/xx/<id>.fusion    or <fusion_folder>/xx/<id>.fusion
//   <folder>/quarantine/                     files that failed a check, catalogues too, for a person to look at
//   <folder>/lock                            held by the one process that writes; has its process id
#ifndef AFTERIMAGE_STORE_DISK_LAYOUT_H_
#define AFTERIMAGE_STORE_DISK_LAYOUT_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "afterimage/digest.h"
#include "afterimage/result.h"
#include "store/chunk_format.h"
#include "store/file_system.h"

namespace afterimage {

class DiskLayout {
 public:
  using Kind = ChunkHeader::Kind;
  static constexpr std::array<Kind, 2> kKinds = {Kind::kKv, Kind::kFusion};

  explicit DiskLayout(std::string folder, std::string fusion_folder = "");

  const std::string& folder() const { return folder_; }
  std::string catalogue() const { return folder_ + "/catalog.db"; }
  std::string lock() const { return folder_ + "/lock"; }
  std::string quarantine() const { return folder_ + "/quarantine"; }
  const std::string& chunks(Kind kind) const { return kind == Kind::kKv ? kv_folder_ : fusion_folder_; }
  std::string FolderOf(Kind kind, const Digest& id) const;
  std::string PathOf(Kind kind, const Digest& id) const;
  std::string QuarantinePathOf(Kind kind, const Digest& id) const;
  // What SQLite may put beside the catalogue, by its ending; the catalogue itself first.
  static constexpr std::array<std::string_view, 4> kCatalogueSuffixes = {"", "-wal", "-shm", "-journal"};

 private:
  std::string folder_;
  std::string kv_folder_;
  std::string fusion_folder_;
};

enum class FolderState {
  kFresh,  // absent, empty, or left by a first start that did not get far: may become a store
  kOurs,   // has a catalogue of ours, sound or not; or our lock and folder of chunks, whatever became of the catalogue
};

// Looks before anything is written. Errors: kInvalidArgument (a folder of something else: it is left alone), kIo.
Result<FolderState> InspectFolder(FileSystem& files, const DiskLayout& layout);

struct FolderScan {
  struct File {
    DiskLayout::Kind kind;
    Digest id;
  };
  std::vector<File> chunks;
  std::vector<std::string> leftovers;  // paths: temporary files, and chunks in folders that are not theirs
};

// The chunk files. Files whose names are not ours are left out: they are nobody's business. Errors: kIo.
Result<FolderScan> ScanChunks(FileSystem& files, const DiskLayout& layout);

// Moves the catalogue to quarantine, in the place of one that may be there: it is damaged, and a new one will be made.
// REQUIRES: nobody has it open, and the lock. Errors: kIo.
Status MoveCatalogueAway(FileSystem& files, const DiskLayout& layout);

struct Purged {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

// Removes everything a store has put into the folder but its lock. Errors: kInvalidArgument (a folder or a catalogue
// that is not ours), kBusy, kIo.
Result<Purged> PurgeFolder(FileSystem& files, const DiskLayout& layout);

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_DISK_LAYOUT_H_
