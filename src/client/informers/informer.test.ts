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

/** An informer whose server sends the events of a script, one entry per watch; the last watch stays open. */
function scripted(script: Script, listed: readonly KubeObject[] = [], transform?: (object: KubeObject) => KubeObject) {
  const requests: string[] = []
  const done = Promise.withResolvers<void>()
  const client = {
    async list() {
      requests.push('list')
      return { items: listed, resourceVersion: '10' }
    },
    async *watch(_: unknown, { resourceVersion, sendInitialEvents, signal }: WatchOptions) {
      requests.push(`watch ${sendInitialEvents ? 'all' : resourceVersion}`)
      const step = script.shift()
      if (step instanceof Error) throw step
      if (step) yield* step
      if (script.length > 0) return
      done.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    },
  } as unknown as RestClient
  const changes: string[] = []
  const logged: string[] = []
  const informer = new Informer<KubeObject>({
    client,
    resource: configMaps,
    transform,
    log: (line) => logged.push(line),
  })
  informer.onChange((now, before) =>
    changes.push(
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
  return { informer, changes, requests, logged, run }
}

test('objects are streamed, reported once, and watched from where the stream ended', async () => {
  const { informer, changes, requests, run } = scripted([
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
  assert.deepEqual(changes, ['→1', '→2', 'a1→6', 'b7→', '→8'])
  assert.deepEqual(requests, ['watch all', 'watch 7'])
  assert.deepEqual(
    [...informer.all()].map(({ metadata }) => metadata.name),
    ['a', 'c'],
  )
})

test('the informer lists if the server does not stream lists', async () => {
  const { changes, requests, run } = scripted(
    [new StatusError(422, 'Invalid', 'sendInitialEvents: Forbidden'), [event('ADDED', object('b', '11'))]],
    [object('a', '1')],
  )
  await run()
  assert.deepEqual(requests, ['watch all', 'list', 'watch 10'])
  assert.deepEqual(changes, ['→1', '→11'])
})

test('a new list keeps unchanged objects, and shares the unchanged parts of changed ones', async () => {
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
  const expired = new StatusError(410, 'Expired', 'too old')
  const { informer, changes, run } = scripted([
    [event('ADDED', object('a', '1')), event('ADDED', owned('2')), end('5')],
    expired,
    [event('ADDED', object('a', '1')), event('ADDED', owned('7')), end('8')],
  ])
  const seen: KubeObject[] = []
  informer.onChange((now) => now && seen.push(now))
  await run()
  assert.deepEqual(changes, ['→1', '→2', 'b2→7'])
  assert.equal(informer.get('', 'a'), seen[0])
  assert.equal(seen[2]?.metadata.ownerReferences, seen[1]?.metadata.ownerReferences)
})

test('objects of a streamed list are transformed on arrival', async () => {
  const transformed: string[] = []
  const transform = (object: KubeObject): KubeObject => {
    transformed.push(object.metadata.name ?? '')
    return object
  }
  const { changes, run } = scripted(
    [[event('ADDED', object('a', '1'))], [event('ADDED', object('a', '1')), end('5')]],
    [],
    transform,
  )
  await run()
  assert.deepEqual(transformed, ['a', 'a'])
  assert.deepEqual(changes, ['→1'])
})

test('objects deleted unseen are reported with their last state, replaced ones as deleted and created', async () => {
  const { changes, requests, run } = scripted([
    [event('ADDED', object('a', '1')), event('ADDED', object('b', '2')), event('ADDED', object('c', '3')), end('5')],
    new StatusError(410, 'Expired', 'too old'),
    [event('ADDED', object('b', '9', 'another')), event('ADDED', object('c', '3')), end('12')],
  ])
  await run()
  assert.deepEqual(requests, ['watch all', 'watch 5', 'watch all'])
  assert.deepEqual(changes, ['→1', '→2', '→3', 'a1→', 'b2→', '→9'])
})

test('a streamed list that breaks off early changes nothing', async () => {
  const { informer, changes, run } = scripted([
    [event('ADDED', object('a', '1'))],
    [event('ADDED', object('b', '2')), end('5')],
  ])
  await run()
  assert.deepEqual(changes, ['→2'])
  assert.equal(informer.hasSynced, true)
})

test('a handler that throws does not affect others, and a removed handler is not called', async () => {
  const { informer, changes, logged, run } = scripted([
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
  assert.deepEqual(changes, ['→1', 'a1→6'])
  assert.deepEqual(seen, ['1'])
  assert.match(logged[0] ?? '', /a handler for configmaps failed on a: Error: a bug/)
})

test('managedFields are removed by default', async () => {
  const { informer, run } = scripted([
    [
      event('ADDED', { ...object('a', '1'), metadata: { ...object('a', '1').metadata, managedFields: [{}] } }),
      end('5'),
    ],
  ])
  await run()
  assert.equal(informer.get('', 'a')?.metadata.managedFields, undefined)
})

test('a handler with resyncMs gets all objects at the interval, until it is removed', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { informer, run } = scripted([[event('ADDED', object('a', '1')), event('ADDED', object('b', '2')), end('5')]])
  await run()
  const changes: string[] = []
  const remove = informer.onChange((now, before) => changes.push(`${now?.metadata.name} ${now === before}`), {
    resyncMs: 1000,
  })
  t.mock.timers.tick(1000)
  assert.deepEqual(changes, ['a false', 'b false', 'a true', 'b true'])
  remove()
  t.mock.timers.tick(5000)
  assert.equal(changes.length, 4)
})
