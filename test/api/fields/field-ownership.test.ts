/** Field ownership of objects with several versions, or with fields that the server changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiControllers, testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

const apply = 'application/apply-patch+yaml'
const scalers = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`
const scaler = (version: string, spec: object) => ({
  apiVersion: `autoscaling/${version}`,
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web' },
  spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 5, ...spec },
})
const cpu = (averageUtilization: number) => ({
  metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }],
})

test('fields owned in one version conflict with applies in another, and updates take them over', async (t) => {
  const cluster = await testCluster(t)
  const owners = async () => {
    const { metadata } = (await cluster.call('GET', `${scalers('v2')}/web`)) as unknown as {
      metadata: { managedFields: { manager: string; apiVersion: string; fieldsV1: { 'f:spec'?: object } }[] }
    }
    return Object.fromEntries(
      metadata.managedFields.map(({ manager, apiVersion, fieldsV1 }) => [
        `${manager} ${apiVersion}`,
        Object.keys(fieldsV1['f:spec'] ?? {}),
      ]),
    )
  }
  await cluster.call(
    'PATCH',
    `${scalers('v1')}/web?fieldManager=one`,
    scaler('v1', { targetCPUUtilizationPercentage: 50 }),
    apply,
  )
  const two = (percent: number, query = '') =>
    cluster.call('PATCH', `${scalers('v2')}/web?fieldManager=two${query}`, scaler('v2', cpu(percent)), apply)
  // An equal value in another form is no conflict.
  await two(50)
  await assert.rejects(
    two(60),
    /: 409 .*Apply failed with 1 conflict: conflict with \\"one\\": \.spec\.targetCPUUtilizationPercentage/,
  )
  await two(60, '&force=true')
  assert.deepEqual(await owners(), {
    'one autoscaling/v1': ['f:maxReplicas', 'f:scaleTargetRef'],
    'two autoscaling/v2': ['f:maxReplicas', 'f:metrics', 'f:scaleTargetRef'],
  })
  await cluster.call(
    'PATCH',
    `${scalers('v1')}/web?fieldManager=three`,
    { spec: { targetCPUUtilizationPercentage: 70 } },
    'application/merge-patch+json',
  )
  assert.deepEqual(await owners(), {
    'one autoscaling/v1': ['f:maxReplicas', 'f:scaleTargetRef'],
    'two autoscaling/v2': ['f:maxReplicas', 'f:scaleTargetRef'],
    'three autoscaling/v1': ['f:targetCPUUtilizationPercentage'],
  })
})

test('the creator of a DaemonSet owns its template generation', async (t) => {
  const cluster = await testCluster(t)
  const created = (await cluster.call('POST', '/apis/apps/v1/namespaces/default/daemonsets', {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'one' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  })) as unknown as { metadata: { annotations: object; managedFields: { fieldsV1: { 'f:metadata': object } }[] } }
  const note = 'deprecated.daemonset.template.generation'
  assert.deepEqual(created.metadata.annotations, { [note]: '1' })
  assert.deepEqual(created.metadata.managedFields[0]?.fieldsV1['f:metadata'], {
    'f:annotations': { '.': {}, [`f:${note}`]: {} },
  })
})

test('a client that sends an empty required list owns it, although the response has null', async (t) => {
  const cluster = await testCluster(t)
  const made = async (resource: string, body: object) =>
    (await cluster.call('POST', resource, { metadata: { name: 'one' }, ...body })) as unknown as {
      metadata: { managedFields?: { fieldsV1: object }[] }
      rules?: unknown
      spec?: { limits?: unknown }
    }
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
  const role = await made(roles, { rules: [] })
  assert.deepEqual([role.rules, role.metadata.managedFields?.[0]?.fieldsV1], [null, { 'f:rules': {} }])
  const bare = await made(roles, { metadata: { name: 'two' } })
  assert.deepEqual([bare.rules, bare.metadata.managedFields], [null, undefined])
  const range = await made('/api/v1/namespaces/default/limitranges', { spec: { limits: [] } })
  assert.deepEqual(
    [range.spec?.limits, range.metadata.managedFields?.[0]?.fieldsV1],
    [null, { 'f:spec': { 'f:limits': {} } }],
  )
  // The stored object equals the response.
  assert.equal(((await cluster.call('GET', `${roles}/one`)) as typeof role).rules, null)
})

test('a status write cannot change labels of Deployments, owners of pods, metadata of attachments', async (t) => {
  const cluster = await testCluster(t, { controllers: apiControllers })
  const merge = 'application/merge-patch+json'
  const apps = '/apis/apps/v1/namespaces/default/deployments'
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const spec = { replicas: 0, selector: { matchLabels: { a: 'b' } }, template }
  await cluster.call('POST', apps, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', labels: { a: 'b' } },
    spec,
  })
  const change = { labels: { a: 'c', d: 'e' }, annotations: { note: 'changed' } }
  const deployment = await cluster.call('PATCH', `${apps}/web/status?fieldManager=tester`, { metadata: change }, merge)
  assert.deepEqual(deployment.metadata.labels, { a: 'b' })
  assert.equal((deployment.metadata.annotations as Record<string, string>).note, 'changed')
  const owned = (deployment.metadata.managedFields as { manager: string; fieldsV1: object }[]).find(
    ({ manager }) => manager === 'tester',
  )
  assert.deepEqual(owned?.fieldsV1, { 'f:metadata': { 'f:annotations': { '.': {}, 'f:note': {} } } })

  await waitFor('the account', () => cluster.call('GET', '/api/v1/namespaces/default/serviceaccounts/default'))
  await cluster.call('POST', '/api/v1/namespaces/default/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: template.spec,
  })
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: '7b1f' }]
  const pod = await cluster.call(
    'PATCH',
    '/api/v1/namespaces/default/pods/web/status',
    { metadata: { ...change, ownerReferences } },
    merge,
  )
  assert.deepEqual([pod.metadata.ownerReferences, pod.metadata.labels], [undefined, change.labels])

  const attachments = '/apis/storage.k8s.io/v1/volumeattachments'
  await cluster.call('POST', attachments, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: 'one' },
    spec: { attacher: 'a.example.com', nodeName: 'n', source: { persistentVolumeName: 'p' } },
  })
  const { metadata, status } = await cluster.call(
    'PATCH',
    `${attachments}/one/status`,
    { metadata: { ...change, finalizers: ['example.com/f'] }, status: { attached: true } },
    merge,
  )
  assert.deepEqual(
    [metadata.labels, metadata.annotations, metadata.finalizers, status],
    [undefined, undefined, undefined, { attached: true }],
  )
})
