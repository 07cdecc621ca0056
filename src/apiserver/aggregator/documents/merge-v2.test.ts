import assert from 'node:assert/strict'
import test from 'node:test'
import { mergeV2 } from './merge-v2.ts'

const at = (name: string) => ({ get: { schema: { $ref: `#/definitions/${name}` } } })

test('added paths bring the definitions they refer to, and no others', () => {
  const merged = mergeV2({ swagger: '2.0', paths: { '/a': at('A') }, definitions: { A: { type: 'object' } } }, [
    {
      paths: { '/b': at('B') },
      definitions: { B: { properties: { c: { $ref: '#/definitions/C' } } }, C: { type: 'string' }, unused: {} },
    },
  ])
  assert.deepEqual(merged, {
    swagger: '2.0',
    paths: { '/a': at('A'), '/b': at('B') },
    definitions: {
      A: { type: 'object' },
      B: { properties: { c: { $ref: '#/definitions/C' } } },
      C: { type: 'string' },
    },
  })
})

test('existing paths remain; a different definition is renamed, an equal one is shared', () => {
  const kinds = { 'x-kubernetes-group-version-kind': [] }
  const merged = mergeV2(
    { paths: { '/a': at('A') }, definitions: { A: { type: 'object' }, Same: { type: 'string', ...kinds } } },
    [
      {
        paths: { '/a': at('Same'), '/b': { x: at('A'), y: at('Same') } },
        definitions: { A: { type: 'string' }, Same: { type: 'string' } },
      },
    ],
  )
  assert.deepEqual(merged.paths, { '/a': at('A'), '/b': { x: at('A_v2'), y: at('Same') } })
  assert.deepEqual(merged.definitions, {
    A: { type: 'object' },
    A_v2: { type: 'string' },
    Same: { type: 'string', ...kinds },
  })
})

test('recursive definitions and names of Object.prototype are merged', () => {
  const tree = { properties: { left: { $ref: '#/definitions/constructor' } } }
  const merged = mergeV2({ paths: {}, definitions: {} }, [
    { paths: { '/t': at('constructor') }, definitions: { constructor: tree } },
  ])
  assert.deepEqual(Object.entries(merged.definitions as object), [['constructor', tree]])
})

test('added operations bring their shared parameters and the definitions of their bodies', () => {
  const body = { in: 'body', name: 'body', schema: { $ref: '#/definitions/A' } }
  const merged = mergeV2({ paths: {}, definitions: { A: { type: 'object' } } }, [
    {
      paths: { '/p': { parameters: [{ $ref: '#/parameters/body-1' }] } },
      definitions: { A: { type: 'string' } },
      parameters: { 'body-1': body },
    },
  ])
  assert.deepEqual(merged.paths, { '/p': { parameters: [{ ...body, schema: { $ref: '#/definitions/A_v2' } }] } })
  assert.deepEqual(merged.definitions, { A: { type: 'object' }, A_v2: { type: 'string' } })
})
