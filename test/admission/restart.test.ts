/** A cluster can be restarted when all its webhooks fail, and their configurations can be deleted. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startCluster } from '../../src/cluster/start-cluster.ts'
import { until } from '../support/api-client.ts'
import { reachable } from '../support/reachable-cluster.ts'
import { admissionWebhooks, configMap, configMaps, configure, group, hook, refusal, rule } from './webhooks/webhook.ts'

test('a server whose webhooks reject everything restarts, and their configuration can be deleted', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'typernetes-test-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const start = async () => reachable(t, await startCluster({ storage: { directory } }))
  const first = await start()
  const unreachable = {
    name: 'all.example.com',
    clientConfig: { url: 'https://127.0.0.1:1/all' },
    rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  }
  // The next start has to create an object.
  await first.call('DELETE', '/apis/rbac.authorization.k8s.io/v1/clusterroles/view')
  await configure(first, 'Mutating', 'm', [unreachable])
  await configure(first, 'Validating', 'v', [unreachable])
  assert.equal((await refusal(first.call('POST', configMaps, configMap('a')))).code, 500)
  await first.stop({ graceMs: 0 })
  const second = await start()
  t.after(() => second.stop({ graceMs: 0 }))
  assert.equal((await refusal(second.call('POST', configMaps, configMap('a')))).code, 500)
  await second.call('DELETE', `${group}/mutatingwebhookconfigurations/m`)
  await second.call('DELETE', `${group}/validatingwebhookconfigurations/v`)
  await second.call('POST', configMaps, configMap('a'))
})

test('the warm-up of a server does not call webhooks', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'typernetes-test-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const start = async () => reachable(t, await startCluster({ storage: { directory }, warmUp: true }))
  const webhooks = await admissionWebhooks(t)
  const first = await start()
  await configure(first, 'Validating', 'all', [
    hook(webhooks, '/all', { rules: [rule({ operations: ['*'], resources: ['*'] })], objectSelector: {} }),
  ])
  // Its creation is not of the warm-up.
  const account = '/api/v1/namespaces/default/serviceaccounts/default'
  await until('the first service account exists', () =>
    first.call('GET', account).then(
      () => true,
      () => false,
    ),
  )
  await first.stop({ graceMs: 0 })
  await webhooks.asked()
  const second = await start()
  t.after(() => second.stop({ graceMs: 0 }))
  await delay(1000)
  const shown = (await webhooks.asked()).map(({ review }) => String(review.request.name))
  assert.deepEqual(
    shown.filter((name) => name.startsWith('warm-up')),
    [],
  )
  assert.equal(shown.includes('default'), false)
})
