import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forbiddenLabels } from './nodes.ts'

test('a node may set kubelet labels and labels outside of the Kubernetes domains', () => {
  const allowed = [
    'kubernetes.io/hostname',
    'topology.kubernetes.io/zone',
    'kubelet.kubernetes.io/x',
    'a.node.kubernetes.io/x',
    'example.com/x',
    'plain',
    'kubernetes.io.example.com/x',
    'notk8s.io/x',
  ]
  const refused = [
    'a.k8s.io/x',
    'k8s.io/x',
    'kubernetes.io/x',
    'node-restriction.kubernetes.io/x',
    'node-role.kubernetes.io/worker',
    'x.node-restriction.kubernetes.io/x',
  ]
  const labels = Object.fromEntries([...refused, ...allowed].map((key) => [key, '']))
  assert.deepEqual(forbiddenLabels(labels, {}), refused)
  assert.deepEqual(forbiddenLabels({}, labels), refused)
  assert.deepEqual(forbiddenLabels(labels, labels), [])
  assert.deepEqual(forbiddenLabels({ 'k8s.io/x': 'a' }, { 'k8s.io/x': 'b' }), ['k8s.io/x'])
})
