import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '../../../storage/memory/index.ts'
import { StoredObject } from '../stored-object.ts'
import { fixture } from './cache.fixture.ts'
import { SortedObjects } from './sorted-objects.ts'

const { resource } = fixture(memoryStore())
const object = (namespace: string, name: string, revision = 2) =>
  new StoredObject(resource, resource.key(namespace, name), revision, Buffer.from('{}'))

test('objects are sorted by key, whatever their order of insertion', () => {
  const objects = new SortedObjects()
  for (const name of ['m', 'a', 'z', 'c', 'b']) objects.set(object('ns', name))
  objects.delete(resource.key('ns', 'c'))
  objects.set(object('ns', 'm', 9))
  assert.deepEqual(
    objects.slice(resource.range('ns')).map(({ name, revision }) => `${name}@${revision}`),
    ['a@2', 'b@2', 'm@9', 'z@2'],
  )
  assert.equal(objects.size, 4)
})

test('a repeated slice is the same array until something changes, and is never modified', () => {
  const objects = new SortedObjects()
  objects.set(object('ns', 'a'))
  const before = objects.slice(resource.range('ns'))
  assert.equal(objects.slice(resource.range('ns')), before)
  objects.set(object('ns', 'b'))
  assert.equal(before.length, 1)
  assert.equal(objects.slice(resource.range('ns')).length, 2)
})

test('slices are not cached for every namespace that was ever listed', () => {
  const objects = new SortedObjects()
  objects.set(object('ns', 'a'))
  const first = objects.slice(resource.range('absent-0'))
  for (let i = 1; i < 1000; i++) objects.slice(resource.range(`absent-${i}`))
  assert.notEqual(objects.slice(resource.range('absent-0')), first)
})

test('thousands of inserts and deletes in any order give the same result as a sorted array', () => {
  const objects = new SortedObjects()
  const plain = new Set<string>()
  let seed = 7
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return (seed >>> 8) % below
  }
  for (let step = 0; step < 20_000; step++) {
    const name = `n${String(random(6_000)).padStart(5, '0')}`
    const namespace = `ns-${random(3)}`
    const key = resource.key(namespace, name)
    if (random(4) === 0) {
      objects.delete(key)
      plain.delete(key)
    } else {
      objects.set(object(namespace, name))
      plain.add(key)
    }
  }
  const sorted = [...plain].sort()
  assert.equal(objects.size, sorted.length)
  assert.deepEqual(
    objects.slice(resource.range('')).map(({ key }) => key),
    sorted,
  )
  const { start, end } = resource.range('ns-1')
  assert.deepEqual(
    objects.slice({ start, end }).map(({ key }) => key),
    sorted.filter((key) => key >= start && key < end),
  )
  for (const key of sorted) objects.delete(key)
  assert.deepEqual(objects.slice(resource.range('')), [])
})
