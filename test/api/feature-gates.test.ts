/** `--feature-gates`: fields of disabled features are not stored, and enabled features take effect. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { apiControllers, type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

const defaultCluster = testCluster({ after }, { controllers: apiControllers })
const gates = [
  ...['MaxUnavailableStatefulSet', 'ContainerStopSignals', 'HPAScaleToZero', 'UserNamespacesHostNetworkSupport'].map(
    (gate) => `${gate}=true`,
  ),
  ...[
    'HPAConfigurableTolerance',
    'DeploymentReplicaSetTerminatingReplicas',
    'WatchList',
    'RelaxedServiceNameValidation',
  ].map((gate) => `${gate}=false`),
].join(',')
const gatedCluster = testCluster({ after }, { apiServerFlags: [`--feature-gates=${gates}`], nodes: 1 })

const sets = '/apis/apps/v1/namespaces/default/statefulsets'
const merge = 'application/merge-patch+json'
const labels = { app: 'web' }
const lifecycle = { stopSignal: 'SIGUSR1' }
const aSet = (name: string, maxUnavailable?: number | string) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name },
  spec: {
    replicas: 3,
    podManagementPolicy: 'Parallel',
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { os: { name: 'linux' }, containers: [{ name: 'c', image: 'app:1', lifecycle }] },
    },
    updateStrategy: {
      type: 'RollingUpdate',
      rollingUpdate: { ...(maxUnavailable !== undefined && { maxUnavailable }) },
    },
  },
})

interface StoredSet {
  readonly spec: {
    readonly updateStrategy: { readonly rollingUpdate: object }
    readonly template: { readonly spec: { readonly containers: readonly { readonly lifecycle?: object }[] } }
  }
}

const create = async (cluster: TestCluster, set: object): Promise<StoredSet> =>
  (await cluster.call('POST', sets, set)) as unknown as StoredSet
const strategyOf = ({ spec }: StoredSet): object => spec.updateStrategy.rollingUpdate
const lifecycleOf = ({ spec }: StoredSet): object | undefined => spec.template.spec.containers[0]?.lifecycle

test('fields of disabled features are removed before validation', async () => {
  const cluster = await defaultCluster
  const stored = await create(cluster, aSet('a', 0))
  assert.deepEqual(strategyOf(stored), { partition: 0 })
  assert.equal(lifecycleOf(stored), undefined)
  const patched = await cluster.call(
    'PATCH',
    `${sets}/a`,
    { spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 'nonsense' } } } },
    merge,
  )
  assert.deepEqual(strategyOf(patched as unknown as StoredSet), { partition: 0 })
})

test('fields of an enabled feature are stored, defaulted and validated', async () => {
  const cluster = await gatedCluster
  assert.deepEqual(strategyOf(await create(cluster, aSet('default'))), { partition: 0, maxUnavailable: 1 })
  const stored = await create(cluster, aSet('given', '50%'))
  assert.deepEqual(strategyOf(stored), { partition: 0, maxUnavailable: '50%' })
  assert.deepEqual(lifecycleOf(stored), lifecycle)
  await assert.rejects(create(cluster, aSet('wrong', 0)), /maxUnavailable: Invalid value: 0: cannot be 0/)
})

test('fields of a feature that was disabled are removed', async () => {
  const path = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers'
  const scaler = (name: string) => ({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name },
    spec: {
      maxReplicas: 2,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      behavior: { scaleUp: { tolerance: '0.1' } },
    },
  })
  const toleranceIn = async (cluster: TestCluster): Promise<unknown> => {
    const { spec } = (await cluster.call('POST', path, scaler('a'))) as {
      spec?: { behavior?: { scaleUp?: { tolerance?: string } } }
    }
    return spec?.behavior?.scaleUp?.tolerance
  }
  assert.equal(await toleranceIn(await defaultCluster), '100m')
  assert.equal(await toleranceIn(await gatedCluster), undefined)
})

test('a rolling update with maxUnavailable completes, terminating pods are counted only if enabled', async () => {
  const { call } = await gatedCluster
  await create(await gatedCluster, aSet('rolled', '100%'))
  interface Status {
    readonly readyReplicas?: number
    readonly updatedReplicas?: number
    readonly currentRevision?: string
    readonly updateRevision?: string
  }
  const status = async (): Promise<Status> =>
    ((await call('GET', `${sets}/rolled`)) as { status?: Status }).status ?? {}
  await waitFor('all pods', async () => (await status()).readyReplicas === 3)
  const watched = await call('GET', '/api/v1/namespaces/default/pods')
  const before = new Set(
    (watched.items as { metadata: { name: string; uid: string } }[]).map(({ metadata }) => metadata.uid),
  )
  await call('PATCH', `${sets}/rolled`, { spec: { template: { metadata: { annotations: { v: '2' } } } } }, merge)
  await waitFor(
    'the update',
    async () => (await status()).updatedReplicas === 3 && (await status()).readyReplicas === 3,
  )
  const pods = (await call('GET', '/api/v1/namespaces/default/pods')).items as {
    metadata: { name: string; uid: string }
  }[]
  assert.equal(pods.filter(({ metadata }) => metadata.name.startsWith('rolled-') && before.has(metadata.uid)).length, 0)

  const replicaSets = '/apis/apps/v1/namespaces/default/replicasets'
  const { template } = aSet('x').spec
  await call('POST', replicaSets, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'r' },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  })
  const replicaSetStatus = async () =>
    ((await call('GET', `${replicaSets}/r`)) as { status?: { readyReplicas?: number } }).status
  await waitFor('its pod', async () => (await replicaSetStatus())?.readyReplicas === 1)
  assert.equal('terminatingReplicas' in ((await replicaSetStatus()) ?? {}), false)
})

test('validation depends on feature gates', async () => {
  const scaler = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'zero' },
    spec: {
      minReplicas: 0,
      maxReplicas: 2,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      metrics: [{ type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value', value: '1' } } }],
    },
  }
  const path = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers'
  await assert.rejects(
    (await defaultCluster).call('POST', path, scaler),
    /minReplicas: Invalid value: 0: must be greater than or equal to 1/,
  )
  await (await gatedCluster).call('POST', path, scaler)

  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: '1st' }, spec: { ports: [{ port: 80 }] } }
  await (await defaultCluster).call('POST', '/api/v1/namespaces/default/services', service)
  await assert.rejects(
    (await gatedCluster).call('POST', '/api/v1/namespaces/default/services', service),
    /a DNS-1035 label must consist of/,
  )

  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { hostUsers: false, hostNetwork: true, containers: [{ name: 'c', image: 'a:1' }] },
  }
  await assert.rejects(
    (await defaultCluster).call('POST', '/api/v1/namespaces/default/pods', pod),
    /when `hostUsers` is false/,
  )
  await (await gatedCluster).call('POST', '/api/v1/namespaces/default/pods?dryRun=All', pod)

  const watch =
    '/api/v1/namespaces?watch=1&timeoutSeconds=1&sendInitialEvents=true&' +
    'resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
  assert.match(await (await defaultCluster).text(watch), /initial-events-end/)
  await assert.rejects(
    (await gatedCluster).text(watch),
    /sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled/,
  )
})
