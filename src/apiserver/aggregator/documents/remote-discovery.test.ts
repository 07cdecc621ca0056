import assert from 'node:assert/strict'
import test from 'node:test'
import { toAggregated } from './remote-discovery.ts'

test('a legacy resource list becomes aggregated discovery, with subresources below their resources', () => {
  const resources = [
    { name: 'apples', singularName: '', namespaced: true, kind: 'Apple', verbs: ['get'], shortNames: ['ap'] },
    {
      name: 'apples/scale',
      namespaced: true,
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      verbs: ['get', 'update'],
    },
    { name: 'trees', singularName: 'tree', namespaced: false, kind: 'Tree' },
  ]
  assert.deepEqual(toAggregated(resources, { group: 'orchard.example.com', version: 'v1' }), [
    {
      resource: 'apples',
      responseKind: { group: 'orchard.example.com', version: 'v1', kind: 'Apple' },
      scope: 'Namespaced',
      singularResource: 'apple',
      verbs: ['get'],
      shortNames: ['ap'],
      subresources: [
        {
          subresource: 'scale',
          responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
          verbs: ['get', 'update'],
        },
      ],
    },
    {
      resource: 'trees',
      responseKind: { group: 'orchard.example.com', version: 'v1', kind: 'Tree' },
      scope: 'Cluster',
      singularResource: 'tree',
      verbs: [],
    },
  ])
})
