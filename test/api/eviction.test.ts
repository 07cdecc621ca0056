import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testCluster } from '../support/test-cluster.ts'

const pods = '/api/v1/namespaces/default/pods'
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
const pod = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } })
const eviction = (name: string) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } })
const running = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }
const merge = 'application/merge-patch+json'

test('an eviction spends the budget that covers the pod, and is refused when there is none left', async (t) => {
  const cluster = await testCluster(t)
  for (const name of ['a', 'b', 'pending']) await cluster.call('POST', pods, pod(name))
  for (const name of ['a', 'b']) await cluster.call('PATCH', `${pods}/${name}/status`, running, merge)
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'one' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
  }
  await cluster.call('POST', budgets, budget)

  const evict = (name: string, body = eviction(name), query = '') => cluster.call('POST', `${pods}/${name}/eviction${query}`, body)
  // Nobody has looked at the budget yet.
  await assert.rejects(evict('a'), /: 429 .*The disruption budget one is still being processed by the server\./)

  const status = { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 }
  await cluster.call('PATCH', `${budgets}/one/status`, { status }, merge)
  await assert.rejects(evict('a', eviction('b')), /: 400 .*name in URL does not match name in Eviction object/)
  await evict('a', eviction('a'), '?dryRun=All')
  await cluster.call('GET', `${pods}/a`)
  await evict('a')
  await assert.rejects(cluster.call('GET', `${pods}/a`), /: 404 /)
  await assert.rejects(evict('b'), /: 429 .*needs 1 healthy pods and has 2 currently/)
  // Pods that do not run disrupt nothing. Old clients say policy/v1beta1.
  await assert.rejects(evict('pending', { ...eviction('pending'), apiVersion: 'policy/v2' }), /: 400 /)
  await evict('pending', { ...eviction('pending'), apiVersion: 'policy/v1beta1' })
  await assert.rejects(evict('gone'), /: 404 /)
})
