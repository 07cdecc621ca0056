/** Controllers with simulated nodes: the autoscaler with usage from annotations, and Jobs that end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deployments, horizontalPodAutoscalers, jobs } from '../../src/client/kinds.ts'
import { waitFor } from '../../src/client/objects/wait-for.ts'
import { clientFor } from '../support/client-for.ts'
import { testCluster } from '../support/test-cluster.ts'

test('a HorizontalPodAutoscaler scales by annotated usage, and Jobs complete', async (t) => {
  const client = clientFor(
    t,
    await testCluster(t, { nodes: 1, controllerFlags: { 'horizontal-pod-autoscaler-sync-period': '500ms' } }),
  )
  const labels = { app: 'web' }
  const containers = [{ name: 'web', image: 'i:1', resources: { requests: { cpu: '100m' } } }]
  await client.create(deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations: { 'simulation.typernetes.io/cpu': '200m' } }, spec: { containers } },
    },
  })
  await client.create(horizontalPodAutoscalers, {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 1,
      maxReplicas: 3,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      ],
    },
  })
  await client.create(jobs, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'once', namespace: 'default' },
    spec: {
      completions: 2,
      template: {
        metadata: { annotations: { 'simulation.typernetes.io/run-for': '100ms' } },
        spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i:1' }] },
      },
    },
  })
  const done = await waitFor(
    client,
    jobs,
    { namespace: 'default', name: 'once' },
    (job) => job?.status?.succeeded === 2 && job.status.completionTime !== undefined,
  )
  assert.equal(done?.status?.failed, undefined)
  const scaled = await waitFor(
    client,
    deployments,
    { namespace: 'default', name: 'web' },
    (one) => one?.status?.readyReplicas === 3,
    { timeoutMs: 120_000 },
  )
  assert.equal(scaled?.spec?.replicas, 3)
})
