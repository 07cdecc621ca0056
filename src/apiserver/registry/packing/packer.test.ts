import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '../../../storage/memory/index.ts'
import { fixture } from '../cache/cache.fixture.ts'
import type { CacheView } from '../cache/cache-view.ts'

const count = 2200
const text = (at: number): string => `${'x'.repeat(16 * 1024)} ${at}`
const packed = (view: CacheView) => view.objects.slice(view.resource.range('')).filter(({ isPacked }) => isPacked)

test(
  'objects of a large resource are packed when they are loaded or have not changed for ' + 'long, and read the same',
  async () => {
    const store = memoryStore()
    const { registry, resource, put, remove } = fixture(store)
    const loaded = await registry.cacher(resource).ready()
    for (let at = 0; at < count; at++) await put(`n-${at}`, text(at))
    assert.ok(packed(loaded).length < count / 2, 'few bytes are not packed')
    for (let at = 0; at < count; at++) await put(`n-${at}`, text(at + 1))
    assert.ok(packed(loaded).length > count / 3, `${packed(loaded).length} are packed`)
    assert.equal(
      packed(loaded).filter(({ name }) => name === `n-${count - 1}`).length,
      0,
      'what has just changed is not',
    )

    const again = await fixture(store).registry.cacher(resource).ready()
    for (const view of [loaded, again]) {
      assert.equal(view.objects.size, count)
      for (const object of view.objects.slice(resource.range(''))) {
        const at = Number(object.name.slice(2)) + 1
        assert.deepEqual(object.parse(), {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: { resourceVersion: String(object.revision), name: object.name },
          data: { k: text(at) },
        })
        assert.equal(object.bytes.length, object.size)
        assert.equal(object.metadata.toString(), `{"resourceVersion":"${object.revision}","name":"${object.name}"}`)
      }
    }
    const before = packed(loaded)[0]!
    const revision = await store.currentRevision()
    await remove(before.name)
    const [change] = loaded.changesSince(revision)!
    assert.equal(
      change?.object.parse().metadata.resourceVersion,
      String(await store.currentRevision()),
      'the last state of a packed object is delivered',
    )
    assert.equal(loaded.objects.get(before.key), undefined)
  },
)
