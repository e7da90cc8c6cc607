"""A hook in plain Python: questions that share groups of letters are alike, so a typing error hardly matters.

    PYTHONPATH=examples/hooks afterimage run --embedding-hook python_hook:LetterGroups ...
"""

import zlib


class LetterGroups:
    dim = 256
    sources = {"prompt": {"dim": dim, "modality": "text", "identity": "letter-groups/1"}}

    def __call__(self, sample):
        text = " " + " ".join(sample.question.lower().split()) + " "
        if not text.strip():
            return {}  # nothing to compare: a skip
        vector = [0.0] * self.dim
        for size in (2, 3, 4):
            for start in range(len(text) - size + 1):
                # Not hash(), which differs from one run of Python to the next.
                place = zlib.crc32(text[start : start + size].encode())
                vector[place % self.dim] += 1.0 if place & 0x80000000 else -1.0
        return {"prompt": vector}
