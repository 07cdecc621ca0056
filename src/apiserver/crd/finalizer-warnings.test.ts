import assert from 'node:assert/strict'
import test from 'node:test'
import type { KubeObject } from '../../machinery/object.ts'
import { finalizerWarnings } from './finalizer-warnings.ts'

const object = (...finalizers: string[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Crew',
  metadata: { name: 'a', finalizers },
})

test('new finalizers of custom resources without a domain give a warning', () => {
  const why = 'to avoid accidental conflicts with other finalizer writers'
  assert.deepEqual(finalizerWarnings(object('example.com/a', 'orphan', 'foregroundDeletion')), [])
  assert.deepEqual(finalizerWarnings(object('z', 'example.com', 'z')), [
    `metadata.finalizers: "example.com": prefer a domain-qualified finalizer name including a path (/) ${why}`,
    `metadata.finalizers: "z": prefer a domain-qualified finalizer name ${why}`,
  ])
  assert.deepEqual(finalizerWarnings(object('z'), object('z')), [])
  assert.match(finalizerWarnings(object('a b'))[0] ?? '', /^metadata\.finalizers: "a b": name part must consist of/)
})
