// Durability: what stored bytes survive once they are committed.
#ifndef AFTERIMAGE_DURABILITY_H_
#define AFTERIMAGE_DURABILITY_H_

namespace afterimage {

enum class Durability {
  kPower,    // a power cut: files, folders and the catalogue are forced to the disk
  kProcess,  // the end of the process, kill -9 included: they are left to the kernel
};

}  // namespace afterimage

#endif  // AFTERIMAGE_DURABILITY_H_
