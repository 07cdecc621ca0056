/** Plug-ins that set scheduling fields from other objects: priorities, runtime classes, nodes, namespaces. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../up/t8s-process.ts'
import { admissionCluster } from './pod-plugins-cluster.ts'

test('a pod gets the priority of its class, of the default class, or 0', async (t) => {
  const { call, namespace, pod, refused } = await admissionCluster(t)
  await namespace('n')
  const create = (name: string, more: object) =>
    call('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name }, ...more })
  const priority = async (spec: object) => {
    const { spec: made } = await pod('n', spec)
    return [made.priorityClassName, made.priority, made.preemptionPolicy]
  }
  assert.deepEqual(await priority({}), [undefined, 0, 'PreemptLowerPriority'])
  assert.deepEqual(await priority({ priorityClassName: 'system-node-critical' }), [
    'system-node-critical',
    2000001000,
    'PreemptLowerPriority',
  ])
  await create('high', { value: 1000, preemptionPolicy: 'Never' })
  assert.deepEqual(await priority({ priorityClassName: 'high', priority: 1000 }), ['high', 1000, 'Never'])
  await refused(
    pod('n', { priorityClassName: 'absent' }, { name: 'p' }),
    403,
    'pods "p" is forbidden: no PriorityClass with name absent was found',
  )
  await refused(
    pod('n', { priority: 5 }, { name: 'p' }),
    403,
    'pods "p" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority ' +
      'admission controller computed 0 from the given PriorityClass name',
  )
  await create('usual', { value: 7, globalDefault: true })
  assert.deepEqual(await priority({}), ['usual', 7, 'PreemptLowerPriority'])
  await refused(
    create('second', { value: 8, globalDefault: true }),
    403,
    'priorityclasses.scheduling.k8s.io "second" is forbidden: PriorityClass usual is already marked as default. ' +
      'Only one default can exist',
  )
  await call('DELETE', '/apis/scheduling.k8s.io/v1/priorityclasses/usual')
  await create('second', { value: 8, globalDefault: true })
  assert.deepEqual(await priority({}), ['second', 8, 'PreemptLowerPriority'])
})

test('a runtime class sets overhead and scheduling constraints', async (t) => {
  const { call, namespace, pod, refused } = await admissionCluster(t)
  await namespace('n')
  await call('POST', '/apis/node.k8s.io/v1/runtimeclasses', {
    metadata: { name: 'kata' },
    handler: 'kata',
    overhead: { podFixed: { cpu: '1' } },
    scheduling: { nodeSelector: { kata: 'yes' }, tolerations: [{ key: 'kata', operator: 'Exists' }] },
  })
  const { spec } = await pod('n', { runtimeClassName: 'kata', nodeSelector: { zone: 'a' }, overhead: { cpu: '1000m' } })
  assert.deepEqual([spec.overhead, spec.nodeSelector], [{ cpu: '1' }, { zone: 'a', kata: 'yes' }])
  assert.ok((spec.tolerations as { key: string }[]).some(({ key }) => key === 'kata'))
  const asking = (more: object) => pod('n', { runtimeClassName: 'kata', ...more }, { name: 'p' })
  await refused(
    asking({ runtimeClassName: 'absent' }),
    403,
    'pods "p" is forbidden: pod rejected: RuntimeClass "absent" not found',
  )
  await refused(
    asking({ overhead: { cpu: '2' } }),
    403,
    `pods "p" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead`,
  )
  await refused(
    asking({ nodeSelector: { kata: 'no' } }),
    403,
    'pods "p" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[kata] = yes; ' +
      'pod.spec.nodeSelector[kata] = no',
  )
})

test('binding a pod sets the zone and region labels of its node', async (t) => {
  const { call, namespace, pod } = await admissionCluster(t)
  await namespace('n')
  const labels = { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r', other: 'o' }
  await call('POST', '/api/v1/nodes', { metadata: { name: 'node', labels } })
  const shown = async (name: string) => (await call('GET', `/api/v1/namespaces/n/pods/${name}`)).metadata.labels
  const expected = { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' }
  const mine = { 'topology.kubernetes.io/zone': 'mine', own: 'mine' }
  await pod('n', {}, { name: 'bound', labels: mine })
  const binding = {
    metadata: { name: 'bound', labels: { 'topology.kubernetes.io/region': 'binder' } },
    target: { kind: 'Node', name: 'node' },
  }
  await call('POST', '/api/v1/namespaces/n/pods/bound/binding', binding)
  assert.deepEqual(await shown('bound'), { ...mine, ...expected })
  await pod('n', { nodeName: 'node' }, { name: 'placed', labels: mine })
  assert.deepEqual(await shown('placed'), { ...mine, ...expected })
})

test('PodNodeSelector and PodTolerationRestriction enforce the constraints of the namespace', async (t) => {
  const file = join(temporaryFolder(t), 'admission.json')
  const plugins = [
    {
      name: 'PodNodeSelector',
      configuration: { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'env=test', narrow: 'env=test' } },
    },
    {
      name: 'PodTolerationRestriction',
      configuration: {
        apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1',
        kind: 'Configuration',
        whitelist: [{ operator: 'Exists' }],
      },
    },
  ]
  writeFileSync(
    file,
    JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration', plugins }),
  )
  const { namespace, pod, refused } = await admissionCluster(
    t,
    `--admission-control-config-file=${file}`,
    '--enable-admission-plugins=PodNodeSelector,PodTolerationRestriction',
  )
  const toleration = { key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }
  await namespace('narrow')
  await namespace('n', {
    annotations: {
      'scheduler.alpha.kubernetes.io/node-selector': 'region=eu, tier=a',
      'scheduler.alpha.kubernetes.io/defaultTolerations': JSON.stringify([toleration]),
      'scheduler.alpha.kubernetes.io/tolerationsWhitelist': JSON.stringify([
        { operator: 'Exists', key: 'dedicated' },
        { operator: 'Exists', effect: 'NoExecute' },
      ]),
    },
  })
  const { spec } = await pod('n', { nodeSelector: { disk: 'ssd' } })
  assert.deepEqual(spec.nodeSelector, { region: 'eu', tier: 'a', disk: 'ssd' })
  assert.ok((spec.tolerations as { key: string }[]).some(({ key }) => key === 'dedicated'))
  await refused(
    pod('n', { nodeSelector: { region: 'us' } }, { name: 'p' }),
    403,
    'pods "p" is forbidden: pod node label selector conflicts with its namespace node label selector',
  )
  await refused(
    pod('narrow', { nodeSelector: { env: 'test', disk: 'ssd' } }, { name: 'p' }),
    403,
    'pods "p" is forbidden: pod node label selector labels conflict with its namespace whitelist',
  )
  await refused(
    pod('n', { tolerations: [{ key: 'other', operator: 'Exists', effect: 'NoSchedule' }] }),
    500,
    'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist',
  )
})

test('privileged pods are rejected with --allow-privileged=false', async (t) => {
  const { namespace, pod, refused } = await admissionCluster(t, '--allow-privileged=false')
  await namespace('n')
  await refused(
    pod('n', { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] }, { name: 'p' }),
    422,
    'Pod "p" is invalid: spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy',
  )
})
