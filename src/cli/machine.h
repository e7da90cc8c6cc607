// What a measurement was made with.
#ifndef AFTERIMAGE_CLI_MACHINE_H_
#define AFTERIMAGE_CLI_MACHINE_H_

#include <string>

namespace afterimage {

// "AMD EPYC ..., 2 cores"
std::string MachineName();

// The commit the program was built from, with "-modified" where files had been changed; "unknown" outside a checkout.
std::string ProgramCommit();

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_MACHINE_H_
