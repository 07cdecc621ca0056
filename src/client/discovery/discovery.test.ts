import assert from 'node:assert/strict'
import { test } from 'node:test'
import { discoveryOf, supports } from './discovery.ts'

const entry = (resource: string, kind: string) =>
  ({
    resource,
    responseKind: { group: '', version: '', kind },
    scope: 'Namespaced',
    verbs: ['list', 'delete'],
  }) as const

test('the first version of a group that has a resource is the preferred one', () => {
  const { resources, failed } = discoveryOf([
    { versions: [{ version: 'v1', resources: [entry('pods', 'Pod')] }] },
    {
      metadata: { name: 'example.com' },
      versions: [
        { version: 'v2', freshness: 'Current', resources: [entry('crews', 'Crew')] },
        { version: 'v1', freshness: 'Stale', resources: [entry('crews', 'Crew'), entry('ships', 'Ship')] },
      ],
    },
  ])
  assert.deepEqual(
    resources.map(({ group, version, plural, preferred }) => [group, version, plural, preferred]),
    [
      ['', 'v1', 'pods', true],
      ['example.com', 'v2', 'crews', true],
      ['example.com', 'v1', 'crews', false],
      ['example.com', 'v1', 'ships', true],
    ],
  )
  assert.deepEqual(failed, ['example.com/v1'])
  assert.equal(supports(resources[0]!, 'list', 'delete'), true)
  assert.equal(supports(resources[0]!, 'list', 'watch'), false)
})
