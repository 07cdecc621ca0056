import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removeDuplicateOwners } from './duplicate-owners.ts'

const owner = (uid: string, name = 'n') => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid })

test('equal owner references are merged with a warning; different ones of the same uid are kept', () => {
  const metadata = { ownerReferences: [owner('1'), owner('2'), owner('1'), owner('1', 'other')] }
  assert.match(removeDuplicateOwners(metadata) ?? '', /duplicate UID\(s\) observed: 1$/)
  assert.deepEqual(metadata.ownerReferences, [owner('1'), owner('2'), owner('1', 'other')])
  assert.equal(removeDuplicateOwners(metadata), undefined)
})
