/* Hooks that are right, or wrong in one way each, for plugin_hook_test.cc. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "afterimage/embedding_plugin.h"

#define FACTORY(name)                                                                  \
  const afterimage_embedding_hook* name(uint32_t abi, char* error, size_t error_size); \
  const afterimage_embedding_hook* name(uint32_t abi, char* error, size_t error_size)
#define UNUSED_ARGUMENTS ((void)abi, (void)error, (void)error_size)

static const afterimage_embedding_source kSources[] = {
    {"lengths", "test/1", 4, AFTERIMAGE_MODALITY_TEXT},
    {"encoded", "test/1", 2, AFTERIMAGE_MODALITY_JOINT},
};

/* "lengths": of the texts. "encoded": the number of tensors, and their first value. The state counts calls. */
static int32_t Embed(void* state, const afterimage_embedding_request* request, const uint32_t* wanted, size_t n_wanted,
                     float* const* vectors, char* error, size_t error_size) {
  ++*(int*)state;
  for (size_t i = 0; i < n_wanted; ++i) {
    if (wanted[i] == 0) {
      vectors[i][0] = (float)request->id.size;
      vectors[i][1] = (float)request->question.size;
      vectors[i][2] = (float)request->chunk_text.size;
      vectors[i][3] = (float)request->metadata.size;
      continue;
    }
    const afterimage_tensor* tensors = NULL;
    size_t n_tensors = 0;
    if (request->encoder_output == NULL) return AFTERIMAGE_NOTHING;
    if (request->encoder_output(request->encoder_context, &tensors, &n_tensors, error, error_size) != AFTERIMAGE_OK) {
      return AFTERIMAGE_FAILED;
    }
    vectors[i][0] = (float)n_tensors;
    vectors[i][1] = tensors[0].values[0];
  }
  return AFTERIMAGE_OK;
}

static int32_t EmbedTooLittle(void* state, const afterimage_embedding_request* request, const uint32_t* wanted,
                              size_t n_wanted, float* const* vectors, char* error, size_t error_size) {
  (void)state, (void)request, (void)wanted, (void)n_wanted, (void)error, (void)error_size;
  vectors[0][0] = 1;
  return AFTERIMAGE_OK;
}

static int32_t EmbedInfinity(void* state, const afterimage_embedding_request* request, const uint32_t* wanted,
                             size_t n_wanted, float* const* vectors, char* error, size_t error_size) {
  (void)state, (void)request, (void)wanted, (void)n_wanted, (void)error, (void)error_size;
  for (int i = 0; i < 4; ++i) vectors[0][i] = INFINITY;
  return AFTERIMAGE_OK;
}

/* Fills the buffer for the error to its last byte, without a zero. */
static int32_t EmbedFails(void* state, const afterimage_embedding_request* request, const uint32_t* wanted,
                          size_t n_wanted, float* const* vectors, char* error, size_t error_size) {
  (void)state, (void)request, (void)wanted, (void)n_wanted, (void)vectors;
  memset(error, 'x', error_size);
  return AFTERIMAGE_FAILED;
}

/* The number of hooks that live, told to the test. */
static int alive = 0;
int n_alive(void);
int n_alive(void) { return alive; }

static void Destroy(void* state) {
  free(state);
  --alive;
}

FACTORY(good) {
  UNUSED_ARGUMENTS;
  static afterimage_embedding_hook hook;
  ++alive;
  hook = (afterimage_embedding_hook){AFTERIMAGE_EMBEDDING_ABI, 2, kSources, calloc(1, sizeof(int)), Embed, Destroy};
  return &hook;
}

#define SIMPLE(name, abi_number, n_sources, sources, embed)                                            \
  FACTORY(name) {                                                                                      \
    UNUSED_ARGUMENTS;                                                                                  \
    static const afterimage_embedding_hook hook = {abi_number, n_sources, sources, NULL, embed, NULL}; \
    return &hook;                                                                                      \
  }

static const afterimage_embedding_source kHuge[] = {{"huge", "test/1", 4000000000u, AFTERIMAGE_MODALITY_TEXT}};
static const afterimage_embedding_source kNameless[] = {{NULL, "test/1", 4, AFTERIMAGE_MODALITY_TEXT}};
static const afterimage_embedding_source kNoModality[] = {{"odd", "test/1", 4, 7}};

SIMPLE(too_little, AFTERIMAGE_EMBEDDING_ABI, 1, kSources, EmbedTooLittle)
SIMPLE(infinite, AFTERIMAGE_EMBEDDING_ABI, 1, kSources, EmbedInfinity)
SIMPLE(failing, AFTERIMAGE_EMBEDDING_ABI, 1, kSources, EmbedFails)
SIMPLE(other_abi, AFTERIMAGE_EMBEDDING_ABI + 1, 1, kSources, EmbedInfinity)
SIMPLE(no_sources, AFTERIMAGE_EMBEDDING_ABI, 0, NULL, EmbedInfinity)
SIMPLE(no_embed, AFTERIMAGE_EMBEDDING_ABI, 1, kSources, NULL)
SIMPLE(huge, AFTERIMAGE_EMBEDDING_ABI, 1, kHuge, EmbedInfinity)
SIMPLE(nameless, AFTERIMAGE_EMBEDDING_ABI, 1, kNameless, EmbedInfinity)
SIMPLE(no_modality, AFTERIMAGE_EMBEDDING_ABI, 1, kNoModality, EmbedInfinity)

FACTORY(refusing) {
  (void)abi;
  snprintf(error, error_size, "The weights are missing.");
  return NULL;
}
