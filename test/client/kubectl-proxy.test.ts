/** The client through `kubectl proxy`, which speaks HTTP/1.1 without TLS: all verbs, watches and informers. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { connectTo } from '../../src/client/connection/connect-to.ts'
import { SharedInformers } from '../../src/client/informers/shared-informers.ts'
import { configMaps, namespaces } from '../../src/client/kinds.ts'
import { waitFor as waitForObject } from '../../src/client/objects/wait-for.ts'
import type { RestClient } from '../../src/client/rest/rest-client.ts'
import { bareServer } from '../support/bare-server.ts'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { type Lifetime, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

/** Starts `kubectl proxy`; it ends with the test or with `stop`. */
async function kubectlProxy(t: Lifetime, kubeconfigFile: string, port = 0) {
  const home = mkdtempSync(join(tmpdir(), 't8s-proxy-'))
  const child = new Kubectl(installedKubectls().at(-1)!, kubeconfigFile, home).spawn(`proxy --port=${port}`)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text))
  const closed = once(child, 'close')
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await closed
  }
  t.after(async () => {
    await stop()
    rmSync(home, { recursive: true, force: true })
  })
  const assignedPort = await waitFor('the proxy', () => /Starting to serve on 127\.0\.0\.1:(\d+)/.exec(output)?.[1])
  return { url: `http://127.0.0.1:${assignedPort}`, port: Number(assignedPort), stop }
}

const place = { namespace: 'default', name: 'a' }
const object = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name } })

async function checkVerbs(client: RestClient): Promise<void> {
  const created = await client.create(configMaps, { ...object('a'), data: { a: 'ä' } })
  assert.deepEqual((await client.get(configMaps, 'default', 'a')).data, { a: 'ä' })
  const updated = await client.update(configMaps, { ...created, data: { a: 'b' } })
  await assert.rejects(client.update(configMaps, { ...created, data: { a: 'c' } }), { code: 409 })
  assert.deepEqual((await client.patch(configMaps, 'default', 'a', { data: { b: 'c' } }, 'merge')).data, {
    a: 'b',
    b: 'c',
  })
  assert.deepEqual((await client.apply(configMaps, { metadata: place, data: { c: 'd' } }, 'test')).data, {
    a: 'b',
    b: 'c',
    c: 'd',
  })
  assert.notEqual(updated.metadata.resourceVersion, created.metadata.resourceVersion)
  assert.ok(
    (await client.list(configMaps, { namespace: 'default', limit: 1 })).items.some(
      ({ metadata }) => metadata.name === 'a',
    ),
  )
  assert.equal((await client.find(configMaps, 'default', 'none')) ?? 'none', 'none')
  await assert.rejects(client.get(namespaces, '', 'none'), { code: 404 })
  await client.delete(configMaps, 'default', 'a', { uid: created.metadata.uid })
  await client.create(configMaps, { ...object('b'), metadata: { ...object('b').metadata, labels: { of: 'test' } } })
  await client.deleteCollection(configMaps, { namespace: 'default', labelSelector: 'of=test' })
  assert.equal(await client.find(configMaps, 'default', 'b'), undefined)
}

test('all verbs, watches and informers work through kubectl proxy, and survive its restart', async (t) => {
  const cluster = await testCluster(t, bareServer)
  const proxy = await kubectlProxy(t, cluster.kubeconfigFile)
  const client = await connectTo({ access: { url: proxy.url } })
  t.after(() => client.close())
  await checkVerbs(client)

  const { resourceVersion } = await client.list(configMaps, { namespace: 'default' })
  const watchAbort = new AbortController()
  const watching = (async () => {
    for await (const { type, object } of client.watch(configMaps, {
      namespace: 'default',
      resourceVersion,
      signal: watchAbort.signal,
    })) {
      if (type !== 'BOOKMARK') return `${type} ${object.metadata.name}`
    }
    return 'ended'
  })()
  const informers = new SharedInformers(client, () => {})
  t.after(() => informers.stop())
  const changes: string[] = []
  const seen = informers.of(configMaps, { namespace: 'default', labelSelector: 'of=informer' })
  seen.onChange((now, old) =>
    changes.push(`${now ? (old ? 'changed' : 'new') : 'deleted'} ${(now ?? old)?.metadata.name}`),
  )
  await informers.synced(configMaps, { namespace: 'default', labelSelector: 'of=informer' })
  const names = 'abcdefghijklmnopqrstuvwxyz'.split('').map((letter) => `more-${letter}`)
  const labelled = (name: string) => ({
    ...object(name),
    metadata: { ...object(name).metadata, labels: { of: 'informer' } },
  })
  await Promise.all(names.map((name) => client.create(configMaps, labelled(name))))
  assert.match(await watching, /^ADDED more-/)
  await waitFor('all to be seen', () => names.every((name) => seen.get('default', name)))
  await waitForObject(client, configMaps, { namespace: 'default', name: 'more-a' }, Boolean)

  await proxy.stop()
  const { cert, key, ca, url } = cluster.client
  const direct = await connectTo({ access: { cert, key, ca, url } })
  t.after(() => direct.close())
  await direct.delete(configMaps, 'default', 'more-a')
  await assert.rejects(
    client.create(configMaps, object('late')),
    /127\.0\.0\.1:\d+ is unreachable: the server refuses connections/,
  )
  await kubectlProxy(t, cluster.kubeconfigFile, proxy.port)
  await client.patch(configMaps, 'default', 'more-b', { data: { late: 'yes' } }, 'merge')
  await waitFor('the missed changes', () => changes.includes('deleted more-a') && changes.includes('changed more-b'))
  assert.equal(changes.filter((line) => line === 'deleted more-a').length, 1)
})
