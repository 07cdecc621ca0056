/** Audit annotations of webhooks and policies. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { auditedCluster } from '../audit/audited-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { constraints, enforce } from './policies/policy.ts'
import { admissionWebhooks, configMap, configMaps, configure, hook } from './webhooks/webhook.ts'

test('audit events have annotations of webhook calls, patches and policy failures', async (t) => {
  const [cluster, webhooks] = await Promise.all([
    auditedCluster(t, '[{level: RequestResponse, omitStages: [RequestReceived]}]'),
    admissionWebhooks(t),
  ])
  const label = { objectSelector: { matchLabels: { hook: 'audited' } } }
  await configure(cluster, 'Mutating', 'm', [
    hook(webhooks, '/changes', label),
    hook(webhooks, '/fails', { ...label, failurePolicy: 'Ignore' }),
  ])
  await configure(cluster, 'Validating', 'v', [
    hook(webhooks, '/says', label),
    hook(webhooks, '/fails', { ...label, failurePolicy: 'Ignore' }),
  ])
  const patch = [{ op: 'add', path: '/data', value: { a: 'b' } }]
  await webhooks.behave('/changes', { patch })
  await webhooks.behave('/fails', { manner: 'status 500' })
  await webhooks.behave('/says', { response: { auditAnnotations: { mood: 'good', 'no key': 'x', 'a/b': 'x' } } })
  await enforce(
    cluster,
    'p',
    {
      matchConstraints: constraints(label),
      validations: [{ expression: 'false', message: 'never' }],
      auditAnnotations: [
        { key: 'name', valueExpression: "'is ' + object.metadata.name" },
        { key: 'none', valueExpression: 'null' },
      ],
    },
    { validationActions: ['Audit'] },
  )
  await cluster.call('POST', configMaps, configMap('a', 'audited'))
  const event = await waitFor('the event is there', () =>
    cluster.events().find(({ objectRef, verb }) => objectRef?.name === 'a' && verb === 'create'),
  )
  const { annotations = {} } = event
  const found = Object.fromEntries(
    Object.entries(annotations).filter(([key]) => !key.startsWith('authorization.k8s.io/')),
  )
  const mutation = (webhook: string, more: object) => JSON.stringify({ configuration: 'm', webhook, ...more })
  assert.deepEqual(found, {
    'mutation.webhook.admission.k8s.io/round_0_index_0': mutation('changes.example.com', { mutated: true }),
    'patch.webhook.admission.k8s.io/round_0_index_0': mutation('changes.example.com', {
      patch,
      patchType: 'JSONPatch',
    }),
    'mutation.webhook.admission.k8s.io/round_0_index_1': mutation('fails.example.com', { mutated: false }),
    'failed-open.mutation.webhook.admission.k8s.io/round_0_index_1': 'fails.example.com',
    'says.example.com/mood': 'good',
    'failed-open.validating.webhook.admission.k8s.io/round_0_index_1': 'fails.example.com',
    'p/name': 'is a',
    'validation.policy.admission.k8s.io/validation_failure': JSON.stringify([
      { message: 'never', policy: 'p', binding: 'p', expressionIndex: 0, validationActions: ['Audit'] },
    ]),
  })
})

test('an event without objects has no patch annotations', async (t) => {
  const [cluster, webhooks] = await Promise.all([
    auditedCluster(t, '[{level: Metadata, omitStages: [RequestReceived]}]'),
    admissionWebhooks(t),
  ])
  await configure(cluster, 'Mutating', 'm', [hook(webhooks, '/changes')])
  await webhooks.behave('/changes', { patch: [{ op: 'add', path: '/data', value: { a: 'b' } }] })
  await cluster.call('POST', configMaps, configMap('a', 'changes'))
  const event = await waitFor('the event is there', () =>
    cluster.events().find(({ objectRef, verb }) => objectRef?.name === 'a' && verb === 'create'),
  )
  assert.deepEqual(
    Object.keys(event.annotations ?? {}).filter((key) => key.endsWith('webhook.admission.k8s.io/round_0_index_0')),
    ['mutation.webhook.admission.k8s.io/round_0_index_0'],
  )
})
