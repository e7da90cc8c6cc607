/* A hook in plain C: the colours of the first picture, wherever they are in it.
 *
 *   cc -shared -fPIC -I include -o libhistogram.so examples/hooks/histogram_hook.c
 *   afterimage run --embedding-hook ./libhistogram.so:histogram_hook ...
 */
#include <stdio.h>
#include <string.h>

#include "afterimage/embedding_plugin.h"

/* Four levels of red, of green and of blue. */
#define N_LEVELS 4
#define N_COLOURS (N_LEVELS * N_LEVELS * N_LEVELS)

static const afterimage_embedding_source kSources[] = {
    {"vision", "histogram_hook/1", N_COLOURS, AFTERIMAGE_MODALITY_IMAGE},
};

static int32_t Embed(void* state, const afterimage_embedding_request* request, const uint32_t* wanted, size_t n_wanted,
                     float* const* vectors, char* error, size_t error_size) {
  (void)state;
  (void)wanted; /* there is only one source */
  if (request->n_pictures == 0) {
    snprintf(error, error_size, "The request has no picture.");
    return AFTERIMAGE_NOTHING;
  }
  const afterimage_picture* picture = &request->pictures[0];
  const size_t n_pixels = (size_t)picture->width * picture->height;
  float counts[N_COLOURS] = {0};
  for (size_t i = 0; i < n_pixels; ++i) {
    const uint8_t* rgb = picture->rgb + i * 3;
    const size_t colour = ((size_t)rgb[0] / 64 * N_LEVELS + rgb[1] / 64) * N_LEVELS + rgb[2] / 64;
    counts[colour] += 1.0f;
  }
  for (size_t i = 0; i < N_COLOURS; ++i) counts[i] /= (float)n_pixels;
  for (size_t i = 0; i < n_wanted; ++i) memcpy(vectors[i], counts, sizeof(counts));
  return AFTERIMAGE_OK;
}

static const afterimage_embedding_hook kHook = {
    AFTERIMAGE_EMBEDDING_ABI, 1, kSources, NULL, Embed, NULL,
};

const afterimage_embedding_hook* histogram_hook(uint32_t abi, char* error, size_t error_size);

const afterimage_embedding_hook* histogram_hook(uint32_t abi, char* error, size_t error_size) {
  if (abi != AFTERIMAGE_EMBEDDING_ABI) {
    snprintf(error, error_size, "It is written for version %u of the interface.", AFTERIMAGE_EMBEDDING_ABI);
    return NULL;
  }
  return &kHook;
}
