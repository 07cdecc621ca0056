import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stack } from '../fields/sample-types.fixture.ts'
import type { StatusError } from '../status-error.ts'
import { strategicMergePatch } from './strategic-merge.ts'

interface Spec {
  containers: { name: string; image?: string; args?: string[]; env?: { name: string }[]; ports?: object[] }[]
  volumes?: object[]
  ports?: { port: number }[]
  options?: Record<string, string>
  args?: string[]
  selector?: object
}
const object = () => ({
  metadata: { name: 't', finalizers: ['a', 'b', 'c'] } as Record<string, unknown>,
  spec: {
    containers: [
      {
        name: 'app',
        image: 'app:1',
        args: ['a', 'b'],
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '1' },
        ],
        ports: [
          { port: 80, name: 'http' },
          { port: 53, protocol: 'UDP' },
        ],
      },
      { name: 'side', image: 'side:1' },
    ],
    volumes: [{ name: 'v', emptyDir: {} }],
    options: { a: '1', b: '2' },
    args: ['x'],
    selector: { matchLabels: { a: 'b' } },
  } as Spec,
})
const patched = (patch: object) => strategicMergePatch(object(), patch, stack)
const spec = (patch: object) => patched({ spec: patch }).spec
const names = (patch: object) => spec(patch).containers.map(({ name }) => name)
const fails = (code: number, patch: object, message?: string) =>
  assert.throws(
    () => spec(patch),
    (e: StatusError) => e.code === code && (message === undefined || e.message === message),
  )

test('items with the same key are merged, and new ones are first', () => {
  const { containers } = spec({
    containers: [
      { name: 'new' },
      {
        name: 'app',
        image: 'app:2',
        env: [
          { name: 'B', value: '2' },
          { name: 'C', value: '3' },
        ],
        ports: [{ port: 443 }],
      },
    ],
  })
  assert.deepEqual(
    containers.map(({ name }) => name),
    ['new', 'app', 'side'],
  )
  assert.deepEqual(containers[1], {
    name: 'app',
    image: 'app:2',
    args: ['a', 'b'],
    env: [
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
      { name: 'C', value: '3' },
    ],
    ports: [{ port: 443 }, { port: 80, name: 'http' }, { port: 53, protocol: 'UDP' }],
  })
})

test('null removes, lists without a merge strategy and maps with strategy replace are replaced', () => {
  const { args, options, selector, volumes } = spec({
    args: ['y'],
    options: { b: null, c: '3' },
    selector: { matchLabels: { c: 'd' } },
    volumes: null,
  })
  assert.deepEqual(
    { args, options, selector, volumes },
    { args: ['y'], options: { a: '1', c: '3' }, selector: { matchLabels: { c: 'd' } }, volumes: undefined },
  )
})

test('directives delete and replace items and maps', () => {
  assert.deepEqual(
    names({
      containers: [
        { name: 'side', $patch: 'delete' },
        { name: 'absent', $patch: 'delete' },
      ],
    }),
    ['app'],
  )
  assert.deepEqual(
    spec({ containers: [{ name: 'app', env: [{ $patch: 'replace' }, { name: 'ONLY' }] }] }).containers[0]!.env,
    [{ name: 'ONLY' }],
  )
  assert.deepEqual(spec({ options: { $patch: 'replace', d: '4' } }).options, { d: '4' })
  assert.deepEqual(spec({ options: { $patch: 'delete' } }).options, {})
})

test('$setElementOrder sets the order of a list', () => {
  assert.deepEqual(names({ '$setElementOrder/containers': [{ name: 'side' }, { name: 'app' }] }), ['side', 'app'])
  assert.deepEqual(
    names({
      '$setElementOrder/containers': [{ name: 'app' }, { name: 'z' }, { name: 'side' }],
      containers: [{ name: 'z' }],
    }),
    ['app', 'z', 'side'],
  )
  fails(500, { '$setElementOrder/containers': [{ name: 'side' }], containers: [{ name: 'app', image: 'app:4' }] })
  fails(500, { '$setElementOrder/containers': 'app' })
})

test('lists of scalars are sets: items are added, deleted by a parallel list, and ordered', () => {
  const finalizers = (metadata: object) => patched({ metadata }).metadata.finalizers
  assert.deepEqual(finalizers({ finalizers: ['d', 'a'] }), ['d', 'a', 'b', 'c'])
  assert.deepEqual(finalizers({ '$deleteFromPrimitiveList/finalizers': ['b'] }), ['a', 'c'])
  assert.deepEqual(
    finalizers({
      finalizers: ['d', 'a'],
      '$setElementOrder/finalizers': ['d', 'c', 'a'],
      '$deleteFromPrimitiveList/finalizers': ['b'],
    }),
    ['d', 'c', 'a'],
  )
})

test('$retainKeys removes all other keys, and must name the keys that the patch sets', () => {
  assert.deepEqual(
    spec({ volumes: [{ name: 'v', $retainKeys: ['name', 'secret'], secret: { secretName: 'q' } }] }).volumes,
    [{ name: 'v', secret: { secretName: 'q' } }],
  )
  fails(400, { volumes: [{ name: 'v', $retainKeys: ['secret'], emptyDir: {} }] }, 'invalid patch format of retainKeys')
})

test('ports are merged by port only', () => {
  const ports = [
    { port: 53, name: 't' },
    { port: 53, protocol: 'UDP', name: 'u' },
  ]
  const live = { spec: { ports } }
  assert.deepEqual(
    strategicMergePatch(live, { spec: { ports: [{ port: 53, name: 'renamed' }, { port: 80 }] } }, stack).spec.ports,
    [{ port: 53, name: 'renamed' }, ports[1], { port: 80 }],
  )
})

test('directives are removed from values that are new in the object', () => {
  const { spec } = strategicMergePatch<{ spec?: unknown }>(
    {},
    {
      spec: {
        $retainKeys: ['options'],
        options: { x: '1', gone: null },
        containers: [{ name: 'a', $patch: 'delete' }, { name: 'b' }],
      },
    },
    stack,
  )
  assert.deepEqual(spec, { options: { x: '1' }, containers: [{ name: 'b' }] })
})

test('malformed patches fail with upstream’s messages and codes', () => {
  fails(
    500,
    { containers: [{ image: 'nameless' }] },
    'map: map[image:nameless] does not contain declared merge key: name',
  )
  fails(
    500,
    { containers: [{ name: 'app', $patch: 'sort' }] },
    'unknown patch type: sort in map: map[$patch:sort name:app]',
  )
  fails(500, { options: { $patch: 'sort' } })
  fails(422, { containers: [[]] })
  assert.throws(
    () => strategicMergePatch({}, [], stack),
    (e: StatusError) => e.code === 400,
  )
})

test('neither object nor patch is changed', () => {
  const before = object()
  const patch = {
    spec: {
      '$setElementOrder/containers': [{ name: 'app' }],
      containers: [{ name: 'app', $retainKeys: ['name'], image: null }],
    },
  }
  const copy = structuredClone(patch)
  strategicMergePatch(before, patch, stack)
  assert.deepEqual(before, object())
  assert.deepEqual(patch, copy)
})
