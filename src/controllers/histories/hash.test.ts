import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameHash } from './hash.ts'

test('a hash is spelled without vowels and look-alikes', () => {
  for (const text of ['', 'a', 'b', '{"spec":{}}0', 'ü']) assert.match(nameHash(text), /^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/)
})

test('the hash is FNV-1 of the bytes', () => {
  assert.equal(nameHash(''), '65bb57b6b5')
  assert.equal(nameHash('web'), '55d54fb769')
  assert.equal(nameHash('ü'), '78b7f98f64')
  assert.notEqual(nameHash('a'), nameHash('b'))
})
