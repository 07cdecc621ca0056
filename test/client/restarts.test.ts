/**
 * Informers against a server that is killed and restarted 20 times under writes: in the end their state is correct, and
 * handlers were called for every change in order.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Connection } from '../../src/client/connection/connection.ts'
import { loadAccess } from '../../src/client/connection/load-access.ts'
import { Informer, keyOf } from '../../src/client/informers/informer.ts'
import { type ConfigMap, configMaps } from '../../src/client/kinds.ts'
import { type ListOptions, RestClient } from '../../src/client/rest/rest-client.ts'
import { bareFlags } from '../support/bare-server.ts'
import { waitFor } from '../support/wait-for.ts'
import { temporaryFolder, up } from '../up/t8s-process.ts'

const restarts = 20
const names = 60
const writers = 4

/** A copy of the objects, built by a handler; records inconsistent changes. */
function mirrored(informer: Informer<ConfigMap>) {
  const objects = new Map<string, ConfigMap>()
  const wrong: string[] = []
  informer.onChange((object, old) => {
    const key = keyOf((object ?? old) as ConfigMap)
    const mine = objects.get(key)
    if (object && mine?.metadata.resourceVersion !== old?.metadata.resourceVersion)
      wrong.push(`${key}: changed from an unreported state`)
    if (object && mine && mine.metadata.uid !== object.metadata.uid) wrong.push(`${key}: one object became another`)
    if (object && mine && Number(mine.metadata.resourceVersion) >= Number(object.metadata.resourceVersion))
      wrong.push(`${key}: went back`)
    if (!object && !mine) wrong.push(`${key}: deleted but never created`)
    if (!object && mine?.metadata.uid !== old?.metadata.uid) wrong.push(`${key}: another object was deleted`)
    if (object) objects.set(key, object)
    else objects.delete(key)
  })
  return { objects, wrong }
}

const versions = (objects: Iterable<ConfigMap>): string[] =>
  [...objects].map((object) => `${keyOf(object)} ${object.metadata.uid} ${object.metadata.resourceVersion}`).sort()

test(`informers are correct after ${restarts} kills under load`, { timeout: 280_000 }, async (t) => {
  const folder = temporaryFolder(t)
  const kubeconfig = join(folder, 'kubeconfig')
  const start = (port: string) =>
    up(t, [
      '--data-dir',
      folder,
      '--kubeconfig',
      kubeconfig,
      '--secure-port',
      port,
      '--compaction-interval',
      '100ms',
      '--compaction-retention',
      '0s',
      ...bareFlags,
    ])
  let server = await start('0')
  const { port } = new URL(server.url)
  const connection = new Connection(await loadAccess({ kubeconfig }))
  t.after(() => connection.close())
  const client = new RestClient(connection)

  const stopping = new AbortController()
  const selections: ListOptions[] = [
    { namespace: 'default' },
    { namespace: 'default', labelSelector: 'even=true' },
    { namespace: 'default', metadataOnly: true },
  ]
  const watchers = selections.map((selection) => {
    const informer = new Informer<ConfigMap>({ client, resource: configMaps, ...selection, log: () => {} })
    return { selection, informer, ...mirrored(informer), running: informer.run(stopping.signal) }
  })
  let written = 0
  let writing = true
  const writer = async (): Promise<void> => {
    while (writing) {
      const name = `c-${Math.floor(Math.random() * names)}`
      const labels = { even: `${Math.random() < 0.5}` }
      const choice = Math.random()
      const object: ConfigMap = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'default', labels },
        data: { n: `${written}` },
      }
      const write =
        choice < 0.4
          ? client.create(configMaps, object)
          : choice < 0.7
            ? client.update(configMaps, object)
            : client.delete(configMaps, 'default', name)
      // Conflicts, missing objects and lost connections are expected.
      await write.then(
        () => written++,
        () => {},
      )
    }
  }
  const writes = Array.from({ length: writers }, writer)
  for (let restart = 0; restart < restarts; restart++) {
    const before = written
    await waitFor('a write', () => written > before + 10)
    server.process.kill('SIGKILL')
    await server.exited
    server = await start(port)
  }
  writing = false
  await Promise.all(writes)
  for (const { selection, informer, objects, wrong } of watchers) {
    const expected = versions((await client.list(configMaps, selection)).items)
    await waitFor(
      `the state of ${JSON.stringify(selection)}`,
      () => JSON.stringify(versions(informer.all())) === JSON.stringify(expected),
    )
    assert.deepEqual(versions(objects.values()), expected)
    assert.deepEqual(wrong, [])
  }
  stopping.abort()
  await Promise.all(watchers.map(({ running }) => running))
})
