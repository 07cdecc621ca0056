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
  sorted,
  union,
} from './field-set.ts'
import { pathText } from './path-element.ts'

const leaf = {}
const spec = { 'f:spec': { '.': leaf, 'f:a': leaf, 'f:b': { 'f:c': leaf } } }

test('a node is a member when it is empty or has a dot', () => {
  assert.equal(has(spec, ['f:spec']), true)
  assert.equal(has(spec, ['f:spec', 'f:a']), true)
  assert.equal(has(spec, ['f:spec', 'f:b']), false)
  assert.equal(has(spec, ['f:spec', 'f:b', 'f:c']), true)
  assert.equal(has(spec, ['f:spec', 'f:x']), false)
})

test('union keeps what is in either set, and a member stays one when it gets fields below', () => {
  assert.deepEqual(union({ 'f:spec': leaf }, { 'f:spec': { 'f:a': leaf } }), { 'f:spec': { '.': leaf, 'f:a': leaf } })
  assert.deepEqual(union({}, spec), spec)
  assert.deepEqual(union({ 'f:a': leaf }, { 'f:b': leaf }), { 'f:a': leaf, 'f:b': leaf })
})

test('difference takes members only; what lies below a taken one stays', () => {
  assert.deepEqual(difference(spec, { 'f:spec': leaf }), { 'f:spec': { 'f:a': leaf, 'f:b': { 'f:c': leaf } } })
  assert.deepEqual(difference(spec, { 'f:spec': { 'f:a': leaf } }), { 'f:spec': { '.': leaf, 'f:b': { 'f:c': leaf } } })
  assert.deepEqual(difference({ 'f:data': { '.': leaf, 'f:k': leaf } }, { 'f:data': { 'f:k': leaf } }), {
    'f:data': leaf,
  })
  assert.deepEqual(difference({ 'f:data': { 'f:k': leaf } }, { 'f:data': { 'f:k': leaf } }), {})
})

test('difference below a member takes all that lies below it', () => {
  assert.deepEqual(differenceBelow(spec, fieldSet('spec')), {})
  assert.deepEqual(differenceBelow(spec, fieldSet('spec.b', 'status')), { 'f:spec': { '.': leaf, 'f:a': leaf } })
})

test('what a difference does not touch is the same object', () => {
  const left = difference(spec, { 'f:spec': { 'f:a': leaf } })
  assert.equal(left['f:spec']!['f:b'], spec['f:spec']['f:b'])
  assert.equal(difference(spec, { 'f:status': leaf }), spec)
})

test('intersection has the members of both', () => {
  assert.deepEqual(intersection(spec, { 'f:spec': { '.': leaf, 'f:b': leaf } }), { 'f:spec': leaf })
  assert.equal(isEmpty(intersection(spec, { 'f:spec': { 'f:b': leaf } })), true)
})

test('sets are equal when their members are', () => {
  assert.equal(equalSets({ 'f:a': { '.': leaf } }, { 'f:a': leaf }), true)
  assert.equal(equalSets({ 'f:a': leaf }, { 'f:a': { 'f:b': leaf } }), false)
  assert.equal(equalSets({ 'f:a': leaf }, {}), false)
})

test('paths come leaves first, then what is nested', () => {
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

test('members are written in the order of Go: the dot, fields, keys by value, values', () => {
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
  assert.deepEqual(Object.keys(sorted(set)), [
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

test('values that are lists or maps come behind texts, in the order of their JSON', () => {
  const elements = ['v:1', 'v:"a"', 'v:true', 'v:[1,"b"]', 'v:[10,"a"]', 'v:{"a":10}', 'v:{"a":1}', 'v:null']
  const set = Object.fromEntries(elements.toReversed().map((element) => [element, leaf]))
  assert.deepEqual(Object.keys(sorted(set)), elements)
})

test('FieldsV1 of a client is read: keys are sorted, unknown kinds of elements are left out, nonsense is refused', () => {
  assert.deepEqual(parseFieldsV1({ 'k:{"b":1,"a":"x"}': {}, 'z:1': {}, 'f:a': { '.': {} } }), {
    'k:{"a":"x","b":1}': leaf,
    'f:a': leaf,
  })
  assert.throws(() => parseFieldsV1({ nonsense: {} }))
  assert.throws(() => parseFieldsV1({ 'f:a': 1 }))
  assert.throws(() => parseFieldsV1({ 'k:{': {} }))
})
