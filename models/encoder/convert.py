#!/usr/bin/env python3
"""all-MiniLM-L6-v2 -> GGUF for llama.cpp.

  convert.py WHEEL encoder.gguf

Matrices become f16; vectors and the small tables of positions and token types stay f32. Needs nothing beside Python:
scripts/setup runs it on a machine that has no numpy.
"""
import array
import os
import struct
import sys

from package import Package

U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5  # types of GGUF values
TYPE_F32, TYPE_F16 = 0, 1  # types of GGML tensors
ALIGNMENT = 32
NORMAL, CONTROL = 1, 3  # types of tokens
MEAN_POOLING = 1
MOSTLY_F16 = 1

NAMES = {
    'attention.self.query': 'attn_q',
    'attention.self.key': 'attn_k',
    'attention.self.value': 'attn_v',
    'attention.output.dense': 'attn_output',
    'attention.output.LayerNorm': 'attn_output_norm',
    'intermediate.dense': 'ffn_up',
    'output.dense': 'ffn_down',
    'output.LayerNorm': 'layer_output_norm',
}


def text(value):
    data = value.encode('utf-8')
    return struct.pack('<Q', len(data)) + data


def value(kind, content):
    if kind == STRING:
        return text(content)
    return struct.pack({U32: '<I', F32: '<f', BOOL: '<?', I32: '<i'}[kind], content)


def padded(data):
    return data + bytes(-len(data) % ALIGNMENT)


def halves(data):
    floats = array.array('f', bytes(data))
    if sys.byteorder == 'big':
        floats.byteswap()
    step = 1 << 16
    return b''.join(struct.pack(f'<{len(part)}e', *part)
                    for part in (floats[i:i + step] for i in range(0, len(floats), step)))


def token(word):
    """A word's first piece is marked, where the vocabulary marks the others."""
    return word[2:] if word.startswith('##') else '\u2581' + word


def metadata(package):
    config, vocab = package.config, package.vocab
    control = {'[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'}
    fields = [
        ('general.architecture', STRING, 'bert'),
        ('general.name', STRING, 'all-MiniLM-L6-v2'),
        ('general.file_type', U32, MOSTLY_F16),
        ('general.alignment', U32, ALIGNMENT),
        ('bert.context_length', U32, config['max_position_embeddings']),
        ('bert.embedding_length', U32, config['hidden_size']),
        ('bert.block_count', U32, config['num_hidden_layers']),
        ('bert.feed_forward_length', U32, config['intermediate_size']),
        ('bert.attention.head_count', U32, config['num_attention_heads']),
        ('bert.attention.layer_norm_epsilon', F32, config['layer_norm_eps']),
        ('bert.attention.causal', BOOL, False),
        ('bert.pooling_type', U32, MEAN_POOLING),
        ('tokenizer.ggml.model', STRING, 'bert'),
        ('tokenizer.ggml.pre', STRING, 'default'),
        ('tokenizer.ggml.token_type_count', U32, config['type_vocab_size']),
        ('tokenizer.ggml.bos_token_id', U32, vocab.index('[CLS]')),
        ('tokenizer.ggml.seperator_token_id', U32, vocab.index('[SEP]')),  # spelled so by llama.cpp
        ('tokenizer.ggml.unknown_token_id', U32, vocab.index('[UNK]')),
        ('tokenizer.ggml.padding_token_id', U32, vocab.index('[PAD]')),
    ]
    out = [text(key) + struct.pack('<I', kind) + value(kind, content) for key, kind, content in fields]
    for key, kind, items in (
            ('tokenizer.ggml.tokens', STRING, [word if word in control else token(word) for word in vocab]),
            ('tokenizer.ggml.token_type', I32, [CONTROL if word in control else NORMAL for word in vocab])):
        out.append(text(key) + struct.pack('<IIQ', ARRAY, kind, len(items)) + b''.join(value(kind, x) for x in items))
    return out


def tensors(package):
    """(name, shape, type, data), in the order of the file."""
    def take(name, source, keep=False):
        shape, data = package.tensor(source)
        if keep or len(shape) < 2:
            return name, shape, TYPE_F32, bytes(data)
        return name, shape, TYPE_F16, halves(data)

    yield take('token_embd.weight', 'embeddings.word_embeddings.weight')
    yield take('position_embd.weight', 'embeddings.position_embeddings.weight', keep=True)
    yield take('token_types.weight', 'embeddings.token_type_embeddings.weight', keep=True)
    for part in ('weight', 'bias'):
        yield take(f'token_embd_norm.{part}', f'embeddings.LayerNorm.{part}')
    for layer in range(package.config['num_hidden_layers']):
        for theirs, ours in NAMES.items():
            for part in ('weight', 'bias'):
                yield take(f'blk.{layer}.{ours}.{part}', f'encoder.layer.{layer}.{theirs}.{part}')


def main():
    wheel, path = sys.argv[1:]
    package = Package(wheel)
    fields, content = metadata(package), list(tensors(package))
    header = b'GGUF' + struct.pack('<IQQ', 3, len(content), len(fields)) + b''.join(fields)
    offset = 0
    for name, shape, kind, data in content:
        header += text(name) + struct.pack(f'<I{len(shape)}QIQ', len(shape), *reversed(shape), kind, offset)
        offset += len(padded(data))
    # Whole or not at all: an interrupted run leaves no file that looks finished.
    with open(path + '.part', 'wb') as file:
        file.write(padded(header))
        for _, _, _, data in content:
            file.write(padded(data))
    os.replace(path + '.part', path)


main()
