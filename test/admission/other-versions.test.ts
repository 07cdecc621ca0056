/**
 * Rules match objects in any version of the request. Webhooks and policies receive them in the version that they name.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { conversionWebhook, define, widgetsPath } from '../conversion/webhook.ts'
import { widget } from '../conversion/widgets.ts'
import { testCluster } from '../support/test-cluster.ts'
import { enforce } from './policies/policy.ts'
import { admissionWebhooks, configure, hook, refusal, rule } from './webhooks/webhook.ts'

const scalers = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers'
const target = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 3 }
const rules = [
  rule({
    apiGroups: ['autoscaling'],
    apiVersions: ['v1'],
    operations: ['CREATE'],
    resources: ['horizontalpodautoscalers'],
  }),
]

test('a webhook with a rule for another version gets converted objects, and its patch is converted back', async (t) => {
  const [cluster, webhooks] = await Promise.all([testCluster(t), admissionWebhooks(t)])
  await configure(cluster, 'Mutating', 'm', [
    hook(webhooks, '/equivalent', { rules, objectSelector: {} }),
    hook(webhooks, '/exact', { rules, objectSelector: {}, matchPolicy: 'Exact' }),
  ])
  await webhooks.behave('/equivalent', {
    patch: [{ op: 'add', path: '/spec/targetCPUUtilizationPercentage', value: 42 }],
  })
  const made = await cluster.call('POST', scalers, {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'h' },
    spec: target,
  })
  const { metrics } = made.spec as { metrics: unknown }
  assert.deepEqual(metrics, [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 42 } } },
  ])
  const asked = await webhooks.asked()
  assert.deepEqual(
    asked.map(({ path }) => path),
    ['/equivalent'],
  )
  const { kind, resource, requestKind, requestResource, object } = asked[0]!.review.request
  const names = { group: 'autoscaling', version: 'v1' }
  assert.deepEqual(
    [kind, resource],
    [
      { ...names, kind: 'HorizontalPodAutoscaler' },
      { ...names, resource: 'horizontalpodautoscalers' },
    ],
  )
  const requested = { group: 'autoscaling', version: 'v2' }
  assert.deepEqual(
    [requestKind, requestResource],
    [
      { ...requested, kind: 'HorizontalPodAutoscaler' },
      { ...requested, resource: 'horizontalpodautoscalers' },
    ],
  )
  assert.equal((object as { apiVersion: string }).apiVersion, 'autoscaling/v1')
})

test('custom resources are converted by their conversion webhook', async (t) => {
  const [cluster, webhooks, conversion] = await Promise.all([
    testCluster(t),
    admissionWebhooks(t),
    conversionWebhook(t),
  ])
  await define(cluster, { clientConfig: conversion.clientConfig })
  const widgets = [
    rule({ apiGroups: ['shop.example.com'], apiVersions: ['v2'], operations: ['CREATE'], resources: ['widgets'] }),
  ]
  await configure(cluster, 'Mutating', 'm', [hook(webhooks, '/widgets', { rules: widgets, objectSelector: {} })])
  await webhooks.behave('/widgets', { patch: [{ op: 'replace', path: '/spec/port', value: 7 }] })
  const made = await cluster.call('POST', widgetsPath('v1'), widget('v1', 'a', { hostPort: 'a:1' }))
  assert.deepEqual(made.spec, { hostPort: 'a:7' })
  const [asked] = await webhooks.asked()
  assert.deepEqual((asked!.review.request.object as { spec: unknown }).spec, { host: 'a', port: 1 })
  // An object that cannot be converted is rejected.
  await conversion.setBehavior('failure')
  assert.match(
    (await refusal(cluster.call('POST', widgetsPath('v1'), widget('v1', 'b', { hostPort: 'b:1' })))).message,
    /not today/,
  )
})

test('a policy with a rule for another version gets converted objects', async (t) => {
  const cluster = await testCluster(t)
  await enforce(cluster, 'p', {
    matchConstraints: { resourceRules: rules },
    validations: [
      {
        expression: '!has(object.spec.targetCPUUtilizationPercentage)',
        messageExpression: "object.apiVersion + ' for ' + request.requestKind.version",
      },
    ],
  })
  const { message } = await refusal(
    cluster.call('POST', scalers, {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h' },
      spec: target,
    }),
  )
  assert.match(message, /denied request: autoscaling\/v1 for v2$/)
})
