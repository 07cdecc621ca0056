import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podFields, podWith } from '../volumes.fixture.ts'
import { podFieldFiles } from './pod-fields.ts'

test('fields and resources are files', () => {
  const items = [
    { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
    { path: './limits//cpu', resourceFieldRef: { containerName: 'main', resource: 'limits.cpu' }, mode: 0o400 },
  ]
  const files = podFieldFiles(podWith([]), items, 0o644, podFields)
  assert.deepEqual(
    [...files].map(([path, { data, mode }]) => [path, String(data), mode]),
    [
      ['labels', '{"app":"web"}', 0o644],
      ['limits/cpu', 'limits.cpu/1', 0o400],
    ],
  )
})

test('all fields without a value are in the message', () => {
  const items = ['spec.a', 'spec.b'].map((fieldPath) => ({ path: fieldPath, fieldRef: { fieldPath } }))
  assert.throws(() => podFieldFiles(podWith([]), items, 0o644, podFields), {
    message: '[unsupported fieldPath: spec.a, unsupported fieldPath: spec.b]',
  })
})
