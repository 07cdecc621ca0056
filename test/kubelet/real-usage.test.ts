/** Usage of real containers: kubectl top and the autoscaler, beside simulated nodes. Needs root. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, stop, temporaryFolder, up } from '../up/t8s-process.ts'
import { inNamespaces } from './support/in-namespaces.ts'
import { type NodeRuntime, startNodeRuntime } from './support/runtimes/node-runtime.ts'
import { cgroupRootOf } from './support/runtimes/runtime-process.ts'
import { images } from './support/runtimes/test-images.ts'

const realNode = hostname().trim().toLowerCase()
const patient = { deadlineMs: 120_000 }
const labels = { app: 'busy' }

const podSpec = (nodeType: string, command: string) => ({
  nodeSelector: { 't8s.dev/node-type': nodeType },
  terminationGracePeriodSeconds: 1,
  containers: [
    {
      name: 'loop',
      image: images.busybox,
      command: ['sh', '-c', command],
      resources: { requests: { cpu: '50m' }, limits: { cpu: '200m' } },
    },
  ],
})

/** A Deployment that is always busy, its autoscaler, and a simulated pod. */
const objects = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'busy' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec('real', 'while :; do :; done') },
    },
  },
  {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'busy' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'busy' },
      minReplicas: 1,
      maxReplicas: 2,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      ],
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'shadow', annotations: { 'simulation.typernetes.io/cpu': '5' } },
    spec: podSpec('simulated', 'sleep 1000'),
  },
]

await inNamespaces(import.meta.filename, () => {
  let nodeRuntime: NodeRuntime
  before(async () => {
    nodeRuntime = await startNodeRuntime()
  })
  test.after(() => nodeRuntime.stop())

  test('kubectl top shows real and simulated nodes, and an autoscaler scales by real usage', async (t) => {
    const folder = temporaryFolder(t)
    const configuration = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }
    const cgroupRoot = cgroupRootOf(nodeRuntime.endpoint)
    writeFileSync(join(folder, 'kubelet.json'), JSON.stringify({ ...configuration, cgroupRoot }))
    const cluster = await up(t, [
      '--node-type=real',
      '--nodes=1',
      '--secure-port=0',
      `--container-runtime-endpoint=${nodeRuntime.endpoint}`,
      `--data-dir=${folder}`,
      `--kubelet-config=${join(folder, 'kubelet.json')}`,
      '--horizontal-pod-autoscaler-sync-period=2s',
    ])
    const run = (...args: readonly string[]) => kubectl(cluster.kubeconfig, ...args)
    const prints = (pattern: RegExp, ...args: readonly string[]) =>
      waitFor(
        `kubectl ${args.join(' ')} prints ${pattern}`,
        () => {
          const { code, stdout } = run(...args)
          return code === 0 && pattern.test(stdout)
        },
        patient,
      )
    await waitFor('the default service account', () => run('get', 'serviceaccount', 'default').code === 0, patient)
    writeFileSync(join(folder, 'objects.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
    const applied = run('apply', '-f', join(folder, 'objects.json'))
    assert.equal(applied.code, 0, applied.stderr)

    await prints(new RegExp(`^${realNode} +\\d+m .*\\d+Mi `, 'm'), 'top', 'node')
    await prints(/^node-1 +5050m /m, 'top', 'node')
    // Its limit is 200m.
    await prints(/^default +busy-\S+ +loop +(1[5-9]\d|2[0-4]\d)m +\d+Mi *$/m, 'top', 'pod', '--containers', '-A')
    await prints(/^shadow +5000m .*\nbusy-/m, 'top', 'pod', '--sort-by=cpu')
    await prints(/^\S+ +\d+m +\d+Mi *\n/, 'top', 'pod', '--selector=app=busy', '--no-headers')
    const ready = 'jsonpath={.status.readyReplicas}'
    await prints(/^2$/, 'get', 'deployment', 'busy', '-o', ready)
    assert.match(
      run('describe', 'hpa', 'busy').stdout,
      /SuccessfulRescale .*New size: 2; reason: cpu resource utilization/,
    )
    run('delete', '-f', join(folder, 'objects.json'))
    await prints(/^$/, 'get', 'pods', '-o', 'name')
    await stop(cluster)
  })
})
