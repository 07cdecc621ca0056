import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { configMaps } from '../kinds.ts'
import type { RestClient, WatchEvent, WatchOptions } from '../rest/rest-client.ts'
import { Informer } from './informer.ts'

const object = (name: string, resourceVersion: string, uid = name): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, uid, resourceVersion },
})
const event = (type: WatchEvent<KubeObject>['type'], subject: KubeObject): WatchEvent<KubeObject> => ({
  type,
  object: subject,
})
const end = (resourceVersion: string): WatchEvent<KubeObject> =>
  event('BOOKMARK', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } },
  })

type Script = (readonly WatchEvent<KubeObject>[] | Error)[]

/** An informer of a server whose watches tell what a script says; the last one stays open. */
function scripted(script: Script, listed: readonly KubeObject[] = [], transform?: (object: KubeObject) => KubeObject) {
  const asked: string[] = []
  const done = Promise.withResolvers<void>()
  const client = {
    async list() {
      asked.push('list')
      return { items: listed, resourceVersion: '10' }
    },
    async *watch(_: unknown, { resourceVersion, sendInitialEvents, signal }: WatchOptions) {
      asked.push(`watch ${sendInitialEvents ? 'all' : resourceVersion}`)
      const step = script.shift()
      if (step instanceof Error) throw step
      if (step) yield* step
      if (script.length > 0) return
      done.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    },
  } as unknown as RestClient
  const told: string[] = []
  const logged: string[] = []
  const informer = new Informer<KubeObject>({
    client,
    resource: configMaps,
    transform,
    log: (line) => logged.push(line),
  })
  informer.onChange((now, before) =>
    told.push(
      `${before?.metadata.name ?? ''}${before?.metadata.resourceVersion ?? ''}→${now?.metadata.resourceVersion ?? ''}`,
    ),
  )
  const run = async () => {
    const stopping = new AbortController()
    const running = informer.run(stopping.signal)
    await done.promise
    stopping.abort()
    await running
  }
  return { informer, told, asked, logged, run }
}

test('objects are streamed, told once, and followed from where the stream ended', async () => {
  const { informer, told, asked, run } = scripted([
    [
      event('ADDED', object('a', '1')),
      event('ADDED', object('b', '2')),
      end('5'),
      event('MODIFIED', object('a', '6')),
      event('DELETED', object('b', '7')),
    ],
    [event('ADDED', object('c', '8'))],
  ])
  await run()
  assert.deepEqual(told, ['→1', '→2', 'a1→6', 'b7→', '→8'])
  assert.deepEqual(asked, ['watch all', 'watch 7'])
  assert.deepEqual(
    [...informer.all()].map(({ metadata }) => metadata.name),
    ['a', 'c'],
  )
})

test('a server that does not stream lists is listed', async () => {
  const { told, asked, run } = scripted(
    [new StatusError(422, 'Invalid', 'sendInitialEvents: Forbidden'), [event('ADDED', object('b', '11'))]],
    [object('a', '1')],
  )
  await run()
  assert.deepEqual(asked, ['watch all', 'list', 'watch 10'])
  assert.deepEqual(told, ['→1', '→11'])
})

test(
  'where all objects are told anew, those that have not changed stay as they are, and of those that have only ' +
    'what is new is kept',
  async () => {
    const owned = (resourceVersion: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'b',
        uid: 'b',
        resourceVersion,
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'n' }],
      },
    })
    const gone = new StatusError(410, 'Expired', 'too old')
    const { informer, told, run } = scripted([
      [event('ADDED', object('a', '1')), event('ADDED', owned('2')), end('5')],
      gone,
      [event('ADDED', object('a', '1')), event('ADDED', owned('7')), end('8')],
    ])
    const seen: KubeObject[] = []
    informer.onChange((now) => now && seen.push(now))
    await run()
    assert.deepEqual(told, ['→1', '→2', 'b2→7'])
    assert.equal(informer.get('', 'a'), seen[0])
    assert.equal(seen[2]?.metadata.ownerReferences, seen[1]?.metadata.ownerReferences)
  },
)

test('objects of a stream are made small as they come, before it is complete', async () => {
  const kept: string[] = []
  const transform = (object: KubeObject): KubeObject => {
    kept.push(object.metadata.name ?? '')
    return object
  }
  const { told, run } = scripted(
    [[event('ADDED', object('a', '1'))], [event('ADDED', object('a', '1')), end('5')]],
    [],
    transform,
  )
  await run()
  assert.deepEqual(kept, ['a', 'a'])
  assert.deepEqual(told, ['→1'])
})

test(
  'what has gone while nobody told is told with its last known state; another of the same name is one that went ' +
    'and one that came',
  async () => {
    const { told, asked, run } = scripted([
      [event('ADDED', object('a', '1')), event('ADDED', object('b', '2')), event('ADDED', object('c', '3')), end('5')],
      new StatusError(410, 'Expired', 'too old'),
      [event('ADDED', object('b', '9', 'another')), event('ADDED', object('c', '3')), end('12')],
    ])
    await run()
    assert.deepEqual(asked, ['watch all', 'watch 5', 'watch all'])
    assert.deepEqual(told, ['→1', '→2', '→3', 'a1→', 'b2→', '→9'])
  },
)

test('a stream that breaks off before it is complete changes nothing', async () => {
  const { informer, told, run } = scripted([
    [event('ADDED', object('a', '1'))],
    [event('ADDED', object('b', '2')), end('5')],
  ])
  await run()
  assert.deepEqual(told, ['→2'])
  assert.equal(informer.hasSynced, true)
})

test('a handler that throws keeps the others from nothing, and one that is removed hears no more', async () => {
  const { informer, told, logged, run } = scripted([
    [event('ADDED', object('a', '1')), end('5'), event('MODIFIED', object('a', '6'))],
  ])
  informer.onChange(() => {
    throw new Error('a bug')
  })
  const seen: (string | undefined)[] = []
  const remove = informer.onChange((now) => {
    seen.push(now?.metadata.resourceVersion)
    remove()
  })
  await run()
  assert.deepEqual(told, ['→1', 'a1→6'])
  assert.deepEqual(seen, ['1'])
  assert.match(logged[0] ?? '', /who follows configmaps failed on a: Error: a bug/)
})

test('what is kept of an object is up to the informer', async () => {
  const { informer, run } = scripted([
    [
      event('ADDED', { ...object('a', '1'), metadata: { ...object('a', '1').metadata, managedFields: [{}] } }),
      end('5'),
    ],
  ])
  await run()
  assert.equal(informer.get('', 'a')?.metadata.managedFields, undefined)
})

test('a handler that wants it is told everything again and again, until it is removed', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { informer, run } = scripted([[event('ADDED', object('a', '1')), event('ADDED', object('b', '2')), end('5')]])
  await run()
  const told: string[] = []
  const remove = informer.onChange((now, before) => told.push(`${now?.metadata.name} ${now === before}`), {
    resyncMs: 1000,
  })
  t.mock.timers.tick(1000)
  assert.deepEqual(told, ['a false', 'b false', 'a true', 'b true'])
  remove()
  t.mock.timers.tick(5000)
  assert.equal(told.length, 4)
})
