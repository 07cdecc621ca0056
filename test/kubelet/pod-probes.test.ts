/** Probes of pods, with our API server and a container runtime. Needs root. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { events as eventResource, type Pod, pods } from '../../src/client/kinds.ts'
import { clientFor } from '../support/client-for.ts'
import { apiControllers, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { startNodeRuntime } from './support/runtimes/node-runtime.ts'
import { images } from './support/runtimes/test-images.ts'
import { startKubelet } from './support/start-kubelet.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root'

const shell = (script: string): string[] => ['sh', '-c', script]
const fileProbe = (file: string, more: object = {}) => ({
  exec: { command: ['test', '-f', file] },
  periodSeconds: 1,
  timeoutSeconds: 10,
  ...more,
})

const podOf = (name: string, container: object): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      nodeName: 'n1',
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 30,
      containers: [{ name: 'c', image: images.busybox, ...container }],
    },
  }) as Pod

test('probes decide when a container is started, ready and restarted', { skip, timeout: 120_000 }, async (t) => {
  const root = mkdtempSync(join(tmpdir(), 't8s-probes-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const cluster = await testCluster(t, { controllers: apiControllers })
  const client = clientFor(t, cluster)
  const nodeRuntime = await startNodeRuntime()
  t.after(() => nodeRuntime.stop())
  const logged: string[] = []
  const restart = () => startKubelet(cluster, nodeRuntime.endpoint, root, (line) => void logged.push(line))
  let kubelet = await restart()
  t.after(() => kubelet.stop())
  const statusOf = async (name: string) => (await client.get(pods, 'default', name)).status?.containerStatuses?.[0]
  type Status = Awaited<ReturnType<typeof statusOf>>
  const until = (name: string, what: string, condition: (status: Status) => boolean): Promise<Status> =>
    waitFor(`the container of ${name} is ${what}`, async () => {
      const status = await statusOf(name)
      return status && condition(status) ? status : undefined
    })
  const messages = async (name: string): Promise<readonly string[]> =>
    (await client.list(eventResource, { namespace: 'default' })).items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ reason, message }) => `${reason} ${message}`)

  await client.create(
    pods,
    podOf('slow', {
      command: shell('sleep 2; touch /tmp/started; sleep 2; touch /tmp/ready; sleep 1000'),
      startupProbe: fileProbe('/tmp/started', { failureThreshold: 60 }),
      readinessProbe: fileProbe('/tmp/ready'),
      livenessProbe: fileProbe('/tmp/started'),
    }),
  )
  await client.create(
    pods,
    podOf('broken', {
      command: shell('trap "exit 0" TERM; while true; do sleep 0.1; done'),
      livenessProbe: fileProbe('/missing', { failureThreshold: 2, terminationGracePeriodSeconds: 5 }),
    }),
  )
  const running = await until('slow', 'running', (status) => status?.state?.running !== undefined)
  assert.deepEqual([running?.started, running?.ready], [false, false])
  const started = await until('slow', 'started', (status) => status?.started === true)
  assert.equal(started?.ready, false)
  const ready = await until('slow', 'ready', (status) => status?.ready === true)
  assert.equal(ready?.restartCount, 0)

  await until('broken', 'restarted', (status) => (status?.restartCount ?? 0) > 0)
  const seen = await messages('broken')
  assert.ok(seen.includes('Unhealthy Liveness probe failed: '), seen.join('\n'))
  assert.ok(seen.includes('Killing Container c failed liveness probe, will be restarted'), seen.join('\n'))

  // A restart of the kubelet neither restarts a container nor makes it unready.
  await kubelet.stop()
  kubelet = await restart()
  for (let i = 0; i < 20; i++) {
    const status = await statusOf('slow')
    assert.deepEqual([status?.ready, status?.started, status?.restartCount], [true, true, 0])
    await delay(100)
  }
  assert.deepEqual(logged, [])
})
