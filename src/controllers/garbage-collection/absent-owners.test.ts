import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AbsentOwners } from './absent-owners.ts'

const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name: 'n', uid })

test('AbsentOwners caches the 500 most recently used missing owners', () => {
  const absent = new AbsentOwners()
  for (let i = 0; i < 500; i++) absent.add(owner(`${i}`))
  assert.equal(absent.has(owner('0')), true)
  absent.add(owner('new'))
  assert.equal(absent.has(owner('0')), true)
  assert.equal(absent.has(owner('1')), false)
  assert.equal(absent.has({ ...owner('0'), name: 'other' }), false)
})
