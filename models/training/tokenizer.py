"""The models' tokenizer: byte-level BPE as llama.cpp's "gpt2" with the pre-tokenizer "qwen2".

Merges are learnt from the world's own words until each is one token, ties broken by the pair itself, so the
vocabulary is a pure function of world.json. Any other text falls apart into smaller pieces, down to bytes.
"""
import re

from world import COLORS, KINDS, PLURALS, SPEC

VOCAB = 1024
SPECIAL = ['<|endoftext|>', '<|im_start|>', '<|im_end|>', '<img>', '</img>', '<IMG_CONTEXT>', '<|vision_start|>',
           '<|vision_end|>', '<|image_pad|>', '<|video_pad|>']
# The ASCII part of Qwen2's pattern; outside ASCII the two may cut differently, and the models know no such words.
PRE = re.compile(r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\nA-Za-z0-9]?[A-Za-z]+|[0-9]|"
                 r" ?[^\sA-Za-z0-9]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
CHAT_TEMPLATE = ("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
                 "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")
ANSWERS = ['yes', 'no', 'small', 'large', 'left', 'right', 'top', 'bottom', 'above', 'below'] + COLORS + KINDS + list('012345')
SLOT_WORDS = dict(o=KINDS, p=KINDS, os=PLURALS, c=COLORS, d=COLORS, a=['a', 'an'], b=['a', 'an'],
                  r=SPEC['relations'], s=SPEC['sizes'], n=SPEC['numbers'])


def byte_chars():
    """GPT-2's printable stand-ins for the 256 bytes."""
    keep = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    extra = [b for b in range(256) if b not in keep]
    return [chr(b) if b in keep else chr(256 + extra.index(b)) for b in range(256)]


def merge(word, pair):
    out, i = [], 0
    while i < len(word):
        if tuple(word[i:i + 2]) == pair:
            out.append(word[i] + word[i + 1])
            i += 2
        else:
            out.append(word[i])
            i += 1
    return tuple(out)


class Tokenizer:
    def __init__(self):
        self.bytes = byte_chars()
        self.merges = self._learn(self._words())
        self.tokens = self.bytes + [a + b for a, b in self.merges]
        self.n_normal = len(self.tokens)
        self.tokens += SPECIAL
        self.n_used = len(self.tokens)
        assert self.n_used <= VOCAB and len(set(self.tokens)) == self.n_used, self.n_used
        self.tokens += [f'<unused{i}>' for i in range(self.n_used, VOCAB)]
        self.id = {t: i for i, t in enumerate(self.tokens)}
        self.rank = {m: i for i, m in enumerate(self.merges)}
        self.eos = self.id['<|im_end|>']
        self.pad = self.id['<|endoftext|>']

    def _words(self):
        words = {}

        def add(text):
            for word in PRE.findall(text):
                if re.search('[A-Za-z]', word):
                    words[word] = words.get(word, 0) + 1

        for kind in SPEC['types']:
            for wording in kind['wordings']:
                text = re.sub(r' ?\{\w+\}', '', wording)
                add(text), add(text[0].lower() + text[1:]), add(' ' + text)
        for word in sum(SLOT_WORDS.values(), ANSWERS + ['and']):
            add(word), add(' ' + word)
        for text in (SPEC['system'], SPEC['suffix'], SPEC['benchmark_head'], 'Question:\nAnswer:',
                     'system\nuser\nassistant\n'):
            add(text)
        return words

    @staticmethod
    def _learn(words):
        chars = byte_chars()
        corpus = [(tuple(chars[b] for b in w.encode()), n) for w, n in sorted(words.items())]
        merges = []
        while True:
            counts = {}
            for word, n in corpus:
                for pair in zip(word, word[1:]):
                    counts[pair] = counts.get(pair, 0) + n
            if not counts:
                return merges
            best = min(counts, key=lambda p: (-counts[p], p))
            merges.append(best)
            corpus = [(merge(word, best), n) for word, n in corpus]

    def encode(self, text):
        ids = []
        for part in re.split('(' + '|'.join(map(re.escape, SPECIAL)) + ')', text):
            if part in SPECIAL:
                ids.append(self.id[part])
                continue
            for word in PRE.findall(part):
                word = tuple(self.bytes[b] for b in word.encode())
                while len(word) > 1:
                    rank, pair = min((self.rank.get(p, len(self.rank)), p) for p in zip(word, word[1:]))
                    if rank == len(self.rank):
                        break
                    word = merge(word, pair)
                ids += [self.id[piece] for piece in word]
        return ids

    def decode(self, ids):
        back = {c: b for b, c in enumerate(self.bytes)}
        return bytes(back[c] for i in ids if i < self.n_normal for c in self.tokens[i]).decode('utf-8', 'replace')

    def word(self, text):
        ids = self.encode(text)
        assert len(ids) == 1, (text, ids)
        return ids[0]


if __name__ == '__main__':
    t = Tokenizer()
    print(t.n_normal, 'pieces,', t.n_used, 'with control tokens, of', VOCAB)
