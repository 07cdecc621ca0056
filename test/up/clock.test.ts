/** The clock of a cluster, moved by a program and by `t8s clock`, and what follows it. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { startTestCluster, type TestCluster } from '../../src/cluster/testkit/index.ts'

const run = promisify(execFile)
const t8s = join(import.meta.dirname, '../../t8s')
const folder = mkdtempSync(join(tmpdir(), 't8s-clock-'))
const kubeconfig = join(folder, 'kubeconfig')
let cluster: TestCluster

before(async () => {
  cluster = await startTestCluster({ nodes: 2, scheduler: true })
  cluster.writeKubeconfig(kubeconfig)
  await cluster.clock.pause()
})
after(async () => {
  await cluster.stop()
  rmSync(folder, { recursive: true })
})

const clock = async (...words: readonly string[]): Promise<string> =>
  (await run(t8s, ['clock', ...words, '--kubeconfig', kubeconfig])).stdout.trim()

interface Listed {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly creationTimestamp: string }
    readonly status: { readonly completionTime?: string; readonly conditions?: readonly Condition[] }
    readonly spec: { readonly renewTime: string }
  }[]
}
interface Condition {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime: string
}

test('a paused cluster still rolls out what needs no time', async () => {
  const paused = cluster.clock.now().getTime()
  await cluster.apply(`
    apiVersion: apps/v1
    kind: Deployment
    metadata: { name: web, namespace: default }
    spec:
      replicas: 2
      selector: { matchLabels: { app: web } }
      template: { metadata: { labels: { app: web } }, spec: { containers: [{ name: web, image: web }] } }`)
  const web = await cluster.waitFor('deployment/web', 'Available')
  assert.equal(cluster.clock.now().getTime(), paused)
  const seconds = (time: string | undefined): number => Date.parse(time ?? '') - Math.floor(paused / 1000) * 1000
  assert.equal(seconds(web?.metadata.creationTimestamp), 0, 'objects have the time of the cluster')
})

test('CronJobs, times to live and leases follow steps, and nodes stay ready', async () => {
  await cluster.apply(`
    apiVersion: batch/v1
    kind: CronJob
    metadata: { name: tick, namespace: default }
    spec:
      schedule: '*/10 * * * *'
      jobTemplate:
        spec:
          ttlSecondsAfterFinished: 120
          template: { spec: { restartPolicy: Never, containers: [{ name: tick, image: tick }] } }`)
  const start = cluster.clock.now().getTime()
  const tenMinutes = 600_000
  const next = Math.ceil(start / tenMinutes) * tenMinutes
  await cluster.clock.step(next - start + 1_000)
  const jobs = await cluster.api.read<Listed>('/apis/batch/v1/namespaces/default/jobs')
  assert.deepEqual(
    jobs.items.map(({ metadata }) => metadata.name),
    [`tick-${next / 60_000}`],
  )
  await cluster.clock.step('1m')
  await cluster.waitFor(`job/tick-${next / 60_000}`, 'Complete')
  await cluster.clock.step('3m')
  await cluster.waitFor(`job/tick-${next / 60_000}`, 'delete')
  const nodes = await cluster.api.read<Listed>('/api/v1/nodes')
  for (const { status } of nodes.items) {
    const ready = status.conditions?.find(({ type }) => type === 'Ready')
    assert.equal(ready?.status, 'True')
    assert.ok(Date.parse(ready.lastTransitionTime) <= start, 'a node was not ready in between')
  }
  const leases = await cluster.api.read<Listed>('/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases')
  for (const { spec } of leases.items)
    assert.ok(cluster.clock.now().getTime() - Date.parse(spec.renewTime) <= 40_000, spec.renewTime)
})

test('tokens end by the clock', async () => {
  const { status } = await cluster.api.request<{ readonly status: { readonly token: string } }>(
    'POST',
    '/api/v1/namespaces/default/serviceaccounts/default/token',
    { body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } } },
  )
  const review = async (): Promise<boolean | undefined> =>
    (
      await cluster.api.request<{ readonly status: { readonly authenticated?: boolean } }>(
        'POST',
        '/apis/authentication.k8s.io/v1/tokenreviews',
        { body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: status.token } } },
      )
    ).status.authenticated
  assert.equal(await review(), true)
  await cluster.clock.step('15m')
  assert.equal((await review()) ?? false, false)
})

test('t8s clock shows and moves it', async () => {
  const shown = cluster.clock.now().toISOString()
  assert.equal(await clock(), `${shown} (paused)`)
  const later = new Date(cluster.clock.now().getTime() + 90_000).toISOString()
  assert.equal(await clock('step', '1m30s'), `${later} (paused)`)
  assert.match(await clock('speed', '60'), /Z \(60 times as fast as the machine's clock\)$/)
  assert.match(await clock('resume'), /Z$/)
  await assert.rejects(clock('speed', '0'), /speed must be a number above 0 and up to 1000; pause stops the clock\./)
  await assert.rejects(clock('step', 'soon'), /Expected a duration, such as 90s or 1h30m\./)
})

test('bad steps and speeds are refused', async () => {
  await assert.rejects(cluster.clock.step('soon'), /a step of a clock is a duration such as 90s or 1h30m/)
  await assert.rejects(cluster.clock.step(-1), /a step of a clock/)
  await assert.rejects(cluster.clock.setSpeed(0), /the speed of a clock is above 0 and up to 1000, not 0/)
})
