#!/usr/bin/env python3
"""all-MiniLM-L6-v2 computed a second way, in numpy and f32, to check what llama.cpp makes of it.

  reference.py WHEEL src/engine/llama/testdata/encoder.jsonl     one sentence, its tokens and its vector a line

Needs numpy. llama_text_encoder_test.cc compares.
"""
import json
import math
import sys
import unicodedata

import numpy as np

from package import Package

SENTENCES = [
    'What color is the car?',
    'Which colour does the car have?',
    'Is the dog to the left of the bench?',
    'Is the dog to the right of the bench?',
    'How many people are standing behind the counter?',
    'Are there any bottles on top of the refrigerator that are not made of glass?',
    'The central bank left interest rates unchanged.',
    'a',
    '',
    '   two   spaces,\ttabs\nand lines  ',
    'WHAT IS WRITTEN ON THE SIGN?!',
    "Isn't it the man's t-shirt (the striped one), i.e. number 42?",
    'Ein Café in Zürich, naïve façade, São Tomé',
    '图片里有几只猫？',
    'Какого цвета машина?',
    'Что это, ёлка?',
    'unbelievably antidisestablishmentarianism floccinaucinihilipilification',
    'x' * 100 + ' is as long as a word may be',  # a longer one is unknown here; llama.cpp cuts it into pieces
    'a smile \U0001f600 and a price of 5€ & 3$',
    'A long question about one picture, with many words in it, so that several dozen tokens attend to each other: is '
    'the small red cube in front of the large blue sphere, or is it behind the green cylinder that stands to the left '
    'of the yellow cone, next to the wall?',
]


def is_punctuation(c):
    return 33 <= ord(c) <= 47 or 58 <= ord(c) <= 64 or 91 <= ord(c) <= 96 or 123 <= ord(c) <= 126 or \
        unicodedata.category(c).startswith('P')


def is_chinese(c):
    return any(low <= ord(c) <= high for low, high in (
        (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
        (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)))


def words(sentence):
    """Lower case, without accents, cut at white space; punctuation and Chinese characters stand alone."""
    out = ''
    for c in unicodedata.normalize('NFD', sentence.lower()):
        category = unicodedata.category(c)
        if category == 'Mn' or (category.startswith('C') and not c.isspace()):
            continue
        out += f' {c} ' if is_punctuation(c) or is_chinese(c) else c
    return out.split()


def pieces(word, ids):
    """The longest piece that fits, again and again; a word that cannot be cut so is unknown as a whole."""
    out, start = [], 0
    while start < len(word):
        end = len(word)
        while end > start and ('##' if start else '') + word[start:end] not in ids:
            end -= 1
        if end == start:
            return [ids['[UNK]']]
        out.append(ids[('##' if start else '') + word[start:end]])
        start = end
    return out if len(word) <= 100 else [ids['[UNK]']]


def tokens(sentence, ids):
    return [ids['[CLS]']] + [i for word in words(sentence) for i in pieces(word, ids)] + [ids['[SEP]']]


class Model:
    def __init__(self, package):
        self.package = package
        self.heads = package.config['num_attention_heads']
        self.eps = package.config['layer_norm_eps']

    def get(self, name):
        shape, data = self.package.tensor(name)
        return np.frombuffer(data, '<f4').reshape(shape)

    def linear(self, name, x):
        return x @ self.get(name + '.weight').T + self.get(name + '.bias')

    def norm(self, name, x):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.eps) * self.get(name + '.weight') + \
            self.get(name + '.bias')

    def attention(self, name, x):
        def split(part):
            return self.linear(f'{name}.self.{part}', x).reshape(len(x), self.heads, -1).transpose(1, 0, 2)
        q, k, v = split('query'), split('key'), split('value')
        weights = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        weights = np.exp(weights - weights.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        return self.linear(f'{name}.output.dense', (weights @ v).transpose(1, 0, 2).reshape(len(x), -1))

    def encode(self, ids):
        x = self.get('embeddings.word_embeddings.weight')[ids] + \
            self.get('embeddings.position_embeddings.weight')[:len(ids)] + \
            self.get('embeddings.token_type_embeddings.weight')[0]
        x = self.norm('embeddings.LayerNorm', x)
        erf = np.vectorize(math.erf)
        for i in range(self.package.config['num_hidden_layers']):
            name = f'encoder.layer.{i}'
            x = self.norm(f'{name}.attention.output.LayerNorm', x + self.attention(f'{name}.attention', x))
            h = self.linear(f'{name}.intermediate.dense', x)
            h = h * 0.5 * (1 + erf(h / math.sqrt(2)))
            x = self.norm(f'{name}.output.LayerNorm', x + self.linear(f'{name}.output.dense', h))
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)


def main():
    wheel, path = sys.argv[1:]
    package = Package(wheel)
    ids = {word: i for i, word in enumerate(package.vocab)}
    model = Model(package)
    with open(path, 'w', encoding='utf-8') as file:
        for sentence in SENTENCES:
            own = tokens(sentence, ids)
            vector = [round(float(x), 6) for x in model.encode(own)]
            file.write(json.dumps({'text': sentence, 'tokens': own, 'vector': vector}, ensure_ascii=False) + '\n')


main()
