import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '../../../../storage/memory/index.ts'
import { nativeRepresentation } from '../../../negotiation/native.ts'
import { fixture, turn } from '../cache.fixture.ts'
import type { Representation } from '../representation.ts'
import { selection } from '../selection.ts'
import type { EncodedBatch, WatchForm } from './watch-event.ts'
import type { Watcher } from './watch-hub.ts'

/** A watch that collects the batches it receives. */
function collector(): Watcher & { readonly delivered: string[]; readonly ends: string[] } {
  const delivered: string[] = []
  const ends: string[] = []
  return {
    delivered,
    ends,
    deliver: (batch: EncodedBatch) => void delivered.push(batch.bytes.toString()),
    end: (error) => void ends.push(error.message),
  }
}

async function start() {
  const made = fixture(memoryStore())
  const { registry, resource } = made
  const view = await registry.cacher(resource).ready()
  const native: WatchForm = {
    resource,
    selection: selection(resource.range('').start, undefined, undefined),
    representation: nativeRepresentation(resource),
    view: registry.view(resource).show,
  }
  const representation: Representation = {
    ...native.representation,
    key: 'broken',
    event: () => {
      throw new Error('a bad cell')
    },
  }
  const hub = registry.hub(resource)
  return { ...made, view, native, broken: { ...native, representation }, hub }
}

test('an error in an encoder is logged and ends the watches that need it, and nothing else', async () => {
  const { hub, view, native, broken, put, logged } = await start()
  const [good, bad, late] = [collector(), collector(), collector()]
  hub.join(view, native, view.revision, good)
  hub.join(view, broken, view.revision, bad)
  await put('a')
  await turn()
  assert.equal(good.delivered.length, 1)
  assert.deepEqual(bad.ends, ['a bad cell'])
  assert.match(logged.join('\n'), /a watch of configmaps has ended: Error: a bad cell/)
  hub.join(view, broken, view.revision - 1, late)
  assert.deepEqual(late.ends, ['a bad cell'])
  await put('b')
  hub.join(view, native, view.revision, collector())?.flush()
  assert.equal(good.delivered.length, 2)
})

test('a watch that throws on delivery ends alone, even if it throws again at its end', async () => {
  const { hub, view, native, put, logged } = await start()
  const good = collector()
  hub.join(view, native, view.revision, {
    deliver: () => {
      throw new Error('broken pipe')
    },
    end: () => {
      throw new Error('still broken')
    },
  })
  hub.join(view, native, view.revision, good)
  await put('a')
  assert.equal(good.delivered.length, 1)
  assert.equal(logged.length, 2)
})

test('a watch that has missed more than a portion cannot join before it has read it', async () => {
  const { hub, view, native, put } = await start()
  const from = view.revision
  for (let i = 0; i < 5; i++) await put('large', 'x'.repeat(200_000))
  assert.equal(hub.join(view, native, from, collector()), undefined)
  assert.ok(hub.join(view, native, from + 3, collector()))
})
