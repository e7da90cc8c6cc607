"""Pictures by CLIP ViT-B/32, questions by all-MiniLM-L6-v2: the encoders most often used for this.

    pip install sentence-transformers pillow
    PYTHONPATH=examples/hooks afterimage run --embedding-hook clip_hook:ClipAndMiniLm ...

The weights are fetched on first use, unless the environment says otherwise (HF_HUB_OFFLINE=1). Loading them may take
longer than the 30 s a hook is given to start; fetch them once beforehand by running this file.
"""

import sys

CLIP = "clip-ViT-B-32"
MINI_LM = "sentence-transformers/all-MiniLM-L6-v2"


class ClipAndMiniLm:
    sources = {
        "vision": {"dim": 512, "modality": "image", "identity": CLIP + "/mean/1"},
        "prompt": {"dim": 384, "modality": "text", "identity": MINI_LM + "/1"},
    }

    def __init__(self):
        try:
            from PIL import Image
            from sentence_transformers import SentenceTransformer
        except ImportError as missing:
            sys.exit(f"clip_hook needs sentence-transformers and pillow: pip install them. ({missing})")
        try:
            self._clip = SentenceTransformer(CLIP)
            self._mini_lm = SentenceTransformer(MINI_LM)
        except OSError as missing:
            sys.exit(f"clip_hook needs the weights of {CLIP} and {MINI_LM}, and cannot get them: {missing}")
        self._image = Image

    def __call__(self, sample):
        vectors = {}
        if "prompt" in sample.names and sample.question:
            vectors["prompt"] = self._mini_lm.encode(sample.question, normalize_embeddings=True)
        if "vision" in sample.names and sample.pictures():
            pictures = [self._image.fromarray(pixels) for pixels in sample.pictures()]
            vectors["vision"] = self._clip.encode(pictures, normalize_embeddings=True).mean(axis=0)
        return vectors


if __name__ == "__main__":
    ClipAndMiniLm()
