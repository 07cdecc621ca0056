/**
 * Tests of the conformance suite for configurations of admission webhooks (`test/e2e/apimachinery/webhook.go`):
 * changed, listed, deleted, with conditions.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configure, group, hook, refusal } from '../../../admission/webhooks/webhook.ts'
import { waitFor } from '../../../support/wait-for.ts'
import { adding, denied, label, webhookClients } from '../../support/webhooks.ts'

const { clients, api, webhooks } = webhookClients()

const attempt = (path: string, name: string) =>
  clients().core.createNamespacedConfigMap({
    namespace: 'default',
    body: { metadata: { name, ...label(path) }, data: { start: 'yes' } },
  })

test('AdmissionWebhook patching/updating a validating webhook should work', async () => {
  const { cluster } = clients()
  await webhooks().behave('/updated', denied('no'))
  await configure(cluster, 'Validating', 'updated', [hook(webhooks(), '/updated')])
  await assert.rejects(attempt('/updated', 'updated-1'), /denied the request/)
  const read = await api().readValidatingWebhookConfiguration({ name: 'updated' })
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['configmaps'] }]
  await api().replaceValidatingWebhookConfiguration({
    name: 'updated',
    body: { ...read, webhooks: read.webhooks?.map((one) => ({ ...one, rules })) },
  })
  await waitFor('creations to pass', () => attempt('/updated', 'updated-2').then(() => true))
  const body = [{ op: 'replace', path: '/webhooks/0/rules/0/operations', value: ['CREATE'] }]
  await cluster.call(
    'PATCH',
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/updated',
    JSON.stringify(body),
    'application/json-patch+json',
  )
  await assert.rejects(attempt('/updated', 'updated-3'), /denied the request/)
})

test('AdmissionWebhook patching/updating a mutating webhook should work', async () => {
  const { cluster } = clients()
  await webhooks().behave('/changed', adding('stage'))
  await configure(cluster, 'Mutating', 'changed', [hook(webhooks(), '/changed')])
  const stage = async (name: string) => (await attempt('/changed', name)).data?.stage
  assert.equal(await stage('changed-1'), 'yes')
  const read = await api().readMutatingWebhookConfiguration({ name: 'changed' })
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['configmaps'] }]
  await api().replaceMutatingWebhookConfiguration({
    name: 'changed',
    body: { ...read, webhooks: read.webhooks?.map((one) => ({ ...one, rules })) },
  })
  let count = 0
  await waitFor('creations to stay as they are', async () => (await stage(`changed-2-${count++}`)) === undefined)
  const body = [{ op: 'replace', path: '/webhooks/0/rules/0/operations', value: ['CREATE'] }]
  await cluster.call(
    'PATCH',
    '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/changed',
    JSON.stringify(body),
    'application/json-patch+json',
  )
  await waitFor('creations to be changed', async () => (await stage(`changed-3-${count++}`)) === 'yes')
})

test('AdmissionWebhook listing validating webhooks should work', async () => {
  const { cluster } = clients()
  await webhooks().behave('/listed', denied('no'))
  for (const name of tenNames)
    await cluster.call(
      'POST',
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
      listed('Validating', name),
    )
  assert.equal((await api().listValidatingWebhookConfiguration({ labelSelector: 'e2e=listed' })).items.length, 10)
  await assert.rejects(attempt('/listed', 'listed-1'), /denied the request/)
  await api().deleteCollectionValidatingWebhookConfiguration({ labelSelector: 'e2e=listed' })
  await waitFor('creations to pass', () => attempt('/listed', 'listed-2').then(() => true))
})

test('AdmissionWebhook listing mutating webhooks should work', async () => {
  const { cluster } = clients()
  await webhooks().behave('/listed-too', adding('stage'))
  for (const name of tenNames)
    await cluster.call(
      'POST',
      '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
      listed('Mutating', name),
    )
  assert.equal((await api().listMutatingWebhookConfiguration({ labelSelector: 'e2e=listed' })).items.length, 10)
  assert.equal((await attempt('/listed-too', 'listed-too-1')).data?.stage, 'yes')
  await api().deleteCollectionMutatingWebhookConfiguration({ labelSelector: 'e2e=listed' })
  let count = 0
  await waitFor(
    'creations to stay as they are',
    async () => (await attempt('/listed-too', `listed-too-2-${count++}`)).data?.stage === undefined,
  )
})

const tenNames = Array.from({ length: 10 }, (_, n) => `listed-${n}`)
const listed = (kind: 'Validating' | 'Mutating', name: string): object => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: `${kind}WebhookConfiguration`,
  metadata: { name, labels: { e2e: 'listed' } },
  webhooks: [hook(webhooks(), kind === 'Validating' ? '/listed' : '/listed-too')],
})

for (const kind of ['Validating', 'Mutating'] as const) {
  const lower = kind.toLowerCase()
  const path = `${group}/${lower}webhookconfigurations`
  const conditions = ['production', 'staging'].map((namespace, at) => ({
    name: `expression-${at + 1}`,
    expression: `object.metadata.namespace == '${namespace}'`,
  }))

  test(
    `AdmissionWebhook should be able to create and update ${lower} ` + 'webhook configurations with match conditions',
    async () => {
      const { cluster } = clients()
      const name = `conditions-${lower}`
      const read = async () =>
        (await cluster.call('GET', `${path}/${name}`)) as { webhooks?: { matchConditions?: unknown }[] }
      await configure(cluster, kind, name, [
        hook(webhooks(), '/conditions', { matchConditions: conditions.slice(0, 1) }),
      ])
      const made = await read()
      assert.deepEqual(made.webhooks?.[0]?.matchConditions, conditions.slice(0, 1))
      await cluster.call('PUT', `${path}/${name}`, {
        ...made,
        webhooks: made.webhooks?.map((one) => ({ ...one, matchConditions: conditions })),
      })
      assert.deepEqual((await read()).webhooks?.[0]?.matchConditions, conditions)
    },
  )

  test(`AdmissionWebhook should reject ${lower} webhook configurations with invalid match conditions`, async () => {
    const matchConditions = [{ name: 'invalid-expression-1', expression: '... [] bad expression' }]
    const made = configure(clients().cluster, kind, `invalid-${lower}`, [
      hook(webhooks(), '/conditions', { matchConditions }),
    ])
    const { code, message } = await refusal(made)
    assert.equal(code, 422)
    assert.match(message, /compilation failed/)
  })
}

test("AdmissionWebhook should mutate everything except 'skip-me' configmaps", async () => {
  await webhooks().behave('/skipping', adding('stage'))
  const matchConditions = [{ name: 'skip-me', expression: "object.metadata.name != 'skip-me'" }]
  await configure(clients().cluster, 'Mutating', 'skipping', [hook(webhooks(), '/skipping', { matchConditions })])
  assert.deepEqual((await attempt('/skipping', 'any')).data, { start: 'yes', stage: 'yes' })
  assert.deepEqual((await attempt('/skipping', 'skip-me')).data, { start: 'yes' })
})
