/** Metrics of a controller manager after real work. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { test } from 'node:test'
import {
  deployments,
  endpoints,
  horizontalPodAutoscalers,
  jobs,
  nodes,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  serviceAccounts,
  services,
  statefulSets,
} from '../../src/client/kinds.ts'
import { waitFor as reached } from '../../src/client/objects/wait-for.ts'
import type { RestClient } from '../../src/client/rest/rest-client.ts'
import { clientFor } from '../support/client-for.ts'
import { type Lifetime, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

const namespace = 'default'
const containers = [{ name: 'c', image: 'i' }]
const template = { metadata: { labels: { app: 'a' } }, spec: { containers } }
const selector = { matchLabels: { app: 'a' } }
const batch = { apiVersion: 'batch/v1', kind: 'Job' } as const
const apps = 'apps/v1'
const v1 = 'v1'

/**
 * A cluster whose controllers serve metrics; `metric` reads the value of a series by its name and labels.
 */
async function meteredCluster(t: Lifetime) {
  const lines: string[] = []
  const cluster = await testCluster(t, {
    controllerManagerPort: 0,
    controllerFlags: { 'horizontal-pod-autoscaler-sync-period': '200ms' },
    log: (line) => lines.push(line),
  })
  const port = await waitFor(
    'the port',
    () => /controllers serve health and metrics on 127.0.0.1:(\d+)/.exec(lines.join('\n'))?.[1],
  )
  const { cert, key } = cluster.client
  const client = clientFor(t, cluster)
  await reached(client, serviceAccounts, { namespace, name: 'default' }, Boolean)
  const page = async (): Promise<string> => {
    const sent = request(`https://127.0.0.1:${port}/metrics`, {
      cert,
      key,
      agent: false,
      rejectUnauthorized: false,
    }).end()
    const [response]: IncomingMessage[] = await once(sent, 'response')
    return Buffer.concat(await response!.toArray()).toString()
  }
  const metric = async (series: string): Promise<number | undefined> => {
    const line = (await page()).split('\n').find((text) => text.startsWith(`${series} `))
    return line === undefined ? undefined : Number(line.slice(series.length + 1))
  }
  const becomes = (series: string, value: number) =>
    waitFor(`${series} ${value}`, async () => (await metric(series)) === value).catch(async (error) => {
      const [name = ''] = series.split('{')
      throw new Error(
        `${error.message}; ${(await page())
          .split('\n')
          .filter((line) => line.startsWith(name))
          .join('\n')}`,
      )
    })
  return { client, page, metric, becomes }
}

const podOf = async (client: RestClient, job: string): Promise<Pod> =>
  waitFor(
    `a pod of ${job}`,
    async () => (await client.list(pods, { namespace, labelSelector: `batch.kubernetes.io/job-name=${job}` })).items[0],
  )

const ends = (
  client: RestClient,
  { metadata: { name = '' } }: Pod,
  phase: 'Succeeded' | 'Failed',
  status: object = {},
) => client.patch(pods, namespace, name, { status: { phase, ...status } }, 'merge', 'status')

test('Jobs and their pods are counted once by result', async (t) => {
  const { client, metric, becomes } = await meteredCluster(t)
  const create = (name: string, spec: object) =>
    client.create(jobs, {
      ...batch,
      metadata: { namespace, name },
      spec: { template: { spec: { restartPolicy: 'Never', containers } }, ...spec },
    })
  await create('good', { ttlSecondsAfterFinished: 0 })
  await ends(client, await podOf(client, 'good'), 'Succeeded')
  await becomes(
    'job_controller_jobs_finished_total{completion_mode="NonIndexed",result="succeeded",reason="CompletionsReached"}',
    1,
  )
  await becomes('job_controller_job_pods_finished_total{completion_mode="NonIndexed",result="succeeded"}', 1)
  await becomes('job_controller_job_pods_creation_total{reason="new",status="succeeded"}', 1)
  await becomes('job_controller_terminated_pods_tracking_finalizer_total{event="add"}', 1)
  await becomes('job_controller_terminated_pods_tracking_finalizer_total{event="delete"}', 1)
  await becomes('ttl_after_finished_controller_job_deletion_duration_seconds_count', 1)

  const rules = [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }]
  await create('bad', { podFailurePolicy: { rules } })
  const state = {
    terminated: {
      exitCode: 42,
      reason: 'Error',
      startedAt: '2026-01-01T00:00:00Z',
      finishedAt: '2026-01-01T00:00:01Z',
    },
  }
  const containerStatuses = [{ name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0, state }]
  await ends(client, await podOf(client, 'bad'), 'Failed', { containerStatuses })
  await becomes(
    'job_controller_jobs_finished_total{completion_mode="NonIndexed",result="failed",reason="PodFailurePolicy"}',
    1,
  )
  await becomes('job_controller_pod_failures_handled_by_failure_policy_total{action="FailJob"}', 1)
  await becomes('job_controller_job_pods_finished_total{completion_mode="NonIndexed",result="failed"}', 1)

  await create('each', { completionMode: 'Indexed', completions: 1 })
  await ends(client, await podOf(client, 'each'), 'Succeeded')
  await becomes('job_controller_job_finished_indexes_total{status="succeeded",backoffLimit="global"}', 1)
  await create('theirs', { managedBy: 'example.com/other' })
  await becomes('job_controller_jobs_by_external_controller_total{controller_name="example.com/other"}', 1)

  const made = '{completion_mode="NonIndexed",result="success",action="pods_created"}'
  assert.equal(await metric(`job_controller_job_syncs_total${made}`), 2)
  assert.equal(await metric(`job_controller_job_sync_duration_seconds_count${made}`), 2)
  assert.ok(((await metric('workqueue_adds_total{name="job"}')) ?? 0) > 3)
})

test('metrics of slices, nodes, evictions, sets, volumes and requests', async (t) => {
  const { client, page, metric, becomes } = await meteredCluster(t)
  const node = (name: string, taints: { key: string; effect: string }[]) =>
    client.create(nodes, {
      apiVersion: v1,
      kind: 'Node',
      metadata: { name, labels: { 'topology.kubernetes.io/zone': 'z' } },
      spec: { taints },
    })
  const pod = (name: string, spec: object = {}) =>
    client.create(pods, {
      apiVersion: v1,
      kind: 'Pod',
      metadata: { namespace, name, labels: { app: 'web' } },
      spec: { containers, ...spec },
    })

  const conditions = [{ type: 'Ready', status: 'True' }]
  await node('steady', [])
  await client.patch(nodes, '', 'steady', { status: { conditions } }, 'merge', 'status')
  await becomes('node_collector_zone_size{zone=":\0:z"}', 1)
  await becomes('node_collector_zone_health{zone=":\0:z"}', 100)

  const port = { port: 80, protocol: 'TCP' }
  await client.create(services, {
    apiVersion: v1,
    kind: 'Service',
    metadata: { namespace, name: 'web' },
    spec: { selector: { app: 'web' }, ports: [port], trafficDistribution: 'PreferSameZone' },
  })
  await pod('web', { nodeName: 'steady' })
  await client.patch(
    pods,
    namespace,
    'web',
    { status: { phase: 'Running', podIP: '10.1.2.3', podIPs: [{ ip: '10.1.2.3' }], conditions } },
    'merge',
    'status',
  )
  await becomes('endpoint_slice_controller_endpoints_desired', 1)
  await becomes('endpoint_slice_controller_num_endpoint_slices', 1)
  await becomes('endpoint_slice_controller_desired_endpoint_slices', 1)
  await becomes(
    'endpoint_slice_controller_services_count_by_traffic_distribution{traffic_distribution="PreferSameZone"}',
    1,
  )
  await becomes('endpoint_slice_controller_changes{operation="create"}', 1)
  assert.equal(await metric('endpoint_slice_controller_endpoints_added_per_sync_sum'), 1)
  await client.delete(services, namespace, 'web')
  await becomes('endpoint_slice_controller_num_endpoint_slices', 0)

  const metadata = { namespace, name: 'mirrored' }
  await client.create(services, { apiVersion: v1, kind: 'Service', metadata, spec: { ports: [port] } })
  await client.create(endpoints, {
    apiVersion: v1,
    kind: 'Endpoints',
    metadata,
    subsets: [{ addresses: [{ ip: '10.9.9.9' }], ports: [port] }],
  })
  await becomes('endpoint_slice_mirroring_controller_changes{operation="create"}', 1)
  await becomes('endpoint_slice_mirroring_controller_endpoints_desired', 1)

  await node('hostile', [{ key: 'example.com/go', effect: 'NoExecute' }])
  await pod('driven', { nodeName: 'hostile' })
  await becomes('taint_eviction_controller_pod_deletions_total', 1)
  await becomes('taint_eviction_controller_pod_deletion_duration_seconds_count', 1)
  const outOfService = { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }
  await client.patch(nodes, '', 'hostile', { spec: { taints: [outOfService] } }, 'merge')
  await becomes('pod_gc_collector_force_delete_pods_total{namespace="default",reason="out-of-service"}', 1)

  await client.create(statefulSets, {
    apiVersion: apps,
    kind: 'StatefulSet',
    metadata: { namespace, name: 's' },
    spec: { replicas: 3, selector, template, serviceName: 's' },
  })
  const set = '{statefulset_namespace="default",statefulset_name="s",pod_management_policy="OrderedReady"}'
  await becomes(`statefulset_controller_statefulset_unavailable_replicas${set}`, 3)
  await becomes(`statefulset_controller_statefulset_max_unavailable${set}`, 1)

  const storage = { storageClassName: 'slow', accessModes: ['ReadWriteOnce'] }
  const claim = { ...storage, resources: { requests: { storage: '1Gi' } } }
  await client.create(persistentVolumeClaims, {
    apiVersion: v1,
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name: 'c' },
    spec: claim,
  })
  const counted = '{namespace="default",storage_class="slow",volume_attributes_class=""}'
  await becomes(`pv_collector_unbound_pvc_count${counted}`, 1)
  await client.create(persistentVolumes, {
    apiVersion: v1,
    kind: 'PersistentVolume',
    metadata: { name: 'v' },
    spec: { ...storage, capacity: { storage: '1Gi' }, hostPath: { path: '/tmp/v' } },
  })
  await becomes(`pv_collector_bound_pvc_count${counted}`, 1)
  await becomes('pv_collector_bound_pv_count{storage_class="slow"}', 1)
  await becomes('pv_collector_total_pv_count{plugin_name="kubernetes.io/host-path",volume_mode="Filesystem"}', 1)

  await client.create(deployments, {
    apiVersion: apps,
    kind: 'Deployment',
    metadata: { namespace, name: 'd' },
    spec: { replicas: 3, selector, template },
  })
  const scaleTargetRef = { apiVersion: apps, kind: 'Deployment', name: 'd' }
  await client.create(horizontalPodAutoscalers, {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { namespace, name: 'd' },
    spec: { scaleTargetRef, maxReplicas: 2 },
  })
  await becomes('horizontal_pod_autoscaler_controller_reconciliations_total{action="scale_down",error="none"}', 1)
  await becomes('horizontal_pod_autoscaler_controller_desired_replicas{namespace="default",hpa_name="d"}', 2)
  assert.equal(await metric('horizontal_pod_autoscaler_controller_num_horizontal_pod_autoscalers'), 1)

  const text = await page()
  assert.match(text, /^rest_client_requests_total\{code="201",method="POST",host="127\.0\.0\.1:\d+"\} [1-9]/m)
  assert.match(text, /^rest_client_request_duration_seconds_count\{verb="GET",host="127\.0\.0\.1:\d+"\} [1-9]/m)
  assert.match(text, /^root_ca_cert_publisher_sync_total\{code="200"\} [1-9]/m)
  assert.match(text, /^garbagecollector_controller_resources_sync_error_total 0$/m)
  // Every series occurs once.
  const names = text.split('\n').filter((line) => line.startsWith('# TYPE'))
  assert.equal(new Set(names).size, names.length)
})
