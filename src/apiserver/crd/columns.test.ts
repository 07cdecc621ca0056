import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../machinery/object.ts'
import { customColumns } from './columns.ts'

const object = (spec: object): KubeObject =>
  ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec,
  }) as KubeObject

const cells: readonly (readonly [type: string, path: string, spec: object, cell: unknown])[] = [
  ['string', '.spec.a', { a: 'text' }, 'text'],
  ['string', '.spec.a', { a: 1.5 }, '1.5'],
  ['string', '.spec.a', { a: { b: [1], a: null } }, '{"a":null,"b":[1]}'],
  ['string', '.spec.a[*].n', { a: [{ n: 'x' }, { n: 'z' }] }, 'x'],
  ['string', '.spec.missing', {}, null],
  ['integer', '.spec.a', { a: 3 }, 3],
  ['integer', '.spec.a', { a: 3.9 }, 3],
  ['integer', '.spec.a', { a: '3' }, null],
  ['number', '.spec.a', { a: 3.9 }, 3.9],
  ['number', '.spec.a', { a: 'x' }, null],
  ['boolean', '.spec.a', { a: false }, false],
  ['boolean', '.spec.a', { a: 'false' }, null],
  ['date', '.metadata.creationTimestamp', {}, { since: '2026-01-01T00:00:00Z' }],
  ['date', '.spec.a', { a: 'yesterday' }, '<invalid>'],
  ['date', '.spec.a', { a: 3 }, null],
]

for (const [type, jsonPath, spec, cell] of cells)
  test(`a ${type} column shows ${jsonPath} of ${JSON.stringify(spec)} as ${JSON.stringify(cell)}`, () => {
    const [, column] = customColumns([{ name: 'A', type, jsonPath }])
    assert.deepEqual(column?.cell(object(spec)), cell)
  })

test('the first column is the name; a definition without columns gets the age too', () => {
  assert.deepEqual(
    customColumns(undefined).map(({ name, type }) => `${name} ${type}`),
    ['Name string', 'Age date'],
  )
  assert.deepEqual(
    customColumns([{ name: 'A', type: 'string', jsonPath: '.a', priority: 1 }]).map(
      ({ name, priority }) => `${name} ${priority}`,
    ),
    ['Name 0', 'A 1'],
  )
})

test('a column without a description has its JSONPath as description', () => {
  const [, column] = customColumns([{ name: 'A', type: 'string', jsonPath: '.spec.a' }])
  assert.equal(column?.description, 'Custom resource definition column (in JSONPath format): .spec.a')
})
