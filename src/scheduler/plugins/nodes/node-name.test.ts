import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aNode, aPod } from '../../testing/objects.fixture.ts'
import { filterWith } from '../../testing/try-plugin.fixture.ts'
import { nodeName } from './node-name.ts'

test('a pod with a node name fits only on that node', () => {
  const cluster = { nodes: [aNode('a'), aNode('b')] }
  const cases: [string, string | undefined, Record<string, string>][] = [
    ['no name', undefined, { a: '', b: '' }],
    ['a name', 'a', { a: '', b: "node(s) didn't match the requested node name" }],
    [
      'an unknown name',
      'c',
      { a: "node(s) didn't match the requested node name", b: "node(s) didn't match the requested node name" },
    ],
  ]
  for (const [title, name, expected] of cases)
    assert.deepEqual(filterWith(nodeName, aPod('p', { nodeName: name }), cluster), expected, title)
})
