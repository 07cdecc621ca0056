/** Bootstrap tokens sign `cluster-info` while they are valid, and are deleted when they expire. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigMap } from '../../src/client/kinds.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

const secrets = '/api/v1/namespaces/kube-system/secrets'
const info = '/api/v1/namespaces/kube-public/configmaps/cluster-info'

const token = (id: string, more: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
  type: 'bootstrap.kubernetes.io/token',
  stringData: { 'token-id': id, 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true', ...more },
})

test('tokens sign cluster-info and are deleted when they expire', async (t) => {
  const cluster = await testCluster(t, { controllers: ['bootstrapsigner', 'tokencleaner'] })
  const data = async () => ((await cluster.call('GET', info)) as unknown as ConfigMap).data ?? {}
  await cluster.call('POST', '/api/v1/namespaces/kube-public/configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'cluster-info' },
    data: { kubeconfig: 'apiVersion: v1\nkind: Config\n' },
  })
  await cluster.call('POST', secrets, token('abcdef'))
  await cluster.call('POST', secrets, token('silent', { 'usage-bootstrap-signing': 'false' }))
  await cluster.call('POST', secrets, token('short0', { expiration: new Date(Date.now() + 2000).toISOString() }))
  await waitFor('both signatures', async () => Object.keys(await data()).length === 3)
  const signed = await data()
  assert.match(signed['jws-kubeconfig-abcdef'] ?? '', /^[\w-]+\.\.[\w-]+$/)
  await waitFor('the short-lived token to be deleted', () =>
    cluster.call('GET', `${secrets}/bootstrap-token-short0`).then(
      () => false,
      (error) => String(error).includes(' 404 '),
    ),
  )
  await waitFor('its signature to be removed', async () => !('jws-kubeconfig-short0' in (await data())))
  assert.equal((await data())['jws-kubeconfig-abcdef'], signed['jws-kubeconfig-abcdef'])
})
