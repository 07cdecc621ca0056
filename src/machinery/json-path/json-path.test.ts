import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonPath } from './index.ts'
import { JsonPathError } from './parse.ts'

const object = {
  spec: { replicas: 3, 'a.b': 'dotted', empty: {}, list: ['x', 'y', 'z'] },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', since: 5 },
      { type: 'Busy', status: 'False', since: 9 },
    ],
  },
}

test('a path returns the values that exist and omits missing ones', () => {
  const cases: [string, unknown][] = [
    ['.spec.replicas', [3]],
    ['$.spec.replicas', [3]],
    ['.spec.a\\.b', ['dotted']],
    [".spec['a.b']", ['dotted']],
    ['.spec.missing.more', []],
    ['.spec.list[0]', ['x']],
    ['.spec.list[-1]', ['z']],
    ['.spec.list[1:]', ['y', 'z']],
    ['.spec.list[0:3:2]', ['x', 'z']],
    ['.spec.list[*]', ['x', 'y', 'z']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.since > 5)]['type','status']", ['Busy', 'False']],
    ['.status.conditions[?(@.missing)].type', []],
    ['..type', ['Ready', 'Busy']],
    ['.', [object]],
    ['.constructor', []],
  ]
  for (const [path, expected] of cases) assert.deepEqual(jsonPath(path)(object), expected, path)
})

test('a step that does not fit the value returns undefined', () => {
  for (const path of ['.spec[0]', '.spec.replicas.deeper', '.spec.list[9]', '.spec.list.name'])
    assert.equal(jsonPath(path)(object), undefined, path)
})

test('an invalid path is rejected', () => {
  for (const path of ['spec', '.a[', '.a[x]', '.a b', '.a[?(x)]'])
    assert.throws(() => jsonPath(path), JsonPathError, path)
})

test('filters compare integers beyond 2^53 with others', () => {
  const value = { list: [{ n: 5 }, { n: 2n ** 60n }, { n: -(2n ** 60n) }, { n: 'x' }] }
  assert.deepEqual(jsonPath('.list[?(@.n > 4)].n')(value), [5, 2n ** 60n])
  assert.deepEqual(jsonPath('.list[?(@.n <= 5)].n')(value), [5, -(2n ** 60n)])
})
