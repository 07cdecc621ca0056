import assert from 'node:assert/strict'
import { test } from 'node:test'
import { escapeFieldName, unescapeFieldName } from './escape.ts'

const names: Readonly<Record<string, string | undefined>> = {
  replicas: 'replicas',
  'a-b': 'a__dash__b',
  'a.b/c': 'a__dot__b__slash__c',
  a__b: 'a__underscores__b',
  a_b: 'a_b',
  namespace: '__namespace__',
  in: '__in__',
  '0a': undefined,
  'a b': undefined,
  '': undefined,
}

test('field names that are not identifiers are escaped and unescaped', () => {
  for (const [name, escaped] of Object.entries(names)) {
    assert.equal(escapeFieldName(name), escaped, name)
    if (escaped !== undefined) assert.equal(unescapeFieldName(escaped), name)
  }
  assert.equal(unescapeFieldName('a__b'), undefined)
})
