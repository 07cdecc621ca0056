import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  difference,
  differenceBelow,
  equalSets,
  fieldSet,
  has,
  intersection,
  isEmpty,
  parseFieldsV1,
  pathsOf,
  sortFieldSet,
  union,
} from './field-set.ts'
import { pathText } from './path-element.ts'

const leaf = {}
const spec = { 'f:spec': { '.': leaf, 'f:a': leaf, 'f:b': { 'f:c': leaf } } }

test('a node is a member if it is empty or has a dot', () => {
  assert.equal(has(spec, ['f:spec']), true)
  assert.equal(has(spec, ['f:spec', 'f:a']), true)
  assert.equal(has(spec, ['f:spec', 'f:b']), false)
  assert.equal(has(spec, ['f:spec', 'f:b', 'f:c']), true)
  assert.equal(has(spec, ['f:spec', 'f:x']), false)
})

test('union has the fields of both sets, and a member remains one if it gets fields below', () => {
  assert.deepEqual(union({ 'f:spec': leaf }, { 'f:spec': { 'f:a': leaf } }), { 'f:spec': { '.': leaf, 'f:a': leaf } })
  assert.deepEqual(union({}, spec), spec)
  assert.deepEqual(union({ 'f:a': leaf }, { 'f:b': leaf }), { 'f:a': leaf, 'f:b': leaf })
})

test('difference removes members only, not the fields below them', () => {
  assert.deepEqual(difference(spec, { 'f:spec': leaf }), { 'f:spec': { 'f:a': leaf, 'f:b': { 'f:c': leaf } } })
  assert.deepEqual(difference(spec, { 'f:spec': { 'f:a': leaf } }), { 'f:spec': { '.': leaf, 'f:b': { 'f:c': leaf } } })
  assert.deepEqual(difference({ 'f:data': { '.': leaf, 'f:k': leaf } }, { 'f:data': { 'f:k': leaf } }), {
    'f:data': leaf,
  })
  assert.deepEqual(difference({ 'f:data': { 'f:k': leaf } }, { 'f:data': { 'f:k': leaf } }), {})
})

test('differenceBelow also removes all fields below a member', () => {
  assert.deepEqual(differenceBelow(spec, fieldSet('spec')), {})
  assert.deepEqual(differenceBelow(spec, fieldSet('spec.b', 'status')), { 'f:spec': { '.': leaf, 'f:a': leaf } })
})

test('difference shares unchanged nodes', () => {
  const left = difference(spec, { 'f:spec': { 'f:a': leaf } })
  assert.equal(left['f:spec']!['f:b'], spec['f:spec']['f:b'])
  assert.equal(difference(spec, { 'f:status': leaf }), spec)
})

test('intersection has the common members', () => {
  assert.deepEqual(intersection(spec, { 'f:spec': { '.': leaf, 'f:b': leaf } }), { 'f:spec': leaf })
  assert.equal(isEmpty(intersection(spec, { 'f:spec': { 'f:b': leaf } })), true)
})

test('sets are equal if they have the same members', () => {
  assert.equal(equalSets({ 'f:a': { '.': leaf } }, { 'f:a': leaf }), true)
  assert.equal(equalSets({ 'f:a': leaf }, { 'f:a': { 'f:b': leaf } }), false)
  assert.equal(equalSets({ 'f:a': leaf }, {}), false)
})

test('paths are listed with the members of a node before nested ones', () => {
  const set = {
    'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { 'f:targetPort': leaf } },
    'f:selector': leaf,
    'f:tags': { 'v:"a"': leaf },
  }
  assert.deepEqual([...pathsOf(set)].map(pathText), [
    '.selector',
    '.ports[port=80,protocol="TCP"].targetPort',
    '.tags[="a"]',
  ])
})

test("members are sorted in Go's order: the dot, fields, keys by value, values", () => {
  const set = {
    'k:{"port":443}': leaf,
    'k:{"port":80}': leaf,
    'v:"b"': leaf,
    'v:"a"': leaf,
    'f:b': leaf,
    '.': leaf,
    'f:a': leaf,
    'k:{"name":"ab"}': leaf,
    'k:{"name":"a"}': leaf,
  }
  assert.deepEqual(Object.keys(sortFieldSet(set)), [
    '.',
    'f:a',
    'f:b',
    'k:{"name":"a"}',
    'k:{"name":"ab"}',
    'k:{"port":80}',
    'k:{"port":443}',
    'v:"a"',
    'v:"b"',
  ])
})

test('values that are lists or maps are sorted after scalars, by their JSON', () => {
  const elements = ['v:1', 'v:"a"', 'v:true', 'v:[1,"b"]', 'v:[10,"a"]', 'v:{"a":10}', 'v:{"a":1}', 'v:null']
  const set = Object.fromEntries(elements.toReversed().map((element) => [element, leaf]))
  assert.deepEqual(Object.keys(sortFieldSet(set)), elements)
})

test('parseFieldsV1 sorts keys, drops unknown kinds of elements and rejects invalid ones', () => {
  assert.deepEqual(parseFieldsV1({ 'k:{"b":1,"a":"x"}': {}, 'z:1': {}, 'f:a': { '.': {} } }), {
    'k:{"a":"x","b":1}': leaf,
    'f:a': leaf,
  })
  assert.throws(() => parseFieldsV1({ nonsense: {} }))
  assert.throws(() => parseFieldsV1({ 'f:a': 1 }))
  assert.throws(() => parseFieldsV1({ 'k:{': {} }))
})
