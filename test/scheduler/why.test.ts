/** `t8s why pod` against a running cluster, for nodes and pods that kubectl created. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { judgePod } from '../../src/cli/why/pod.ts'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { apiControllers, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { repository } from '../up/t8s-process.ts'
import { scheduledPods } from './scheduled-pods.ts'

const started = testCluster({ after }, { controllers: apiControllers })
/** kubectl in the default namespace. */
const user = started.then(async ({ kubeconfigFile, folder }) => {
  await accountOf('default')
  return new Kubectl(installedKubectls()[0]!, kubeconfigFile, folder)
})

/** Waits for the service account without which pods cannot be created. */
const accountOf = (namespace: string) =>
  waitFor('the account', async () =>
    (await started).call('GET', `/api/v1/namespaces/${namespace}/serviceaccounts/default`),
  )

async function why(words: string) {
  const child = spawn(join(repository, 't8s'), ['why', 'pod', ...words.split(' ')], {
    env: { ...process.env, KUBECONFIG: (await started).kubeconfigFile },
  })
  child.stdin.end()
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: code as number, stdout, stderr }
}

const create = (kubectl: Kubectl, ...items: readonly object[]) =>
  kubectl.ok('create -f -', undefined, { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) })

const node = (name: string, cpu: string, labels: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels },
  status: {
    allocatable: { cpu, memory: '4Gi', pods: '10' },
    capacity: { cpu, memory: '4Gi', pods: '10' },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
})

const pod = (name: string, cpu: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'nginx', resources: { requests: { cpu } } }], ...spec },
})

test('t8s why pod shows for each node the rejections, remedies or scores', async () => {
  const kubectl = await user
  await create(kubectl, node('large', '4', { disk: 'hdd' }), node('small', '1'), node('away', '4'))
  for (const name of ['large', 'small', 'away'])
    await kubectl.ok(`taint nodes ${name} node.kubernetes.io/not-ready:NoSchedule-`)
  await kubectl.ok('cordon away')
  await create(kubectl, pod('busy', '3', { nodeName: 'large' }), pod('web', '2'), pod('tiny', '100m'))

  const waits = await why('web')
  assert.equal(waits.code, 1, waits.stderr)
  assert.match(
    waits.stdout,
    /^pod default\/web is pending: 0\/3 nodes are available: 1 node\(s\) were unschedulable, 2 Insufficient cpu\.\n/,
  )
  for (const line of [
    'large\n    NodeResourcesFit: Insufficient cpu\n      needs 1 more CPU: 1 of 4 is free (requested: 2)\n',
    'small\n    NodeResourcesFit: Insufficient cpu\n      needs 1 more CPU: 1 of 1 is free (requested: 2)\n',
  ])
    assert.ok(waits.stdout.includes(`\n  ${line}`), waits.stdout)
  assert.match(
    waits.stdout,
    /NodeUnschedulable: node\(s\) were unschedulable\n {6}the node is cordoned: kubectl uncordon away/,
  )
  assert.match(waits.stdout, /TaintToleration: node\(s\) had untolerated taint\(s\)|NodeUnschedulable/)

  // The pod fits after the advised change.
  await kubectl.ok('uncordon away')
  const fits = await why('web -n default')
  assert.equal(fits.code, 0)
  assert.match(fits.stdout, /^pod default\/web would be scheduled to node away\n/)
  assert.match(
    fits.stdout,
    /It fits on 1 of 3 nodes, .*:\n {2}away: \d+ = .*TaintToleration 100×3.*NodeResourcesFit \d+/,
  )

  const placed = await why('busy')
  assert.equal(placed.code, 0)
  assert.match(
    placed.stdout,
    /^pod default\/busy is on node large\n {2}below is where it would be scheduled now, if it had no node\n/,
  )
  assert.match(placed.stdout, /It fits on 2 of 3 nodes/)

  const isReady = {
    type: 'Ready',
    status: 'False',
    reason: 'KubeletNotReady',
    message: 'RuntimeIsDown',
    lastTransitionTime: '2026-01-01T12:00:00Z',
  }
  await kubectl.ok(`patch node large --subresource=status -p ${JSON.stringify({ status: { conditions: [isReady] } })}`)
  await kubectl.ok('taint nodes large example.com/broken:NoExecute')
  const stuck = await why('busy')
  for (const line of [
    /^pod default\/busy is on node large\n {2}the node large is not ready: Ready is False since \S+ /,
    / \(KubeletNotReady: RuntimeIsDown\)\n {2}its taints: .*example\.com\/broken:NoExecute\n/,
    /\n {2}the pod does not tolerate example\.com\/broken: it is evicted immediately\n/,
    /\n {2}next: run kubectl describe node large/,
  ])
    assert.match(stuck.stdout, line)
  assert.equal(JSON.parse((await why('busy -o json')).stdout).nodeTrouble.ready.reason, 'KubeletNotReady')
  await kubectl.ok('taint nodes large example.com/broken:NoExecute-')

  const all = JSON.parse((await why('tiny -o json')).stdout) as {
    nodes: { name: string; fits: boolean; total: number; scores: { plugin: string; weight: number }[] }[]
  }
  assert.deepEqual(all.nodes.map(({ name, fits: isFit }) => [name, isFit]).sort(), [
    ['away', true],
    ['large', true],
    ['small', true],
  ])
  assert.deepEqual(
    all.nodes.map(({ total }) => total),
    all.nodes.map(({ total }) => total).sort((a, b) => b - a),
  )
  assert.equal(all.nodes[0]?.scores.find(({ plugin }) => plugin === 'TaintToleration')?.weight, 3)
})

test('t8s why pod explains gates, claims, other schedulers, and missing pods', async () => {
  const kubectl = await user
  const { kubeconfigFile, folder } = await started
  await kubectl.ok('create namespace shop')
  await accountOf('shop')
  const shop = new Kubectl(kubectl.program, kubeconfigFile, folder, 'shop')
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    spec: { storageClassName: '', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }
  await create(
    shop,
    pod('gated', '1', { schedulingGates: [{ name: 'example.com/quota' }] }),
    pod('other', '1', { schedulerName: 'mine' }),
    pod('claims', '1', { volumes }),
    pod('lost', '1', { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'none' } }] }),
    claim,
  )

  const gated = await why('gated -n shop')
  assert.equal(gated.code, 1)
  assert.match(
    gated.stdout,
    /^pod shop\/gated is not queued for scheduling: waiting for scheduling gates: \[example\.com\/quota\]\n/,
  )
  const [, command = ''] = /\n {2}kubectl (patch pod .*)\n/.exec(gated.stdout) ?? []
  await kubectl.ok(command)
  assert.doesNotMatch((await why('gated -n shop')).stdout, /gates/)

  assert.match((await why('other -n shop')).stdout, /its scheduler mine may decide differently/)

  const claims = await why('claims -n shop')
  assert.equal(claims.code, 1)
  assert.match(
    claims.stdout,
    new RegExp(
      'VolumeBinding rejects it on every node: pod has unbound immediate ' +
        'PersistentVolumeClaims\\n.*kubectl describe pvc -n shop data',
    ),
  )
  assert.match((await why('lost -n shop')).stdout, /persistentvolumeclaim "none" not found/)

  const missing = await why('nobody -n shop')
  assert.deepEqual([missing.code, missing.stdout], [1, ''])
  assert.match(missing.stderr, /^t8s: there is no pod shop\/nobody: it was deleted or never existed/)
})

test('t8s why pod --config uses the profile of the pod in a KubeSchedulerConfiguration', async () => {
  const kubectl = await user
  const file = join((await started).folder, 'scheduler.yaml')
  await writeFile(
    file,
    `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: mine
  pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{key: disk, operator: In, values: [ssd]}]
`,
  )
  await create(kubectl, node('first', '1'), pod('mine', '100m', { schedulerName: 'mine' }))
  const explained = await why(`mine --config ${file}`)
  assert.equal(explained.code, 1, explained.stderr)
  assert.match(
    explained.stdout,
    /^pod default\/mine is pending: .* node\(s\) didn't match scheduler-enforced node affinity/,
  )
  assert.doesNotMatch(explained.stdout, /may decide differently/)
  assert.match((await why('mine --config /nowhere.yaml')).stderr, /^t8s: \/nowhere\.yaml: no such file or directory/)
})

test('the message of t8s why pod is that of the scheduler', async (t) => {
  const pods = await scheduledPods(t)
  await pods.node('large', { labels: { zone: 'x' } })
  await pods.node('small', { allocatable: { cpu: '1' }, taints: [{ key: 'a', value: 'b', effect: 'NoSchedule' }] })
  const anti = {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: 'zone', labelSelector: { matchLabels: { name: 'first' } } },
    ],
  }
  await pods.create('first', { nodeSelector: { zone: 'x' } })
  await pods.nodeOf('first')
  await pods.create('cpu', {}, { cpu: '5' })
  await pods.create('label', { nodeSelector: { zone: 'y' } })
  await pods.create('far', { affinity: { podAntiAffinity: anti } })
  for (const name of ['cpu', 'label', 'far']) {
    const message = await pods.unschedulableMessage(name)
    const { verdict } = await judgePod({ name, kubeconfig: pods.cluster.kubeconfigFile })
    assert.ok(verdict.message !== '' && message.startsWith(verdict.message), `${verdict.message} of ${message}`)
  }
})
