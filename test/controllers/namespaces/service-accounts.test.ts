/** Each namespace gets a default service account and the root CA config map. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TestCluster, testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

interface Parts {
  readonly metadata: { readonly uid: string; readonly annotations?: Readonly<Record<string, string>> }
  readonly data?: Readonly<Record<string, string>>
}

const get = async (cluster: TestCluster, path: string): Promise<Parts | undefined> => {
  try {
    return (await cluster.call('GET', path)) as unknown as Parts
  } catch (error) {
    if (String(error).includes(' 404 ')) return undefined
    throw error
  }
}

const named = (kind: string, name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name },
  ...more,
})

test('a namespace gets its account and root CA, and gets them again after deletion', async (t) => {
  const cluster = await testCluster(t, { controllers: ['*'] })
  await cluster.call('POST', '/api/v1/namespaces', named('Namespace', 'new'))
  const account = '/api/v1/namespaces/new/serviceaccounts/default'
  const authority = '/api/v1/namespaces/new/configmaps/kube-root-ca.crt'
  const first = await waitFor('the account', () => get(cluster, account))
  await cluster.call('DELETE', account)
  const second = await waitFor('another account', () => get(cluster, account))
  assert.notEqual(second.metadata.uid, first.metadata.uid)

  assert.deepEqual((await waitFor('the root CA', () => get(cluster, authority))).data, {
    'ca.crt': cluster.client.ca,
  })
  await cluster.call('PATCH', authority, { data: { 'ca.crt': 'x', other: 'y' } }, 'application/merge-patch+json')
  await waitFor(
    'the root CA to be corrected',
    async () => (await get(cluster, authority))?.data?.['ca.crt'] === cluster.client.ca,
  )
  await cluster.call('DELETE', authority)
  await waitFor('the root CA to be recreated', () => get(cluster, authority))
})

test('a Secret for an account gets a token and is deleted with the account', async (t) => {
  const cluster = await testCluster(t, { controllers: ['*'] })
  const core = '/api/v1/namespaces/default'
  await cluster.call('POST', `${core}/serviceaccounts`, named('ServiceAccount', 'robot'))
  const annotations = { 'kubernetes.io/service-account.name': 'robot' }
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'held', annotations },
    type: 'kubernetes.io/service-account-token',
  }
  await cluster.call('POST', `${core}/secrets`, secret)
  const { data } = await waitFor('the token', async () => {
    const found = await get(cluster, `${core}/secrets/held`)
    return found?.data?.token ? found : undefined
  })
  assert.equal(Buffer.from(data?.['ca.crt'] ?? '', 'base64').toString(), cluster.client.ca)
  assert.equal(Buffer.from(data?.namespace ?? '', 'base64').toString(), 'default')
  const [, claims = ''] = Buffer.from(data?.token ?? '', 'base64')
    .toString()
    .split('.')
  assert.equal(JSON.parse(Buffer.from(claims, 'base64url').toString()).sub, 'system:serviceaccount:default:robot')
  await cluster.call('POST', `${core}/secrets`, { ...secret, metadata: { name: 'listed', annotations } })
  await cluster.call(
    'PATCH',
    `${core}/serviceaccounts/robot`,
    { secrets: [{ name: 'listed' }, { name: 'other' }] },
    'application/merge-patch+json',
  )
  await waitFor('its token', async () => (await get(cluster, `${core}/secrets/listed`))?.data?.token)
  await cluster.call('DELETE', `${core}/secrets/listed`)
  await waitFor('the reference to be removed', async () => {
    const { secrets } = (await cluster.call('GET', `${core}/serviceaccounts/robot`)) as unknown as {
      secrets: { name: string }[]
    }
    return secrets.length === 1 && secrets[0]?.name === 'other'
  })
  await cluster.call('DELETE', `${core}/serviceaccounts/robot`)
  await waitFor('the Secret to be deleted', async () => !(await get(cluster, `${core}/secrets/held`)))
})
