import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from './compare.ts'
import { fieldSetOf } from './field-set-of.ts'
import { mergeTyped } from './merge-typed.ts'
import { removeFields } from './remove-fields.ts'
import { stack } from './sample-types.fixture.ts'
import { typeErrors } from './validate-typed.ts'

const of = (spec: object, more: object = {}) => ({ spec, ...more })
const fields = (spec: object) => fieldSetOf(of(spec), stack)['f:spec']
const after = (before: object, now: object) => {
  const { added, modified, removed } = compare(of(before), of(now), stack)
  return { added: added['f:spec'], modified: modified['f:spec'], removed: removed['f:spec'] }
}

test('an applied object owns leaves, map keys and list items, but not their parents', () => {
  assert.deepEqual(fields({ replicas: 1, options: { k: '1' }, ports: [{ port: 80, name: 'web' }], tags: ['b', 'a'] }), {
    'f:options': { 'f:k': {} },
    'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:name': {}, 'f:port': {} } },
    'f:replicas': {},
    'f:tags': { 'v:"b"': {}, 'v:"a"': {} },
  })
})

test('empty maps and nulls are owned, empty lists are not', () => {
  assert.deepEqual(fields({ options: {}, args: null, containers: null, ports: [], tags: [] }), {
    'f:options': {},
    'f:args': {},
    'f:containers': {},
  })
})

test('atomic maps, structs, lists and free-form JSON are one field; deduced maps are granular', () => {
  assert.deepEqual(
    fields({
      limits: { cpu: '1' },
      selector: { matchLabels: { a: 'b' } },
      args: ['x'],
      free: { a: { b: 1 } },
      loose: { a: { b: 1 }, c: [1] },
    }),
    {
      'f:limits': {},
      'f:selector': {},
      'f:args': {},
      'f:free': {},
      'f:loose': { 'f:a': { '.': {}, 'f:b': {} }, 'f:c': {} },
    },
  )
})

test("a key is written as Go's JSON", () => {
  assert.deepEqual(fields({ containers: [{ name: 'a<b"é' }] }), {
    'f:containers': { 'k:{"name":"a\\u003cb\\"é"}': { '.': {}, 'f:name': {} } },
  })
})

test('a new field is added with its parents, except those that Go always writes', () => {
  const { added } = compare(
    {},
    of({ containers: [{ name: 'c', resources: { limits: { cpu: '1' } } }], options: { k: 'v' } }),
    stack,
  )
  assert.deepEqual(added, {
    'f:spec': {
      'f:containers': {
        'k:{"name":"c"}': { '.': {}, 'f:name': {}, 'f:resources': { '.': {}, 'f:limits': { '.': {}, 'f:cpu': {} } } },
      },
      'f:options': { '.': {}, 'f:k': {} },
    },
  })
})

test('changes are found per leaf, and list items are compared by key in any order', () => {
  const one = {
    containers: [
      { name: 'a', image: '1' },
      { name: 'b', image: '1' },
    ],
    options: { k: '1', gone: '1' },
  }
  const two = {
    containers: [{ name: 'b', image: '2' }, { name: 'a', image: '1' }, { name: 'c' }],
    options: { k: '1', come: '1' },
  }
  assert.deepEqual(after(one, two), {
    added: { 'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:name': {} } }, 'f:options': { 'f:come': {} } },
    modified: { 'f:containers': { 'k:{"name":"b"}': { 'f:image': {} } } },
    removed: { 'f:options': { 'f:gone': {} } },
  })
})

test('items with the same key are compared as one', () => {
  const twice = [
    { name: 'A', value: '1' },
    { name: 'A', value: '2' },
  ]
  const changed = after(
    { containers: [{ name: 'c', env: twice }] },
    { containers: [{ name: 'c', env: [twice[0], { name: 'A', value: '3' }] }] },
  )
  assert.deepEqual(changed.modified, { 'f:containers': { 'k:{"name":"c"}': { 'f:env': { 'k:{"name":"A"}': {} } } } })
})

test('a field that becomes a map, or stops being one, differs itself and in its members', () => {
  const a = { loose: { a: { b: 1 } } }
  for (const other of ['x', ['x']]) {
    const no = { loose: { a: other } }
    const [modified, members] = [{ 'f:loose': { 'f:a': {} } }, { 'f:loose': { 'f:a': { 'f:b': {} } } }]
    assert.deepEqual(after(a, no), { added: undefined, modified, removed: members })
    assert.deepEqual(after(no, a), { added: members, modified, removed: undefined })
  }
  assert.deepEqual(after({ loose: { a: null } }, a), {
    added: { 'f:loose': { 'f:a': { 'f:b': {} } } },
    modified: undefined,
    removed: undefined,
  })
})

test('quantities are compared as text', () => {
  const { modified } = after(
    { containers: [{ name: 'c', resources: { limits: { cpu: '1' } } }] },
    { containers: [{ name: 'c', resources: { limits: { cpu: '1000m' } } }] },
  )
  assert.deepEqual(modified, {
    'f:containers': { 'k:{"name":"c"}': { 'f:resources': { 'f:limits': { 'f:cpu': {} } } } },
  })
})

const order = (live: string[], applied: string[]) =>
  mergeTyped<{ spec: { containers: { name: string }[] } }>(
    of({ containers: live.map((name) => ({ name })) }) as never,
    of({ containers: applied.map((name) => ({ name })) }),
    stack,
  )
    .spec.containers.map(({ name }) => name)
    .join('')

test('applied items retain their order among the others', () => {
  assert.equal(order(['app'], ['side', 'app']), 'sideapp')
  assert.equal(order(['s', 'a'], ['a', 's']), 'as')
  assert.equal(order(['a', 'n'], ['z', 'n', 'm', 'a']), 'znma')
  assert.equal(order(['z', 'n', 'm', 'a'], ['a', 'm', 'z']), 'namz')
  assert.equal(order(['a', 'b', 'c'], ['b']), 'abc')
  assert.equal(order(['a'], ['b', 'c']), 'abc')
})

test('merging shares unchanged parts and does not change its input', () => {
  const live = Object.freeze(
    of({
      options: Object.freeze({ a: '1' }),
      ports: Object.freeze([Object.freeze({ port: 80, protocol: 'TCP', name: 'x' })]),
    }),
  )
  const merged = mergeTyped<{ spec: { options: object; ports: object[] } }>(
    live as never,
    of({
      ports: [
        { port: 80, name: 'y' },
        { port: 80, protocol: 'UDP' },
      ],
    }),
    stack,
  )
  assert.deepEqual(merged.spec.ports, [
    { port: 80, protocol: 'TCP', name: 'y' },
    { port: 80, protocol: 'UDP' },
  ])
  assert.equal(merged.spec.options, (live.spec as { options: object }).options)
  assert.equal(mergeTyped(live, of({ options: { a: '1' } }), stack), live)
})

test('removeFields removes the fields of a set', () => {
  const object = of({ replicas: 1, options: { a: '1', b: '2' }, tags: ['x', 'y'], ports: [{ port: 1, name: 'n' }] })
  const set = {
    'f:spec': {
      'f:replicas': {},
      'f:options': { 'f:a': {}, 'f:b': {} },
      'f:tags': { 'v:"x"': {} },
      'f:ports': { 'k:{"port":1,"protocol":"TCP"}': { 'f:name': {} } },
    },
  }
  assert.deepEqual(removeFields(object, set, stack), of({ options: null, tags: ['y'], ports: [{ port: 1 }] }))
})

test("objects that do not fit the type fail with structured-merge-diff's messages", () => {
  const errors = (spec: object) => typeErrors(of(spec), stack)
  assert.deepEqual(errors({ nothing: 1 }), ['.spec.nothing: field not declared in schema'])
  assert.deepEqual(errors({ replicas: 'many' }), ['.spec.replicas: expected numeric (int or float), got string'])
  assert.deepEqual(errors({ mode: 5 }), ['.spec.mode: expected string, got &value.valueUnstructured{Value:5}'])
  assert.deepEqual(errors({ containers: { a: { b: 'c' } } }), [
    '.spec.containers: expected list, got &{map[a:map[b:c]]}',
  ])
  assert.deepEqual(errors({ tags: ['a', 'a'] }), ['.spec.tags: duplicate entries for key [="a"]'])
  assert.deepEqual(errors({ ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] }), [
    '.spec.ports: duplicate entries for key [port=80,protocol="TCP"]',
  ])
  assert.deepEqual(errors({ ports: [{ name: 'x' }] }), [])
  assert.deepEqual(errors({ ports: [{ name: 'x' }, { name: 'y' }] }), [
    '.spec.ports: duplicate entries for key [protocol="TCP"]',
  ])
  assert.deepEqual(errors({ containers: [{ image: 'x' }] }), [
    '.spec.containers: element 0: associative list with keys has an element that omits all key fields ["name"] ' +
      "(and doesn't have default values for any key fields)",
  ])
  assert.deepEqual(errors({ options: null, replicas: null, free: [1, { a: 2 }] }), [])
})
