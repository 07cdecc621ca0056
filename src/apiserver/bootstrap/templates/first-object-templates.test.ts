import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allResources } from '../../../api/registry.ts'
import { resourceKey } from '../../../api/resource.ts'
import { memoryStore } from '../../../storage/memory/index.ts'
import type { Store } from '../../../storage/store.ts'
import { Registry } from '../../registry/registry.ts'
import { type DecisiveOptions, FirstObjectTemplates, type TemplateFiles } from './first-object-templates.ts'

const now = '2026-11-29T00:00:00Z'
const registry = new Registry(memoryStore(), allResources)
const find = (key: string) => registry.served(allResources.find((definition) => resourceKey(definition) === key)!)

const filesIn = (texts: Map<string, string>): TemplateFiles => ({
  read: (name) => texts.get(name),
  write: (name, text) => texts.set(name, text),
})

async function filled(): Promise<Store> {
  const store = memoryStore()
  for (const key of ['/registry/namespaces/b', '/registry/namespaces/a', '/registry/secrets/a/token'])
    await store.commit({ conditions: [], operations: [{ key, value: Buffer.from('{}') }] })
  return store
}

const written = async (templates: FirstObjectTemplates, given: DecisiveOptions): Promise<string[] | undefined> => {
  const store = memoryStore()
  if (!(await templates.write(store, given, now))) return undefined
  const { entries } = await store.list({ start: '/', end: '0' })
  return entries.sort((a, b) => a.revision - b.revision).map(({ key }) => key)
}

test('copies are written in the order of the originals, without objects of other kinds', async () => {
  const templates = new FirstObjectTemplates(filesIn(new Map()))
  assert.equal(await written(templates, {}), undefined)
  await templates.read(await filled(), {}, find)
  assert.deepEqual(await written(templates, {}), ['/registry/namespaces/b', '/registry/namespaces/a'])
})

test('a store that is not empty gets no copies', async () => {
  const templates = new FirstObjectTemplates(filesIn(new Map()))
  await templates.read(await filled(), {}, find)
  assert.equal(await templates.write(await filled(), {}, now), false)
})

test('servers with other options get no copies, nor do those whose options cannot be compared', async () => {
  const templates = new FirstObjectTemplates(filesIn(new Map()))
  await templates.read(await filled(), {}, find)
  const others: DecisiveOptions[] = [
    { runtimeConfig: ['api/beta=true'] },
    { flowControl: { enabled: false } },
    { admission: { disabled: ['Priority'] } },
    { joinedNodes: [] },
    { admission: { configuration: { PodSecurity: {} } } },
    { otherStores: [{ store: memoryStore(), resources: [] }] },
  ]
  for (const other of others) {
    assert.equal(await written(templates, other), undefined, JSON.stringify(Object.keys(other)))
    await templates.read(await filled(), other, find)
  }
})

test('templates of an earlier process are read from its files, one for each set of options', async () => {
  const texts = new Map<string, string>()
  const earlier = new FirstObjectTemplates(filesIn(texts))
  for (const options of [{}, { joinedNodes: [] }]) await earlier.read(await filled(), options, find)
  earlier.save()
  assert.equal(texts.size, 2)
  const later = new FirstObjectTemplates(filesIn(texts))
  assert.deepEqual(await written(later, {}), ['/registry/namespaces/b', '/registry/namespaces/a'])
  assert.equal(await written(later, { flowControl: { enabled: false } }), undefined)
  texts.clear()
  earlier.save()
  later.save()
  assert.equal(texts.size, 0)
})

test('files that are incomplete, or of other options, are ignored', async () => {
  for (const text of ['', '{"options":"', '{"options":"others","entries":[]}']) {
    const templates = new FirstObjectTemplates({ read: () => text, write: () => {} })
    assert.equal(await written(templates, {}), undefined, text)
  }
})
