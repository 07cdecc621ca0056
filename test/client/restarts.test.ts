/**
 * Informers against a server that is killed and started again 50 times while others write: in the end they know the
 * truth, and handlers were told all of it in order.
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

const restarts = 50
const names = 60
const writers = 4

/** What a handler makes of what it is told; wrong steps are remembered. */
function mirrored(informer: Informer<ConfigMap>) {
  const known = new Map<string, ConfigMap>()
  const wrong: string[] = []
  informer.onChange((object, before) => {
    const key = keyOf((object ?? before) as ConfigMap)
    const mine = known.get(key)
    if (object && mine?.metadata.resourceVersion !== before?.metadata.resourceVersion)
      wrong.push(`${key}: changed from a state that was not told`)
    if (object && mine && mine.metadata.uid !== object.metadata.uid) wrong.push(`${key}: one object became another`)
    if (object && mine && Number(mine.metadata.resourceVersion) >= Number(object.metadata.resourceVersion))
      wrong.push(`${key}: went back`)
    if (!object && !mine) wrong.push(`${key}: gone and never there`)
    if (!object && mine?.metadata.uid !== before?.metadata.uid) wrong.push(`${key}: another one has gone`)
    if (object) known.set(key, object)
    else known.delete(key)
  })
  return { known, wrong }
}

const versions = (objects: Iterable<ConfigMap>): string[] =>
  [...objects].map((object) => `${keyOf(object)} ${object.metadata.uid} ${object.metadata.resourceVersion}`).sort()

test(`what informers know is the truth after ${restarts} kills under load`, { timeout: 280_000 }, async (t) => {
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
  const followed = selections.map((selection) => {
    const informer = new Informer<ConfigMap>({ client, resource: configMaps, ...selection, log: () => {} })
    return { selection, informer, ...mirrored(informer), running: informer.run(stopping.signal) }
  })
  let written = 0
  let writing = true
  const writer = async (): Promise<void> => {
    while (writing) {
      const name = `c-${Math.floor(Math.random() * names)}`
      const labels = { even: `${Math.random() < 0.5}` }
      const what = Math.random()
      const object: ConfigMap = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'default', labels },
        data: { n: `${written}` },
      }
      const write =
        what < 0.4
          ? client.create(configMaps, object)
          : what < 0.7
            ? client.update(configMaps, object)
            : client.delete(configMaps, 'default', name)
      // Names that are taken, objects that are not there, servers that have gone: all of it happens here.
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
  for (const { selection, informer, known, wrong } of followed) {
    const truth = versions((await client.list(configMaps, selection)).items)
    await waitFor(
      `the truth of ${JSON.stringify(selection)}`,
      () => JSON.stringify(versions(informer.all())) === JSON.stringify(truth),
    )
    assert.deepEqual(versions(known.values()), truth)
    assert.deepEqual(wrong, [])
  }
  stopping.abort()
  await Promise.all(followed.map(({ running }) => running))
})
