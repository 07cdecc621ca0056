/** The end of pods before their node shuts down, with our API server, a container runtime and logind. Needs root. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { events as eventResource, nodes, type Pod, pods } from '../../src/client/kinds.ts'
import { clientFor } from '../support/client-for.ts'
import { apiControllers, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { logindProblem, startLogind } from './support/logind.ts'
import { countRunning, startNodeRuntime } from './support/runtimes/node-runtime.ts'
import { images } from './support/runtimes/test-images.ts'
import { startKubelet } from './support/start-kubelet.ts'

const skip = process.getuid?.() === 0 ? logindProblem() : 'needs root'

const podOf = (name: string, script: string, spec: object = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      nodeName: 'n1',
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: images.busybox, command: ['sh', '-c', script] }],
      ...spec,
    },
  }) as Pod

const obedient = "trap 'exit 0' TERM; while true; do sleep 0.1; done"
const stubborn = "trap '' TERM; while true; do sleep 0.1; done"

test('pods end before their node shuts down', { skip, timeout: 240_000 }, async (t) => {
  const root = mkdtempSync(join(tmpdir(), 't8s-shutdown-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const logind = await startLogind(t)
  const cluster = await testCluster(t, { controllers: apiControllers })
  const client = clientFor(t, cluster)
  const nodeRuntime = await startNodeRuntime()
  t.after(() => nodeRuntime.stop())
  const logged: string[] = []
  const configuration = { shutdownGracePeriod: '4s', shutdownGracePeriodCriticalPods: '2s' }
  const kubelet = await startKubelet(cluster, nodeRuntime.endpoint, root, (line) => void logged.push(line), {
    configuration,
  })
  t.after(() => kubelet.stop())
  const until = (name: string, phase: string): Promise<Pod> =>
    waitFor(`${name} is ${phase}`, async () => {
      const pod = await client.get(pods, 'default', name)
      return pod.status?.phase === phase ? pod : undefined
    })
  const readyCondition = async () =>
    (await client.get(nodes, '', 'n1')).status?.conditions?.find(({ type }) => type === 'Ready')
  const isLocked = async (): Promise<boolean> =>
    (await logind.locks()).includes('"shutdown" "kubelet" "Kubelet needs time to handle node shutdown" "delay"')
  const events = async (name: string): Promise<readonly string[]> =>
    (await client.list(eventResource, { namespace: 'default' })).items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ reason, message }) => `${reason} ${message}`)

  assert.equal(await isLocked(), true)
  await client.create(pods, podOf('usual', obedient))
  await client.create(pods, podOf('stubborn', stubborn, { terminationGracePeriodSeconds: 600 }))
  await client.create(pods, podOf('critical', obedient, { priorityClassName: 'system-node-critical' }))
  for (const name of ['usual', 'stubborn', 'critical']) await until(name, 'Running')

  await t.test('usual pods end first, critical ones last; all fail with the reason', async () => {
    await logind.announce(true)
    const ended = []
    for (const name of ['usual', 'stubborn', 'critical']) ended.push((await until(name, 'Failed')).status)
    for (const status of ended) {
      assert.equal(status?.reason, 'Terminated')
      assert.equal(status?.message, 'Pod was terminated in response to imminent node shutdown.')
      const disruption = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
      assert.deepEqual([disruption?.status, disruption?.reason], ['True', 'TerminationByKubelet'])
    }
    const [first, last] = [ended[0], ended[2]].map((status) =>
      Date.parse(String(status?.containerStatuses?.[0]?.state?.terminated?.finishedAt)),
    )
    assert.ok(first! <= last!)
  })

  await t.test('the lock is released when the pods have ended', async () => {
    await waitFor('the lock is released', async () => !(await isLocked()))
  })

  await t.test('the node is not ready, and rejects new pods', async () => {
    const ready = await waitFor('the node is not ready', async () => {
      const condition = await readyCondition()
      return condition?.status === 'False' && condition
    })
    assert.deepEqual([ready.reason, ready.message], ['KubeletNotReady', 'node is shutting down'])
    await client.create(pods, podOf('late', obedient))
    const { status } = await until('late', 'Failed')
    assert.deepEqual(
      [status?.reason, status?.message],
      ['NodeShutdown', 'Pod was rejected: Pod was rejected as the node is shutting down.'],
    )
    await waitFor('the event is written', async () =>
      (await events('n1')).includes('NodeShutdown Shutdown manager detected shutdown event'),
    )
  })

  await t.test('a cancelled shutdown makes the node ready, and locks the next one', async () => {
    await logind.announce(false)
    await waitFor('the node is ready', async () => (await readyCondition())?.status === 'True')
    await waitFor('the lock is taken', isLocked)
    await client.create(pods, podOf('later', obedient))
    await until('later', 'Running')
  })

  await t.test('the end of the kubelet is no shutdown: containers continue', async () => {
    await kubelet.stop()
    await waitFor('the lock is released', async () => !(await isLocked()))
    const { status } = await client.get(pods, 'default', 'later')
    assert.equal(status?.phase, 'Running')
    assert.equal(await countRunning(nodeRuntime), 2)
  })
})
