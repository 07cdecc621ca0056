import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readManifests } from './read-manifests.ts'

test('documents, lists and empty documents are read', () => {
  const text = `# a comment
---
{apiVersion: v1, kind: Secret, metadata: {name: a}}
--- # the next
apiVersion: v1
kind: SecretList
items:
- {apiVersion: v1, kind: Secret, metadata: {name: b}}
- {apiVersion: v1, kind: Secret, metadata: {name: c}}
---
`
  assert.deepEqual(
    readManifests([text, '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"d"}}']).map(
      ({ metadata }) => metadata.name,
    ),
    ['a', 'b', 'c', 'd'],
  )
})

test('errors name the file, the document and the problem', () => {
  assert.throws(() => readManifests('a: 1\n---\nb: [\n'), /Cannot read|the manifest, document 1 has no apiVersion/)
  assert.throws(() => readManifests('a: 1\na: 2\n'), /Cannot read the manifest: line 2: key "a" already set in map\./)
  assert.throws(() => readManifests('kind: Secret\nmetadata: {}\n'), /the manifest has no apiVersion: add it\./)
  assert.throws(() => readManifests('/nowhere/x.yaml'), /Cannot read the manifest \/nowhere\/x.yaml: no such file/)
  assert.throws(() => readManifests('- a\n- b\n'), /the manifest is no object/)
})
