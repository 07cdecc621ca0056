/** Two servers on one etcd behind a load balancer: they start at the same moment, and are restarted one by one. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Connection } from '../../src/client/connection/connection.ts'
import { ConnectionLost } from '../../src/client/connection/connection-lost.ts'
import { bearerToken } from '../../src/client/connection/credentials/credentials.ts'
import { Informer } from '../../src/client/informers/informer.ts'
import { type ConfigMap, configMaps } from '../../src/client/kinds.ts'
import { RestClient } from '../../src/client/rest/rest-client.ts'
import { openEtcdStore } from '../../src/storage/etcd/index.ts'
import { authority, serve, type TestServer, token } from '../support/api-server.ts'
import { startEtcd, withoutEtcd } from '../support/etcd.ts'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { waitFor } from '../support/wait-for.ts'
import { startBalancer } from './balancer.ts'

const namespace = 'default'
const rounds = 2
const writers = 4

/** A client of the balancer; each has a connection of its own, and so perhaps another server. */
function clientAt(t: TestContext, url: string): RestClient {
  const connection = new Connection({ url, ca: authority.cert, credentials: bearerToken(token) })
  t.after(() => connection.close())
  return new RestClient(connection)
}

/** Repeats a request that got no response because its connection ended before the server saw it. */
async function retrying<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request()
    } catch (error) {
      if (!(error instanceof ConnectionLost) || error.reached) throw error
    }
  }
}

const mapOf = (name: string): ConfigMap => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } })

test('a rolling restart loses no request, no event and no read of one’s own writes', {
  skip: withoutEtcd,
}, async (t) => {
  let endEtcd: () => unknown = () => {}
  const [member] = startEtcd({ after: (ended) => (endEtcd = ended) })
  const stops: (() => Promise<void>)[] = []
  // Servers stop before the store that they leave.
  t.after(async () => {
    await Promise.all(stops.map((stop) => stop()))
    await endEtcd()
  })
  const start = async (): Promise<TestServer> => {
    const store = await openEtcdStore({ servers: [member!.url] })
    const server = await serve(t, store)
    stops.push(async () => {
      await server.stop(0)
      await store.close()
    })
    return server
  }
  const balancer = await startBalancer(t)
  const servers = await Promise.all([start(), start()])
  for (const { port } of servers) balancer.ports.add(port)
  assert.deepEqual(
    servers.flatMap(({ logLines }) => logLines),
    [],
  )

  const stopping = new AbortController()
  const informer = new Informer<ConfigMap>({
    client: clientAt(t, balancer.url),
    resource: configMaps,
    namespace,
    log: () => {},
  })
  const seen = new Set<string>()
  informer.onChange((object) => object && seen.add(object.metadata.name ?? ''))
  const informing = informer.run(stopping.signal)

  const acknowledged: string[] = []
  let isWriting = true
  t.after(() => {
    isWriting = false
    stopping.abort()
  })
  const writing = Array.from({ length: writers }, async (_, writer) => {
    const [one, other] = [clientAt(t, balancer.url), clientAt(t, balancer.url)]
    for (let i = 0; isWriting; i++) {
      const name = `w${writer}-${i}`
      const { metadata } = await retrying(() => one.create(configMaps, mapOf(name)))
      acknowledged.push(name)
      const read = await retrying(() => other.get(configMaps, namespace, name))
      assert.equal(read.metadata.resourceVersion, metadata.resourceVersion)
    }
  })
  const kubectls = Promise.all([...writing, runKubectl(t, balancer.url, () => isWriting)])

  for (let round = 0; round < rounds; round++) {
    for (const index of [0, 1]) {
      const before = acknowledged.length
      await waitFor('writes', () => acknowledged.length > before + 20)
      const old = servers[index]!
      // The balancer checks /readyz.
      balancer.ports.delete(old.port)
      await old.stop()
      const next = await start()
      balancer.ports.add(next.port)
      servers[index] = next
      assert.deepEqual(old.logLines, [])
    }
  }
  isWriting = false
  await kubectls
  await waitFor('all events', () => acknowledged.every((name) => seen.has(name)))
  const listed = new Set(
    (await clientAt(t, balancer.url).list(configMaps, { namespace })).items.map(({ metadata }) => metadata.name),
  )
  assert.deepEqual(
    acknowledged.filter((name) => !listed.has(name)),
    [],
  )
  t.diagnostic(`${acknowledged.length} objects`)
  stopping.abort()
  await informing
})

/** Creates and reads objects with kubectl, one process for each. */
async function runKubectl(t: TestContext, url: string, isOn: () => boolean): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 't8s-kubectl-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const kubectl = new Kubectl(installedKubectls().at(-1)!, '/dev/null', home)
  const access = `--server=${url} --insecure-skip-tls-verify --token=${token}`
  for (let i = 0; isOn(); i++) {
    await kubectl.ok(`${access} create configmap k-${i}`, `configmap/k-${i} created\n`)
    await kubectl.ok(`${access} get configmap k-${i} -o name`, `configmap/k-${i}\n`)
  }
}
