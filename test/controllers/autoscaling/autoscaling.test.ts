/** Autoscalers against metrics APIs: replicas and status follow the metrics. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Connection } from '../../../src/client/connection/connection.ts'
import { runController } from '../../../src/client/controller/controller.ts'
import { SharedInformers } from '../../../src/client/informers/shared-informers.ts'
import { RestClient } from '../../../src/client/rest/rest-client.ts'
import { autoscalerController } from '../../../src/controllers/autoscaling/autoscaler-controller.ts'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { type Lifetime, type TestCluster, testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { metricsServer } from './metrics-server.ts'

const core = '/api/v1/namespaces/default'
const apps = '/apis/apps/v1/namespaces/default'
const scalers = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers'
const merge = 'application/merge-patch+json'

interface Status {
  readonly currentReplicas?: number
  readonly desiredReplicas: number
  readonly currentMetrics?: readonly Readonly<Record<string, unknown>>[]
  readonly conditions?: readonly {
    readonly type: string
    readonly status: string
    readonly reason: string
    readonly message: string
  }[]
}

/** A cluster whose autoscalers are reconciled ten times a second, as the administrator. */
async function quickCluster(t: Lifetime): Promise<TestCluster> {
  // Stopped before the server, so that no event remains to be recorded.
  let stop = async (): Promise<void> => {}
  t.after(() => stop())
  const cluster = await testCluster(t, { controllers: ['serviceaccount-controller'] })
  const connection = new Connection(cluster.client)
  const client = new RestClient(connection)
  const log = (line: string): void => assert.fail(line)
  const informers = new SharedInformers(client, log)
  const controller = autoscalerController({
    concurrency: 5,
    periodMs: 100,
    downscaleMs: 0,
    tolerance: 0.1,
    initializationMs: 300_000,
    readinessDelayMs: 30_000,
    now: Date.now,
  })
  const running = runController(controller, { informers, client }, log)
  stop = async () => {
    await Promise.all([informers.stop(), running.stop()])
    connection.close()
  }
  await waitFor('the account of pods', () => cluster.call('GET', `${core}/serviceaccounts/default`))
  return cluster
}

/** A Deployment with pods that have been ready for an hour; no controller creates more. */
async function deployment(cluster: TestCluster, name: string, replicas: number): Promise<void> {
  const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }]
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers } }
  await cluster.call('POST', `${apps}/deployments`, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template },
  })
  await cluster.call('PATCH', `${apps}/deployments/${name}/status`, { status: { replicas } }, merge)
  const ago = new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+/, '')
  for (let i = 0; i < replicas; i++) {
    await cluster.call('POST', `${core}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `${name}-${i}`, labels },
      spec: { nodeName: 'n', containers },
    })
    const status = {
      phase: 'Running',
      startTime: ago,
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: ago }],
    }
    await cluster.call('PATCH', `${core}/pods/${name}-${i}/status`, { status }, merge)
  }
}

const autoscaler = (name: string, spec: object) => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
    minReplicas: 1,
    maxReplicas: 20,
    ...spec,
  },
})

const statusOf = async (cluster: TestCluster, name: string): Promise<Status> =>
  (await cluster.call('GET', `${scalers}/${name}`)).status as Status

const replicasOf = async (cluster: TestCluster, name: string): Promise<number | undefined> =>
  ((await cluster.call('GET', `${apps}/deployments/${name}`)).spec as { replicas?: number }).replicas

const conditionOf = ({ conditions = [] }: Status, type: string) => {
  const { status, reason, message } = conditions.find((condition) => condition.type === type) ?? {}
  return [status, reason, message]
}

const eventsOf = async (cluster: TestCluster, name: string): Promise<string[]> => {
  const { items } = await cluster.call(
    'GET',
    `${core}/events?fieldSelector=involvedObject.kind%3DHorizontalPodAutoscaler,involvedObject.name%3D${name}`,
  )
  return (items as { reason: string; message: string }[]).map(({ reason, message }) => `${reason}: ${message}`)
}

const settles = (cluster: TestCluster, name: string, replicas: number): Promise<unknown> =>
  waitFor(`${replicas} replicas of ${name}`, async () => {
    const found = await replicasOf(cluster, name)
    if (found !== replicas) throw new Error(`there are ${found}; ${JSON.stringify(await statusOf(cluster, name))}`)
    return true
  })

test('CPU above the target scales up, CPU below it scales down', async (t) => {
  const cluster = await quickCluster(t)
  const { measured, requests } = await metricsServer(t, cluster)
  await deployment(cluster, 'web', 2)
  measured.pods = ['web-0', 'web-1'].map((name) => ({ name, containers: { c: { cpu: '90m' } } }))
  const target = { type: 'Utilization', averageUtilization: 60 }
  await cluster.call(
    'POST',
    scalers,
    autoscaler('web', { metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }] }),
  )
  await settles(cluster, 'web', 3)
  const name = 'cpu resource utilization (percentage of request)'
  await waitFor('the event', async () =>
    (await eventsOf(cluster, 'web')).includes(`SuccessfulRescale: New size: 3; reason: ${name} above target`),
  )
  assert.match(requests[0] ?? '', /labelSelector=app=web$/)
  const status = await waitFor('the status', async () => {
    const found = await statusOf(cluster, 'web')
    return found.currentReplicas === 3 && found
  })
  assert.deepEqual(status.currentMetrics, [
    { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 90, averageValue: '90m' } } },
  ])
  assert.deepEqual(conditionOf(status, 'ScalingActive'), [
    'True',
    'ValidMetricFound',
    `the HPA was able to successfully calculate a replica count from ${name}`,
  ])
  assert.deepEqual(conditionOf(status, 'ScalingLimited'), [
    'False',
    'DesiredWithinRange',
    'the desired count is within the acceptable range',
  ])
  measured.pods = ['web-0', 'web-1'].map((pod) => ({ name: pod, containers: { c: { cpu: '10m' } } }))
  await settles(cluster, 'web', 1)
  await waitFor('the event', async () =>
    (await eventsOf(cluster, 'web')).includes('SuccessfulRescale: New size: 1; reason: All metrics below target'),
  )
})

test('container, pod, object and external metrics: the largest proposal counts', async (t) => {
  const cluster = await quickCluster(t)
  const { measured, requests } = await metricsServer(t, cluster)
  await deployment(cluster, 'web', 2)
  measured.pods = ['web-0', 'web-1'].map((name) => ({
    name,
    containers: { c: { memory: '100Mi' }, side: { memory: '900Mi' } },
  }))
  measured.custom = { 'pods/*/packets': { 'web-0': '1k', 'web-1': '2k' }, 'services/web/requests': { web: '6k' } }
  measured.external = { queue: ['30', '60'] }
  const selector = { matchLabels: { name: 'jobs' } }
  await cluster.call(
    'POST',
    scalers,
    autoscaler('web', {
      metrics: [
        {
          type: 'ContainerResource',
          containerResource: {
            name: 'memory',
            container: 'c',
            target: { type: 'AverageValue', averageValue: '100Mi' },
          },
        },
        { type: 'Pods', pods: { metric: { name: 'packets' }, target: { type: 'AverageValue', averageValue: '1k' } } },
        {
          type: 'Object',
          object: {
            metric: { name: 'requests' },
            describedObject: { apiVersion: 'v1', kind: 'Service', name: 'web' },
            target: { type: 'Value', value: '3k' },
          },
        },
        {
          type: 'External',
          external: { metric: { name: 'queue', selector }, target: { type: 'AverageValue', averageValue: '30' } },
        },
      ],
    }),
  )
  await settles(cluster, 'web', 4)
  const status = await waitFor('the status', async () => {
    const found = await statusOf(cluster, 'web')
    return found.currentReplicas === 4 && found
  })
  assert.deepEqual(status.currentMetrics, [
    {
      type: 'ContainerResource',
      containerResource: { name: 'memory', container: 'c', current: { averageValue: '100Mi' } },
    },
    { type: 'Pods', pods: { metric: { name: 'packets' }, current: { averageValue: '1500' } } },
    {
      type: 'Object',
      object: {
        metric: { name: 'requests' },
        describedObject: { apiVersion: 'v1', kind: 'Service', name: 'web' },
        current: { value: '6k' },
      },
    },
    { type: 'External', external: { metric: { name: 'queue', selector }, current: { averageValue: '45' } } },
  ])
  assert.ok(
    requests.some(
      (path) => path.includes('/external.metrics.k8s.io/') && path.endsWith('queue?labelSelector=name=jobs'),
    ),
  )
})

test('an unreadable metric is reported and prevents only scale-downs', async (t) => {
  const cluster = await quickCluster(t)
  const { measured } = await metricsServer(t, cluster)
  await deployment(cluster, 'web', 2)
  const external = (name: string) => ({
    type: 'External',
    external: { metric: { name }, target: { type: 'Value', value: '10' } },
  })
  measured.external = { queue: ['1'] }
  await cluster.call('POST', scalers, autoscaler('web', { metrics: [external('missing'), external('queue')] }))
  const refused = await waitFor('the condition', async () => {
    const status = await statusOf(cluster, 'web')
    return status.conditions?.some(({ reason }) => reason === 'FailedGetExternalMetric') && status
  })
  assert.match(
    String(conditionOf(refused, 'ScalingActive')[2]),
    /^the HPA was unable to compute the replica count: unable to get external metric default\/missing\/nil: /,
  )
  assert.equal(await replicasOf(cluster, 'web'), 2)
  await waitFor('the event', async () =>
    (await eventsOf(cluster, 'web')).some((event) =>
      event.startsWith(
        'FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 2), first error is: failed to get ' +
          'missing external metric value: ',
      ),
    ),
  )
  measured.external = { queue: ['30'] }
  await settles(cluster, 'web', 4)
})

test('without metrics APIs the messages are those of upstream', async (t) => {
  const cluster = await quickCluster(t)
  await deployment(cluster, 'web', 1)
  await cluster.call('POST', scalers, autoscaler('web', {}))
  const status = await waitFor('the condition', async () => {
    const found = await statusOf(cluster, 'web')
    return found.conditions?.some(({ type }) => type === 'ScalingActive') && found
  })
  const message =
    'the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for ' +
    'resource cpu: unable to fetch metrics from resource metrics API: the server could not find the requested ' +
    'resource (get pods.metrics.k8s.io)'
  assert.deepEqual(conditionOf(status, 'ScalingActive'), ['False', 'FailedGetResourceMetric', message])
})

test('any kind with a scale is scaled, and two autoscalers of one workload are reported', async (t) => {
  const cluster = await quickCluster(t)
  const { measured } = await metricsServer(t, cluster)
  measured.external = { queue: ['30'] }
  const names = { plural: 'farms', singular: 'farm', kind: 'Farm', listKind: 'FarmList' }
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const scale = {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  }
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: open },
    subresources: { status: {}, scale },
  }
  await cluster.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'farms.example.com' },
    spec: { group: 'example.com', names, scope: 'Namespaced', versions: [version] },
  })
  const path = '/apis/example.com/v1/namespaces/default/farms'
  const farm = { apiVersion: 'example.com/v1', kind: 'Farm', metadata: { name: 'f' }, spec: { replicas: 1 } }
  await waitFor('the resource', () => cluster.call('POST', path, farm))
  await cluster.call('PATCH', `${path}/f/status`, { status: { replicas: 1, selector: 'farm=f' } }, merge)
  const target = { apiVersion: 'example.com/v1', kind: 'Farm', name: 'f' }
  const metrics = [
    { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '10' } } },
  ]
  await cluster.call('POST', scalers, autoscaler('one', { scaleTargetRef: target, metrics }))
  await waitFor(
    'three farms',
    async () => ((await cluster.call('GET', `${path}/f`)).spec as { replicas: number }).replicas === 3,
  )
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', labels: { farm: 'f' } },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  }
  await cluster.call('POST', `${core}/pods`, pod)
  await cluster.call('POST', scalers, autoscaler('two', { scaleTargetRef: target, metrics }))
  for (const name of ['one', 'two']) {
    const status = await waitFor('the condition', async () => {
      const found = await statusOf(cluster, name)
      return found.conditions?.some(({ reason }) => reason === 'AmbiguousSelector') && found
    })
    assert.equal(
      conditionOf(status, 'ScalingActive')[2],
      'pods by selector farm=f are controlled by multiple HPAs: [default/one default/two]',
    )
  }
})

test('the controller works with its own account, and every kubectl creates and shows autoscalers', async (t) => {
  const cluster = await testCluster(t, {
    controllers: ['serviceaccount-controller', 'horizontal-pod-autoscaler-controller'],
  })
  const programs = installedKubectls()
  await Promise.all(
    programs.map(async (program) => {
      const name = `web-${program.minor}`
      await deployment(cluster, name, 0)
      const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
      await kubectl.ok(`scale deployment ${name} --replicas=1`)
      await kubectl.ok(`autoscale deployment ${name} --min=3 --max=5 --cpu-percent=80`)
      await waitFor('three replicas', async () => (await replicasOf(cluster, name)) === 3, { deadlineMs: 40_000 })
      assert.match(
        await kubectl.ok(`get hpa ${name} --no-headers`),
        new RegExp(`^${name} +Deployment/${name} +(cpu: )?<unknown>/80% +3 +5 +`),
      )
      await waitFor('the event', async () => (await eventsOf(cluster, name)).length > 0)
      const described = await kubectl.ok(`describe hpa ${name}`)
      assert.match(
        described,
        /AbleToScale +True +SucceededRescale +the HPA controller was able to update the target scale to 3/,
      )
      assert.match(
        described,
        /SuccessfulRescale .* New size: 3; reason: Current number of replicas below Spec\.MinReplicas/,
      )
    }),
  )
})
