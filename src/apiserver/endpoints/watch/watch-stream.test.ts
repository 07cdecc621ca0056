import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { memoryStore } from '../../../storage/memory/index.ts'
import { DistantStore } from '../../../storage/suite/distant-store.fixture.ts'
import type { Sink } from '../../http/exchange.ts'
import { WaitGroup } from '../../http/wait-group.ts'
import { nativeRepresentation } from '../../negotiation/native.ts'
import { type Fixture, fixture, turn } from '../../registry/cache/cache.fixture.ts'
import { selection } from '../../registry/cache/selection.ts'
import type { ListOptions } from '../../request-options/list-options.ts'
import type { Services } from '../endpoint.ts'
import { WatchStream } from './watch-stream.ts'

/** A client that reads nothing. */
class StalledSink implements Sink {
  backlog = 0
  text = ''
  ended = false
  destroyed = false
  readonly #closed: (() => void)[] = []

  write(chunk: Buffer): void {
    this.backlog += chunk.length
    if (chunk.length < 1000) this.text += chunk
  }

  ready(): Promise<void> {
    return new Promise(() => {})
  }

  end(): void {
    this.ended = true
  }

  destroy(): void {
    this.destroyed = true
    for (const callback of this.#closed) callback()
  }

  onClose(callback: () => void): void {
    this.#closed.push(callback)
  }
}

const options: ListOptions = { limit: 0, continue: '', resourceVersion: '', match: '', allowWatchBookmarks: true }

async function start(t: TestContext, version: (newest: number) => number, more: Partial<ListOptions> = {}) {
  const configMaps = fixture(memoryStore())
  const { registry, resource, put } = configMaps
  for (let i = 0; i < 20; i++) await put(`n${i}`, 'x'.repeat(100_000))
  const { revision } = await registry.cacher(resource).ready()
  const watch = startOn(t, configMaps, version(revision), more)
  for (let i = 0; i < 5; i++) await turn()
  return { ...watch, put }
}

function startOn(t: TestContext, { registry, resource }: Fixture, version: number, more: Partial<ListOptions>) {
  const form = {
    resource,
    selection: selection(resource.range('').start, undefined, undefined),
    representation: nativeRepresentation(resource),
    view: registry.view(resource).show,
  }
  const waitGroup = new WaitGroup()
  const sink = new StalledSink()
  t.after(() => sink.destroy())
  const services = { registry, waitGroup } as Partial<Services> as Services
  new WatchStream({
    services,
    form,
    range: resource.range(''),
    options: { ...options, ...more },
    version,
    sink,
  }).start()
  return { sink, waitGroup }
}

test('a watch that begins with the state waits for its client after each portion', async (t) => {
  const { sink } = await start(t, () => 0)
  assert.ok(sink.backlog > 500_000 && sink.backlog < 700_000, `${sink.backlog} bytes`)
})

test('a watch from an old revision waits for its client after each portion', async (t) => {
  const { sink } = await start(t, (newest) => newest - 18)
  assert.ok(sink.backlog > 500_000 && sink.backlog < 700_000, `${sink.backlog} bytes`)
})

test('a live watch with a backlog of 16 MB is cut off before more than another batch is added', async (t) => {
  const { sink, put } = await start(t, (newest) => newest)
  for (let i = 0; i < 300 && !sink.destroyed; i++) {
    await put('large', 'x'.repeat(200_000))
    await turn()
  }
  assert.ok(sink.destroyed)
  assert.ok(sink.backlog < 32 * 1024 * 1024, `${sink.backlog} bytes`)
})

test('a watch that has ended is cut off if its client does not read the rest', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const { sink } = await start(t, () => 0, { timeoutSeconds: 5 })
  t.mock.timers.tick(5_000)
  assert.deepEqual([sink.ended, sink.destroyed], [true, false])
  t.mock.timers.tick(10_000)
  assert.equal(sink.destroyed, true)
})

test('a watch with a negative timeout ends immediately', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const setTimer = t.mock.method(globalThis, 'setTimeout')
  await start(t, () => 0, { timeoutSeconds: -5 })
  assert.deepEqual(
    setTimer.mock.calls.map(({ arguments: [, ms] }) => ms).filter((ms) => ms !== undefined && ms < 0),
    [],
  )
})

test('a stopping server ends a watch that is still catching up', async (t) => {
  const { sink, waitGroup } = await start(t, () => 0)
  await waitGroup.stop(0)
  assert.equal(sink.ended, true)
})

test('initial events without a resourceVersion wait for the current revision, as a consistent list', async (t) => {
  const distant = new DistantStore(memoryStore())
  const configMaps = fixture(distant.store)
  await configMaps.put('a')
  const loading = configMaps.registry.cacher(configMaps.resource).ready()
  distant.answer()
  await loading
  await configMaps.put('b')
  const names = ({ sink }: ReturnType<typeof startOn>) =>
    [...sink.text.matchAll(/"name":"(\w+)"/g)].map(([, name]) => name)
  const initial = { sendInitialEvents: true, match: 'NotOlderThan' }
  const consistent = startOn(t, configMaps, 0, initial)
  const fromCache = startOn(t, configMaps, 0, { ...initial, resourceVersion: '0' })
  for (let i = 0; i < 5; i++) await turn()
  assert.deepEqual([names(consistent), names(fromCache)], [[], ['a']])
  distant.answer()
  for (let i = 0; i < 5; i++) await turn()
  assert.deepEqual(names(consistent), [])
  distant.deliver()
  while (names(consistent).length < 2) await turn()
  assert.deepEqual(names(consistent), ['a', 'b'])
  assert.match(consistent.sink.text, /"resourceVersion":"3".*initial-events-end/)
})
