import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeaderDecoder } from './header-decoder.ts'

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')

/** The headers of blocks that follow each other on a connection. */
function decoded(...blocks: readonly string[]): Record<string, string>[] {
  const decoder = new HeaderDecoder()
  return blocks.map((block) => Object.fromEntries(decoder.decode(hex(block))))
}

test('blocks with the static table, the dynamic table and Huffman codes are decoded (RFC 7541, C.4)', () => {
  const first = { ':method': 'GET', ':scheme': 'http', ':path': '/', ':authority': 'www.example.com' }
  assert.deepEqual(
    decoded(
      '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
      '8286 84be 5886 a8eb 1064 9cbf',
      '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
    ),
    [
      first,
      { ...first, 'cache-control': 'no-cache' },
      { ...first, ':scheme': 'https', ':path': '/index.html', 'custom-key': 'custom-value' },
    ],
  )
})

test('a smaller dynamic table forgets its oldest entries (RFC 7541, C.6)', () => {
  const first = {
    ':status': '302',
    'cache-control': 'private',
    date: 'Mon, 21 Oct 2013 20:13:21 GMT',
    location: 'https://www.example.com',
  }
  const cookie = 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'
  assert.deepEqual(
    decoded(
      `3fe101 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718
       63c7 8f0b 97c8 e9ae 82ae 43d3`,
      '4883 640e ffc1 c0bf',
      `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335
       dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`,
    ),
    [
      first,
      { ...first, ':status': '307' },
      {
        ...first,
        ':status': '200',
        date: 'Mon, 21 Oct 2013 20:13:22 GMT',
        'content-encoding': 'gzip',
        'set-cookie': cookie,
      },
    ],
  )
})

test('literals without an index are decoded', () => {
  assert.deepEqual(decoded('00 0b 677270632d737461747573 01 30', '10 01 61 00'), [{ 'grpc-status': '0' }, { a: '' }])
})

test('a long value has its length in several bytes', () => {
  const value = 'x'.repeat(300)
  assert.deepEqual(decoded(`00 01 61 7f ad01 ${Buffer.from(value).toString('hex')}`), [{ a: value }])
})

const invalid: Readonly<Record<string, readonly [block: string, problem: RegExp]>> = {
  'a block that ends within a name': ['00 0b 6772', /ends within a header/],
  'a block that ends within an integer': ['7f', /ends within a header/],
  'an index of no entry': ['be', /no entry 62/],
  'the index 0': ['80', /no entry 0/],
  'an integer without end': ['ff ffffffffff', /integer is too large/],
  'a larger table than allowed': ['3fe2ff03', /table is larger/],
  'a Huffman code with a padding of zeros': ['00 81 18 00', /invalid Huffman code/],
  'a Huffman code with a padding of a byte': ['00 82 1fff 00', /invalid Huffman code/],
  'the Huffman code of the end': ['00 84 ffffffff 00', /invalid Huffman code/],
}
for (const [name, [block, problem]] of Object.entries(invalid))
  test(`${name} is an error`, () => {
    assert.throws(() => decoded(block), { name: 'Http2Error', code: 'COMPRESSION_ERROR', message: problem })
  })
