import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configMap, secret } from '../volumes.fixture.ts'
import { configMapFiles, secretFiles } from './key-files.ts'
import type { Payload } from './payload.ts'

const shown = (payload: Payload) =>
  [...payload].map(([path, { data, mode }]) => `${path} ${mode.toString(8)} ${Buffer.from(data)}`)

const settings = configMap('settings', { a: '1', b: 'ü' }, { c: Buffer.from('bin').toString('base64') })

test('without items, all keys are files', () => {
  assert.deepEqual(shown(configMapFiles(settings, { defaultMode: 0o640, isOptional: false })), [
    'a 640 1',
    'b 640 ü',
    'c 640 bin',
  ])
  assert.deepEqual(shown(secretFiles(secret('keys', { key: 'x' }), { defaultMode: 0o400, isOptional: false })), [
    'key 400 x',
  ])
})

test('items choose keys, paths and modes', () => {
  const items = [
    { key: 'c', path: 'deep/c', mode: 0o400 },
    { key: 'a', path: 'a' },
  ]
  assert.deepEqual(shown(configMapFiles(settings, { items, defaultMode: 0o644, isOptional: false })), [
    'deep/c 400 bin',
    'a 644 1',
  ])
})

test('a missing key is an error, unless it is optional', () => {
  const items = [{ key: 'other', path: 'x' }]
  assert.throws(() => configMapFiles(settings, { items, defaultMode: 0o644, isOptional: false }), {
    message: 'configmap references non-existent config key: other',
  })
  assert.throws(() => secretFiles(secret('keys', {}), { items, defaultMode: 0o644, isOptional: false }), {
    message: 'references non-existent secret key: other',
  })
  assert.equal(configMapFiles(settings, { items, defaultMode: 0o644, isOptional: true }).size, 0)
  assert.equal(configMapFiles(undefined, { items, defaultMode: 0o644, isOptional: true }).size, 0)
})
