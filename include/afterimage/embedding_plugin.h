/* An embedding hook in a shared object of your own: `--embedding-hook ./libmine.so:my_factory`.
 *
 * The object exports a factory, of type afterimage_embedding_factory, that describes the hook:
 *
 *   const afterimage_embedding_hook* my_factory(uint32_t abi, char* error, size_t error_size);
 *
 * It is called once at the start. What it returns, and all it refers to, must stay in place until destroy() is called;
 * afterwards the object may be unloaded. Calls of one hook never overlap, though they come from different threads.
 *
 * This header is C, and its structures only ever change together with AFTERIMAGE_EMBEDDING_ABI. An example is
 * examples/hooks/histogram_hook.c.
 */
#ifndef AFTERIMAGE_EMBEDDING_PLUGIN_H_
#define AFTERIMAGE_EMBEDDING_PLUGIN_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C */

#define AFTERIMAGE_EMBEDDING_ABI 1u

/* What a match of two vectors says: the questions are alike, the pictures are, or both together. */
#define AFTERIMAGE_MODALITY_TEXT 0u
#define AFTERIMAGE_MODALITY_IMAGE 1u
#define AFTERIMAGE_MODALITY_JOINT 2u

/* What functions of this header return. */
#define AFTERIMAGE_OK 0
#define AFTERIMAGE_NOTHING 1 /* the request has nothing for this source, say no picture: a skip, not a failure */
#define AFTERIMAGE_FAILED 2  /* `error` holds a sentence why, if there is one */

/* Bytes of UTF-8, without a zero at the end. */
typedef struct afterimage_text {
  const char* data;
  size_t size;
} afterimage_text;

typedef struct afterimage_picture {
  uint32_t width;
  uint32_t height;
  const uint8_t* rgb;   /* [height, width, 3] */
  afterimage_text path; /* empty if it did not come from a file */
} afterimage_picture;

typedef struct afterimage_tensor {
  afterimage_text name;
  const int64_t* shape; /* outermost first */
  size_t n_dims;
  const float* values;
  size_t n_values;
} afterimage_tensor;

/* All that is pointed to lives until embed() returns. */
typedef struct afterimage_embedding_request {
  afterimage_text id;
  afterimage_text question;
  afterimage_text chunk_text;
  afterimage_text metadata; /* JSON; empty: none */
  const afterimage_picture* pictures;
  size_t n_pictures;
  /* The output of the model's own vision encoder for all pictures, computed when first asked for and then used by the
   * engine too. Null: there is none to be had. Give it `encoder_context`. Returns AFTERIMAGE_OK or AFTERIMAGE_FAILED.
   */
  int32_t (*encoder_output)(void* encoder_context, const afterimage_tensor** tensors, size_t* n_tensors, char* error,
                            size_t error_size);
  void* encoder_context;
} afterimage_embedding_request;

typedef struct afterimage_embedding_source {
  const char* name;     /* of the layer it is for; letters, digits, '_' and '-' */
  const char* identity; /* names encoder and version: vectors of another identity are never compared */
  uint32_t dim;         /* 1 to 16384 */
  uint32_t modality;    /* AFTERIMAGE_MODALITY_... */
} afterimage_embedding_source;

typedef struct afterimage_embedding_hook {
  uint32_t abi; /* AFTERIMAGE_EMBEDDING_ABI, as this header has it */
  uint32_t n_sources;
  const afterimage_embedding_source* sources;
  void* state; /* the first argument of the functions below; may be null */

  /* For each i below n_wanted, writes the vector of sources[wanted[i]] to vectors[i], which has room for its `dim`
   * floats and no more. Vectors are compared by cosine; they need not be of length 1. A value that is not finite, or
   * was not written, is an error. */
  int32_t (*embed)(void* state, const afterimage_embedding_request* request, const uint32_t* wanted, size_t n_wanted,
                   float* const* vectors, char* error, size_t error_size);
  /* May be null. */
  void (*destroy)(void* state);
} afterimage_embedding_hook;

/* `abi` is that of the program; a factory that knows only others returns null. Null is a failure: `error` has room for
 * a sentence why, `error_size` bytes with the zero at the end. */
typedef const afterimage_embedding_hook* (*afterimage_embedding_factory)(uint32_t abi, char* error, size_t error_size);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* AFTERIMAGE_EMBEDDING_PLUGIN_H_ */
