import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StatusError } from '../status-error.ts'
import { applyOperations, FailedTest, jsonPatch, PatchError } from './json-patch.ts'

const object = () => ({
  kind: 'ConfigMap',
  metadata: { labels: { 'example.com/x': 'y', l: '1' }, finalizers: ['f'] },
  data: { k: 'v', m: 'w' },
})
const data = (...operations: object[]) => (jsonPatch(object(), operations) as ReturnType<typeof object>).data
const finalizers = (...operations: object[]) =>
  (jsonPatch(object(), operations) as ReturnType<typeof object>).metadata.finalizers
const fails = (code: number, operations: unknown) =>
  assert.throws(
    () => jsonPatch(object(), operations),
    (e: StatusError) => e.code === code,
  )
const failed = (...operations: object[]) => fails(422, operations)

test('add, replace and remove members', () => {
  assert.deepEqual(
    data(
      { op: 'add', path: '/data/n', value: '1' },
      { op: 'replace', path: '/data/k', value: '2' },
      { op: 'remove', path: '/data/m' },
    ),
    {
      k: '2',
      n: '1',
    },
  )
  assert.deepEqual(jsonPatch(object(), [{ op: 'remove', path: '/metadata/labels/example.com~1x' }]), {
    ...object(),
    metadata: { labels: { l: '1' }, finalizers: ['f'] },
  })
})

test('replace of an absent member adds it, and remove of one fails', () => {
  assert.deepEqual(data({ op: 'replace', path: '/data/new', value: 'x' }), { k: 'v', m: 'w', new: 'x' })
  failed({ op: 'remove', path: '/data/absent' })
})

test('items are added at an index, at the end, and at an index from the end', () => {
  assert.deepEqual(
    finalizers(
      { op: 'add', path: '/metadata/finalizers/-', value: 'last' },
      { op: 'add', path: '/metadata/finalizers/0', value: 'first' },
    ),
    ['first', 'f', 'last'],
  )
  assert.deepEqual(
    finalizers(
      { op: 'add', path: '/metadata/finalizers/-1', value: 'last' },
      { op: 'remove', path: '/metadata/finalizers/-2' },
    ),
    ['last'],
  )
  for (const index of ['9', 'x', '-3']) failed({ op: 'add', path: `/metadata/finalizers/${index}`, value: 'x' })
  failed({ op: 'remove', path: '/metadata/finalizers/1' })
})

test('values are moved and copied, and a copy is independent', () => {
  assert.deepEqual(
    data({ op: 'copy', from: '/data/k', path: '/data/c' }, { op: 'move', from: '/data/m', path: '/data/moved' }),
    { k: 'v', c: 'v', moved: 'w' },
  )
  failed({ op: 'move', from: '/data/absent', path: '/data/x' })
  const copied = jsonPatch<{ a: { x: number }; b?: { x: number } }>({ a: { x: 1 } }, [
    { op: 'copy', from: '/a', path: '/b' },
    { op: 'replace', path: '/b/x', value: 2 },
  ])
  assert.deepEqual(copied, { a: { x: 1 }, b: { x: 2 } })
})

test('test compares deeply; an absent member equals null', () => {
  assert.deepEqual(
    data({ op: 'test', path: '/metadata/finalizers', value: ['f'] }, { op: 'test', path: '/binaryData', value: null }),
    { k: 'v', m: 'w' },
  )
  failed({ op: 'test', path: '/data/k', value: 4 })
  failed({ op: 'test', path: '/data/absent', value: 'x' })
})

test('missing parents, unknown operations and invalid paths fail', () => {
  failed({ op: 'add', path: '/nowhere/deep/x', value: '1' })
  failed({ op: 'merge', path: '/data', value: {} })
  failed({ op: 'add', path: '', value: {} })
  failed({ op: 'add', path: '/data/k/x', value: '1' })
  failed({ op: 'remove' })
  failed({ op: 'add', path: '/__proto__/polluted', value: true })
})

test('the input is not changed, and unchanged parts are shared', () => {
  const before = object()
  const value = { list: [1] }
  const after = jsonPatch<Record<string, unknown>>(before, [
    { op: 'add', path: '/spec', value },
    { op: 'add', path: '/spec/list/-', value: 2 },
    { op: 'remove', path: '/data/k' },
  ])
  assert.deepEqual(before, object())
  assert.deepEqual(value, { list: [1] })
  assert.deepEqual(after.spec, { list: [1, 2] })
  assert.equal(after.metadata, before.metadata)
})

test('a patch that is not a list of operations fails with 400, too many operations with 413', () => {
  fails(400, { op: 'remove', path: '/data/k' })
  fails(400, ['remove'])
  fails(400, [{ op: 1, path: '/data' }])
  fails(
    413,
    Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' })),
  )
  assert.deepEqual(jsonPatch(object(), []), object())
})

test("a failed operation returns upstream's status", () => {
  assert.throws(
    () => jsonPatch(object(), [{ op: 'test', path: '/data/k', value: 'other' }]),
    (e: StatusError) => {
      assert.deepEqual(e.status, {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'the server rejected our request due to an error in our request',
        reason: 'Invalid',
        details: {},
        code: 422,
      })
      return true
    },
  )
})

for (const [operation, message] of [
  [
    { op: 'add', path: '/nowhere/x', value: 1 },
    'add operation does not apply: doc is missing path: "/nowhere/x": missing value',
  ],
  [{ op: 'add', value: 1 }, 'add operation failed to decode path: missing value'],
  [
    { op: 'add', path: '/metadata/finalizers/x', value: 1 },
    `error in add for path: '/metadata/finalizers/x': strconv.Atoi: parsing "x": invalid syntax`,
  ],
  [
    { op: 'remove', path: '/nowhere/x' },
    'remove operation does not apply: doc is missing path: "/nowhere/x": missing value',
  ],
  [
    { op: 'remove', path: '/data/x' },
    "error in remove for path: '/data/x': Unable to remove nonexistent key: x: missing value",
  ],
  [
    { op: 'remove', path: '/metadata/finalizers/1' },
    "error in remove for path: '/metadata/finalizers/1': Unable to access invalid index: 1: invalid index referenced",
  ],
  [
    { op: 'replace', path: '/data/k/x', value: 1 },
    'replace operation does not apply: doc is missing path: /data/k/x: missing value',
  ],
  [
    { op: 'replace', path: '/metadata/finalizers/-', value: 1 },
    'replace operation does not apply: doc is missing key: /metadata/finalizers/-: missing value',
  ],
  [{ op: 'replace', value: 1 }, 'replace operation failed to decode path: operation missing path field: missing value'],
  [{ op: 'move', path: '/x' }, 'move operation failed to decode from: operation, missing from field: missing value'],
  [
    { op: 'move', from: '/data/x', path: '/x' },
    "error in move for path: 'x': Unable to remove nonexistent key: x: missing value",
  ],
  [
    { op: 'move', from: '/data/k', path: '/a/b' },
    'move operation does not apply: doc is missing destination path: /a/b: missing value',
  ],
  [
    { op: 'copy', from: '/a/b', path: '/x' },
    'copy operation does not apply: doc is missing from path: /a/b: missing value',
  ],
  [{ op: 'test', path: '/a/b', value: 1 }, 'test operation does not apply: is missing path: /a/b: missing value'],
  [{ op: 'merge', path: '/x' }, 'Unexpected kind: merge'],
] as const) {
  test(`an operation that does not apply fails: ${message}`, () => {
    assert.throws(
      () => applyOperations(object(), [operation]),
      (error: Error) => error instanceof PatchError && !(error instanceof FailedTest) && error.message === message,
    )
  })
}

test('a failed test throws FailedTest', () => {
  const message = 'testing value /data/k failed: test failed'
  assert.throws(
    () => applyOperations(object(), [{ op: 'test', path: '/data/k', value: 'x' }]),
    (error: Error) => error instanceof FailedTest && error.message === message,
  )
})
