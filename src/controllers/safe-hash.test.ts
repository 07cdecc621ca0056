import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fnv1Hash } from './safe-hash.ts'

test('a hash contains no vowels and no characters that look like vowels', () => {
  for (const text of ['', 'a', 'b', '{"spec":{}}0', 'ü'])
    assert.match(fnv1Hash(text), /^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/)
})

test('the hash is FNV-1 of the bytes', () => {
  assert.equal(fnv1Hash(''), '65bb57b6b5')
  assert.equal(fnv1Hash('web'), '55d54fb769')
  assert.equal(fnv1Hash('ü'), '78b7f98f64')
  assert.notEqual(fnv1Hash('a'), fnv1Hash('b'))
})
