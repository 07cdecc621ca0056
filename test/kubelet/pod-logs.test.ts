/** Logs, termination messages and usage of pods through the API, with a container runtime. Needs root. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Pod, pods } from '../../src/client/kinds.ts'
import { clientFor } from '../support/client-for.ts'
import { apiControllers, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { startNodeRuntime } from './support/runtimes/node-runtime.ts'
import { images } from './support/runtimes/test-images.ts'
import { startKubelet } from './support/start-kubelet.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root'

const podOf = (name: string, script: string, container: object = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      nodeName: 'n1',
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'c', image: images.busybox, command: ['sh', '-c', script], ...container }],
    },
  }) as Pod

test('logs, messages and usage of pods reach clients of the API', { skip, timeout: 120_000 }, async (t) => {
  const root = mkdtempSync(join(tmpdir(), 't8s-pod-logs-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const cluster = await testCluster(t, { controllers: apiControllers })
  const client = clientFor(t, cluster)
  const nodeRuntime = await startNodeRuntime()
  t.after(() => nodeRuntime.stop())
  const kubelet = await startKubelet(cluster, nodeRuntime.endpoint, root, () => {})
  t.after(() => kubelet.stop())
  const ended = (name: string) =>
    waitFor(`the container of ${name} has ended`, async () => {
      const [status] = (await client.get(pods, 'default', name)).status?.containerStatuses ?? []
      return status?.state?.terminated
    })
  const fallback = { terminationMessagePolicy: 'FallbackToLogsOnError' }
  await client.create(pods, podOf('failing', 'echo one; sleep 1; echo two >&2; exit 3', fallback))
  await client.create(pods, podOf('speaking', 'echo -n "all done" > /dev/termination-log; echo out'))
  await client.create(pods, podOf('running', 'while true; do echo line; sleep 0.2; done'))

  assert.deepEqual([(await ended('failing')).message, (await ended('failing')).exitCode], ['one\ntwo\n', 3])
  assert.equal((await ended('speaking')).message, 'all done')
  const log = (name: string, query = ''): Promise<string> =>
    cluster.text(`/api/v1/namespaces/default/pods/${name}/log${query}`)
  assert.equal(await log('failing'), 'one\ntwo\n')
  assert.equal(await log('failing', '?tailLines=1'), 'two\n')
  assert.match(await log('speaking', '?timestamps=true'), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}\S+ out\n$/)

  const proxy = (path: string): Promise<string> => cluster.text(`/api/v1/nodes/n1/proxy${path}`)
  const summary = await waitFor('usage of the running pod', async () => {
    const { pods: all } = JSON.parse(await proxy('/stats/summary')) as {
      pods: { podRef: { name: string }; memory?: { workingSetBytes: number } }[]
    }
    return all.find(({ podRef, memory }) => podRef.name === 'running' && memory)
  })
  assert.ok(summary.memory!.workingSetBytes > 0)
  assert.match(await proxy('/metrics/cadvisor'), /container_memory_working_set_bytes\{container="c",.*pod="running"\}/)
  assert.equal(await proxy('/healthz'), 'ok')

  const links = join(root, 'containers')
  const name = await waitFor('a link to the log', () =>
    readdirSync(links).find((one) => one.startsWith('running_default_c-')),
  )
  assert.match(readFileSync(join(links, name), 'utf8'), /^\S+ stdout F line\n/)
})
