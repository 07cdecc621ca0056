import assert from 'node:assert/strict'
import test from 'node:test'
import type { KubeObject } from '../../../machinery/object.ts'
import { internal } from '../../../machinery/status-error.ts'
import { memoryStore } from '../../../storage/memory/index.ts'
import { fixture } from '../cache/cache.fixture.ts'
import { ServedResource } from '../served-resource.ts'
import { StoredObject } from '../stored-object.ts'
import { ConvertedObjects } from './converted-objects.ts'

/** ConfigMaps of a version `v2`. Conversions wait in `requests` until `go` is called. */
function converter() {
  const { resource } = fixture(memoryStore())
  const second = new ServedResource({ ...resource.definition, version: 'v2' }, resource)
  const requests: { readonly names: (string | undefined)[]; readonly go: () => void }[] = []
  const converted = new ConvertedObjects(second, {
    fromStored: (objects) =>
      new Promise((resolve, reject) => {
        const go = () => {
          if (objects.some(({ metadata }) => metadata.name?.startsWith('bad'))) reject(internal('no way'))
          else resolve(objects.map((object): KubeObject => ({ ...object, apiVersion: 'v2' })))
        }
        requests.push({ names: objects.map(({ metadata }) => metadata.name), go })
      }),
    toStorage: (object) => Promise.resolve(object),
  })
  const object = (name: string, size = 0, of = resource) =>
    new StoredObject(
      of,
      of.key('default', name),
      7,
      Buffer.from(`${of.headText}"resourceVersion":"7","name":"${name}"},"data":{"k":"${'x'.repeat(size)}"}}`),
    )
  return { converted, requests, object, second }
}

const turns = async (): Promise<void> => {
  for (let i = 0; i < 5; i++) await new Promise(setImmediate)
}

test('an object is converted once, however many callers want it at the same time or later', async () => {
  const { converted, requests, object } = converter()
  const [a, b] = [object('a'), object('b')]
  const all = Promise.all([converted.prepare([a, b]), converted.prepare([a]), converted.prepare([b, a])])
  requests[0]!.go()
  await all
  await converted.prepare([a, b])
  assert.deepEqual(
    requests.map(({ names }) => names),
    [['a', 'b']],
  )
  assert.match(
    converted.view(a).bytes.toString(),
    /^\{"kind":"ConfigMap","apiVersion":"v2","metadata":\{"resourceVersion":"7","name":"a"\}/,
  )
  assert.equal(converted.view(a).base, a)
})

test('a caller gets a good object even if it waits in a batch that fails on a bad one', async () => {
  const { converted, requests, object } = converter()
  const [good, bad] = [object('good'), object('bad')]
  const list = converted.prepare([good, bad])
  const get = converted.prepare([good])
  requests[0]!.go()
  await assert.rejects(list, /no way/)
  await turns()
  requests[1]!.go()
  await get
  assert.equal(converted.view(good).name, 'good')
  assert.throws(() => converted.view(bad), /has not been converted to v2/)
})

test('large lists are converted in portions; objects of the right version are not converted', async () => {
  const { converted, requests, object, second } = converter()
  const objects = Array.from({ length: 1100 }, (_, i) => object(`o${i}`))
  const own = object('own', 0, second)
  const large = ['l1', 'l2', 'l3'].map((name) => object(name, 1024 * 1024))
  const done = converted.prepare([own, ...objects, ...large])
  for (let i = 0; i < 5; i++) {
    await turns()
    requests[i]?.go()
  }
  await done
  assert.deepEqual(
    requests.map(({ names }) => names.length),
    [500, 500, 101, 1, 1],
  )
  assert.equal(converted.view(own), own)
})
