import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pairFor, pairsByName } from './named-pairs.ts'

const named = (...names: string[]) => ({ pair: { cert: names.join(), key: '' }, names })

test('a certificate is chosen by whole names before wildcards, and the first before the second', () => {
  const pairs = pairsByName([named('*.example.com'), named('a.example.com', 'A.example.org'), named('a.example.com')])
  const certificateOf = (name: string) => pairFor(pairs, name)?.cert
  assert.equal(certificateOf('a.example.com'), 'a.example.com,A.example.org')
  assert.equal(certificateOf('b.example.com'), '*.example.com')
  assert.equal(certificateOf('A.EXAMPLE.ORG.'), 'a.example.com,A.example.org')
  for (const other of ['example.com', 'c.b.example.com', 'b.example.org', ''])
    assert.equal(certificateOf(other), undefined, other)
})
