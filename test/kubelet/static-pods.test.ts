/** Static pods and their mirror pods, with our API server and a container runtime. Needs root. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { nodes, type Pod, pods } from '../../src/client/kinds.ts'
import { clientFor } from '../support/client-for.ts'
import { apiControllers, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { countRunning, startNodeRuntime } from './support/runtimes/node-runtime.ts'
import { images } from './support/runtimes/test-images.ts'
import { startKubelet } from './support/start-kubelet.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root'

const manifest = (name: string, script: string, more: object = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...more },
    spec: {
      terminationGracePeriodSeconds: 2,
      containers: [{ name: 'c', image: images.busybox, command: ['sh', '-c', script] }],
    },
  })

const idle = (word: string): string => `echo ${word}; trap 'exit 0' TERM; while true; do sleep 0.1; done`

/** A port that refuses connections until it is opened; then it leads to the API server. */
async function closedRelay(t: TestContext, target: string) {
  const { hostname, port } = new URL(target)
  const server = createTcpServer((socket) => {
    const other = connect(Number(port), hostname)
    socket.pipe(other).pipe(socket)
    socket.on('error', () => other.destroy())
    other.on('error', () => socket.destroy())
    t.after(() => socket.destroy())
  })
  const listen = (on: number) => new Promise<void>((resolve) => server.listen(on, '127.0.0.1', resolve))
  await listen(0)
  const { port: own } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  t.after(() => server.close())
  return { url: `https://127.0.0.1:${own}`, open: () => listen(own) }
}

test('static pods run without an API object, and mirror pods show them', { skip, timeout: 240_000 }, async (t) => {
  const root = mkdtempSync(join(tmpdir(), 't8s-static-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const folder = join(root, 'manifests')
  mkdirSync(folder)
  /** Writes a manifest as editors do: a hidden file that is renamed. */
  const write = (name: string, text: string): void => {
    writeFileSync(join(folder, `.${name}`), text)
    renameSync(join(folder, `.${name}`), join(folder, name))
  }
  let served = manifest('served', idle('served'))
  const web = createServer((_, response) => response.end(served)).listen(0, '127.0.0.1')
  t.after(() => web.close())
  const cluster = await testCluster(t, { controllers: apiControllers })
  const client = clientFor(t, cluster)
  const nodeRuntime = await startNodeRuntime()
  t.after(() => nodeRuntime.stop())
  const logged: string[] = []
  const configuration = {
    staticPodPath: folder,
    staticPodURL: `http://127.0.0.1:${(web.address() as AddressInfo).port}/`,
    httpCheckFrequency: '200ms',
  }
  const start = (server = cluster.client) =>
    startKubelet(cluster, nodeRuntime.endpoint, root, (line) => void logged.push(line), { configuration, server })
  const runningTasks = (): Promise<number> => countRunning(nodeRuntime)
  write('web.yaml', manifest('web', idle('first'), { labels: { app: 'web' } }))
  write('bad.yaml', 'kind: Pod\napiVersion: v1\nmetadata: {name: bad}\nspec: {containers: []}\n')
  write('secret.yaml', manifest('secret', 'true').replace('"spec":{', '"spec":{"imagePullSecrets":[{"name":"s"}],'))
  const relay = await closedRelay(t, cluster.url)
  let kubelet = await start({ ...cluster.client, url: relay.url })
  t.after(() => kubelet.stop())
  const find = (name: string): Promise<Pod | undefined> => client.find(pods, 'default', name)
  const running = (name: string, other?: string): Promise<Pod> =>
    waitFor(`the mirror pod ${name} runs`, async () => {
      const pod = await find(name)
      const isReady = pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
      return isReady && pod?.metadata.uid !== other ? pod : undefined
    })
  const containerIds = async (name: string): Promise<string | undefined> =>
    (await find(name))?.status?.containerStatuses?.[0]?.containerID

  // Each of the two pods has a sandbox and a container.
  await waitFor('static pods run before the API server answers', async () => (await runningTasks()) === 4)
  await relay.open()
  await kubelet.started
  const mirror = await running('web-n1')
  const node = await client.get(nodes, '', 'n1')
  const hash = mirror.metadata.annotations?.['kubernetes.io/config.hash']
  await t.test('a mirror pod has the annotations of its manifest, and its node as owner', () => {
    assert.match(hash ?? '', /^[0-9a-f]{32}$/)
    assert.notEqual(mirror.metadata.uid, hash)
    assert.deepEqual(
      [
        mirror.metadata.annotations?.['kubernetes.io/config.mirror'],
        mirror.metadata.annotations?.['kubernetes.io/config.source'],
      ],
      [hash, 'file'],
    )
    assert.deepEqual(mirror.metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: node.metadata.uid, controller: true },
    ])
    assert.equal(mirror.metadata.labels?.app, 'web')
    assert.ok(mirror.spec?.tolerations?.some(({ key, effect }) => !key && effect === 'NoExecute'))
  })

  await t.test('files that cannot be used are logged with their faults', () => {
    const bad = logged.find((line) => line.includes('bad.yaml'))
    assert.match(
      bad ?? '',
      /^Could not process manifest file ".*bad.yaml": invalid pod: \[spec.containers: Required value\]$/,
    )
    assert.ok(
      logged.some((line) => line.endsWith('static pods may not reference secrets')),
      logged.join('\n'),
    )
  })

  await t.test('a pod of a URL runs, and is replaced when the answer changes', async () => {
    const before = await running('served-n1')
    assert.equal(before.metadata.annotations?.['kubernetes.io/config.source'], 'http')
    served = manifest('served', idle('changed'))
    await running('served-n1', before.metadata.uid)
    served = ''
    await waitFor('the mirror pod is deleted', async () => !(await find('served-n1')))
  })

  await t.test('a deleted mirror pod is created again; the container continues', async () => {
    const id = await containerIds('web-n1')
    await client.delete(pods, 'default', 'web-n1')
    const again = await running('web-n1', mirror.metadata.uid)
    assert.equal(again.status?.containerStatuses?.[0]?.containerID, id)
    assert.equal(again.metadata.annotations?.['kubernetes.io/config.hash'], hash)
  })

  await t.test('a restarted kubelet continues a static pod', async () => {
    const before = await find('web-n1')
    await kubelet.stop()
    kubelet = await start()
    const after = await running('web-n1')
    assert.equal(after.metadata.uid, before?.metadata.uid)
    assert.equal(after.status?.containerStatuses?.[0]?.containerID, before?.status?.containerStatuses?.[0]?.containerID)
  })

  await t.test('a changed manifest is another pod, which starts when the former one has ended', async () => {
    const before = await find('web-n1')
    write('web.yaml', manifest('web', idle('second')))
    const after = await running('web-n1', before?.metadata.uid)
    assert.notEqual(after.metadata.annotations?.['kubernetes.io/config.hash'], hash)
    assert.equal(await runningTasks(), 2)
  })

  await t.test('a pod with a UID of its own comes back with that UID while its former one ends', async () => {
    const script = "trap 'echo ending; sleep 1; exit 0' TERM; while true; do sleep 0.1; done"
    const fixed = manifest('fixed', script, { uid: 'fixed-uid' })
    write('fixed.yaml', fixed)
    const before = await running('fixed-n1')
    const id = before.status?.containerStatuses?.[0]?.containerID
    rmSync(join(folder, 'fixed.yaml'))
    const log = join(kubelet.podLogs, 'default_fixed-n1_fixed-uid/c/0.log')
    await waitFor('the pod ends', () => readFileSync(log, 'utf8').includes('ending'))
    write('fixed.yaml', fixed)
    await waitFor('a new container runs', async () => {
      const state = (await find('fixed-n1'))?.status?.containerStatuses?.[0]
      return state?.state?.running && state.containerID !== id
    })
  })

  await t.test('a mirror pod is deleted when its file is removed', async () => {
    rmSync(join(folder, 'web.yaml'))
    await waitFor('the mirror pod is deleted', async () => !(await find('web-n1')))
  })
})
