import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reconcileFieldSet } from './reconcile.ts'
import { stack } from './sample-types.fixture.ts'

const inSpec = (fields: object) => ({ 'f:spec': fields }) as Parameters<typeof reconcileFieldSet>[0]

test('fields in lists, maps and structs that have become atomic are merged into one', () => {
  const item = { 'v:"a"': {} }
  assert.deepEqual(
    reconcileFieldSet(
      inSpec({
        'f:args': { '.': {}, ...item },
        'f:limits': { 'f:cpu': {} },
        'f:selector': { 'f:matchLabels': { 'f:a': {} } },
        'f:mode': {},
      }),
      stack,
    ),
    inSpec({ 'f:args': {}, 'f:limits': {}, 'f:selector': {}, 'f:mode': {} }),
  )
  const containers = (args: object) => inSpec({ 'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:args': args } } })
  assert.deepEqual(reconcileFieldSet(containers(item), stack), containers({}))
  assert.deepEqual(reconcileFieldSet(inSpec({ 'f:free': { 'f:a': {} } }), stack), inSpec({ 'f:free': {} }))
})

test('all other sets are returned unchanged', () => {
  for (const fields of [
    { 'f:tags': { '.': {}, 'v:"a"': {} }, 'f:args': {}, 'f:limits': {} },
    { 'f:options': {}, 'f:containers': {} },
    { 'f:loose': { 'f:a': { 'f:b': {} } }, 'f:nothing': { 'f:a': {} } },
    { 'f:replicas': { 'f:a': {} } },
  ]) {
    const set = inSpec(fields)
    assert.equal(reconcileFieldSet(set, stack), set)
  }
})
