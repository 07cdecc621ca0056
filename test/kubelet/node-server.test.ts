/** Logs, exec, attach, port-forward and usage of real containers, through the kubelet's HTTPS server. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, type TestContext, test } from 'node:test'
import { CriRuntime } from '../../src/kubelet/cri/runtime.ts'
import { LogRotation } from '../../src/kubelet/logs/rotation/log-rotation.ts'
import type { Pod } from '../../src/kubelet/pod-types.ts'
import { waitFor } from '../support/wait-for.ts'
import { enterNetwork } from './support/enter-network.ts'
import { NodeServer } from './support/node-server.ts'
import { type NodeRuntime, startNodeRuntime } from './support/runtimes/node-runtime.ts'
import { images } from './support/runtimes/test-images.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root'

const folder = mkdtempSync(join(tmpdir(), 't8s-node-'))
let nodeRuntime: NodeRuntime
let runtime: CriRuntime
let sandbox: string
const pods: Pod[] = []

const identity = {
  'io.kubernetes.pod.name': 'web',
  'io.kubernetes.pod.namespace': 'default',
  'io.kubernetes.pod.uid': 'uid-1',
}

const sandboxConfig = {
  metadata: { name: 'web', namespace: 'default', uid: 'uid-1', attempt: 0 },
  labels: identity,
  logDirectory: join(folder, 'default_web_uid-1'),
  linux: { cgroupParent: '/t8s-node-test/poduid-1' },
}

before(async () => {
  if (skip) return
  nodeRuntime = await startNodeRuntime()
  enterNetwork(nodeRuntime.pid)
  runtime = new CriRuntime(nodeRuntime.endpoint)
  sandbox = await runtime.runSandbox(sandboxConfig)
})

after(async () => {
  if (skip) return
  await runtime.removeSandbox(sandbox)
  runtime.close()
  await nodeRuntime.stop()
  removeCgroups()
  rmSync(folder, { recursive: true, force: true })
})

/** Removes the empty cgroups that the runtime has made around its own. */
function removeCgroups(): void {
  for (const controller of readdirSync('/sys/fs/cgroup'))
    for (const path of ['t8s-node-test/poduid-1', 't8s-node-test'])
      try {
        rmdirSync(join('/sys/fs/cgroup', controller, path))
      } catch {
        // Not every controller has it.
      }
}

/** Starts a container of the pod with a shell script. */
async function startContainer(name: string, script: string, stdin = false): Promise<string> {
  const config = {
    metadata: { name, attempt: 0 },
    image: { image: images.busybox },
    command: ['sh', '-c', script],
    labels: { ...identity, 'io.kubernetes.container.name': name },
    logPath: `${name}/0.log`,
    stdin,
  }
  const id = await runtime.createContainer(sandbox, config, sandboxConfig)
  await runtime.startContainer(id)
  const state = { running: { startedAt: new Date().toISOString() } }
  const status = {
    name,
    containerID: `${nodeRuntime.name}://${id}`,
    state,
    ready: true,
    restartCount: 0,
    image: '',
    imageID: '',
  }
  const old = pods.splice(0)[0]
  pods.push({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', uid: 'uid-1' },
    spec: { containers: [...(old?.spec?.containers ?? []), { name }] },
    status: { containerStatuses: [...(old?.status?.containerStatuses ?? []), status] },
  } as Pod)
  return id
}

const startServer = (t: TestContext): Promise<NodeServer> =>
  NodeServer.start(t, {
    runtime,
    runtimeName: nodeRuntime.name,
    endpoint: nodeRuntime.endpoint,
    folder,
    pods: () => pods,
  })

test('a followed log has each line once, over rotations, and ends with the container', { skip }, async (t) => {
  const server = await startServer(t)
  const count = 1_500
  const script = `i=0; while [ $i -lt ${count} ]; do echo "line $i"; i=$((i+1)); usleep 2000; done; printf unfinished`
  await startContainer('counter', script)
  const following = text(await server.get('/containerLogs/default/web/counter?follow=true'))
  let [second, rotations] = [0, 0]
  const rotation = new LogRotation({
    runtime,
    maxBytes: 2_000,
    maxFiles: 5,
    intervalMs: 10_000,
    log: (line) => assert.fail(line),
    now: () => Date.UTC(2026, 0, 1) + 1_000 * second++,
    schedule: () => () => {},
  })
  const ended = following.then(() => true)
  while (!(await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 400))]))) {
    await rotation.rotateAll()
    rotations++
  }
  assert.ok(rotations > 2)
  const expected = Array.from({ length: count }, (_, i) => `line ${i}\n`).join('')
  const found = (await following).replace(/unfinished\n?$/, '')
  assert.equal(found, expected)
  const tail = await server.text('/containerLogs/default/web/counter?tailLines=3')
  assert.match(tail, new RegExp(`line ${count - 2}\nline ${count - 1}\nunfinished`))
})

const status = (code: number) => ({
  metadata: {},
  status: 'Failure',
  message: `command terminated with exit code ${code}`,
  reason: 'NonZeroExitCode',
  details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
})

test('exec passes bytes both ways and the exit code, over SPDY and WebSockets', { skip }, async (t) => {
  const server = await startServer(t)
  await startContainer('shell', 'sleep 1000')
  const path = '/exec/default/web/shell?input=1&output=1&error=1&command=sh&command=-c&command=cat;exit%203'
  const sent = randomBytes(16 * 1024 * 1024)
  const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

  const connection = await server.spdy(t, path, 'v4.channel.k8s.io')
  const [error, stdin, stdout, stderr] = ['error', 'stdin', 'stdout', 'stderr'].map((streamtype) =>
    connection.open({ streamtype }),
  )
  stderr!.resume()
  stdin!.end(sent)
  const received: Buffer[] = []
  for await (const chunk of stdout!) received.push(chunk as Buffer)
  assert.equal(hash(Buffer.concat(received)), hash(sent))
  const { details, reason } = JSON.parse(await text(error!)) as ReturnType<typeof status>
  assert.deepEqual({ details, reason }, { details: status(3).details, reason: status(3).reason })

  const { socket, channel } = await server.webSocket(t, path, 'v5.channel.k8s.io')
  for (let at = 0; at < sent.length; at += 32_768)
    socket.send(Buffer.concat([Buffer.of(0), sent.subarray(at, at + 32_768)]))
  socket.send(Buffer.from([255, 0]))
  await once(socket, 'close')
  assert.equal(hash(channel(1)), hash(sent))
  assert.deepEqual((JSON.parse(channel(3).toString()) as ReturnType<typeof status>).details, status(3).details)
})

test('attach reaches the input and output of the container', { skip }, async (t) => {
  const server = await startServer(t)
  await startContainer('reader', 'cat', true)
  const path = '/attach/default/web/reader?input=1&output=1'
  const { socket, channel } = await server.webSocket(t, path, 'v5.channel.k8s.io')
  socket.send(Buffer.from('\0hello\n'))
  await waitFor('the echo of the container', () => channel(1).toString() === 'hello\n')
  socket.close()
})

test('a port is forwarded', { skip }, async (t) => {
  const server = await startServer(t)
  await startContainer('echo', 'while true; do nc -l -p 8080 -e cat; done')
  const send = async (): Promise<string> => {
    const connection = await server.spdy(t, '/portForward/default/web', 'portforward.k8s.io')
    const headers = { port: '8080', requestid: '0' }
    const error = connection.open({ ...headers, streamtype: 'error' })
    const data = connection.open({ ...headers, streamtype: 'data' })
    data.write('hello')
    data.once('data', () => data.end())
    const [answer, problem] = await Promise.all([text(data), text(error)])
    connection.close()
    if (problem) throw new Error(problem)
    return answer
  }
  assert.equal(await waitFor('an answer of the port', send, { everyMs: 200 }), 'hello')
})

test('pages show the usage of containers, to authenticated clients', { skip }, async (t) => {
  const server = await startServer(t)
  await startContainer('busy', 'while true; do :; done')
  assert.equal((await server.get('/pods', 'Bearer other')).statusCode, 401)
  assert.equal((await server.get('/healthz', '')).statusCode, 401)
  const running = JSON.parse(await server.text('/runningpods/')) as { items: Pod[] }
  assert.ok(running.items[0]?.spec?.containers.some(({ name }) => name === 'busy'))
  const usage = await waitFor(
    'the usage of the container',
    async () => {
      const { pods: [pod] = [] } = JSON.parse(await server.text('/stats/summary')) as {
        pods: { containers: { name: string; cpu?: { usageNanoCores?: number }; memory?: { rssBytes: number } }[] }[]
      }
      const container = pod?.containers.find(({ name }) => name === 'busy')
      return (container?.cpu?.usageNanoCores ?? 0) > 1e7 && container
    },
    { everyMs: 1_000 },
  )
  assert.ok(usage.memory!.rssBytes > 0)
  const metrics = await server.text('/metrics/cadvisor')
  const row = /^container_cpu_usage_seconds_total\{container="busy",cpu="total",id="([^"]*)",.*pod="web"\} /m
  const [, id] = row.exec(metrics) ?? []
  assert.match(id ?? '', /^\/t8s-node-test\/poduid-1\/[0-9a-f]+$/)
  assert.match(metrics, /^container_network_receive_bytes_total\{.*interface="eth0".*pod="web"\} \d+ \d+$/m)
  assert.match(await server.text('/metrics/resource'), /^container_memory_working_set_bytes\{container="busy",/m)
  assert.match(await server.text('/logs/'), /<a href="default_web_uid-1\/">default_web_uid-1\/<\/a>/)
  assert.equal((await server.get('/logs/../../etc/passwd')).statusCode, 404)
})
