import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byController, orphansOf } from '../owners/owner.ts'
import { podFromTemplate } from './pod-from-template.ts'

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { namespace: 'n', name: 'web-1', uid: 'u' } }

test("a pod has its template's metadata and spec, and its owner's name and reference", () => {
  const template = {
    metadata: { name: 'ignored', labels: { app: 'web' }, annotations: { a: 'b' }, finalizers: ['example.com/f'] },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  }
  const pod = podFromTemplate(template, owner)
  assert.deepEqual(pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: 'web-1-',
      namespace: 'n',
      labels: { app: 'web' },
      annotations: { a: 'b' },
      finalizers: ['example.com/f'],
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'web-1',
          uid: 'u',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: template.spec,
  })
  assert.deepEqual(byController(pod), ['u'])
  assert.deepEqual(byController({ ...pod, metadata: { namespace: 'n' } }), [orphansOf('n')])
})
