/** Controllers on a separate thread. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Secret, V1ServiceAccount } from '@kubernetes/client-node'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

test('controllers on a thread create accounts and tokens', async (t) => {
  const { call } = await testCluster(t, { controllersThread: true })
  await call('POST', '/api/v1/namespaces', { metadata: { name: 'n' } })
  const found = <T>(path: string) =>
    call('GET', path).then(
      (object) => object as T,
      () => undefined,
    )
  const account = await waitFor('the account', () =>
    found<V1ServiceAccount>('/api/v1/namespaces/n/serviceaccounts/default'),
  )
  assert.equal(account.metadata?.name, 'default')
  await call('POST', '/api/v1/namespaces/n/secrets', {
    metadata: { name: 's', annotations: { 'kubernetes.io/service-account.name': 'default' } },
    type: 'kubernetes.io/service-account-token',
  })
  await waitFor('the token', async () => (await found<V1Secret>('/api/v1/namespaces/n/secrets/s'))?.data?.token)
})

test('flags and names of controllers are validated before the start', async (t) => {
  await assert.rejects(
    testCluster(t, { controllers: ['none-such'] }),
    /"none-such" is not in the list of known controllers: choose from \*, /,
  )
})
