import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import { apiVolumeObjects, certificateCalls, requestToken } from './api-volume-objects.ts'

type Client = Pick<RestClient, 'find' | 'list' | 'createUnder' | 'create'>

/** Notes the calls and answers all with the same object. */
function testClient(answer: unknown) {
  const calls: unknown[][] = []
  const call =
    (verb: string) =>
    async (resource: { plural: string }, ...rest: unknown[]) => {
      calls.push([verb, resource.plural, ...rest])
      return answer
    }
  const client = { find: call('find'), list: call('list'), createUnder: call('createUnder'), create: call('create') }
  return { calls, client: client as unknown as Client }
}

test('objects are read from the API', async () => {
  const { calls, client } = testClient({ items: [] })
  const objects = apiVolumeObjects(client)
  await objects.configMap('ns', 'a')
  await objects.secret('ns', 'b')
  await objects.claim('ns', 'c')
  await objects.persistentVolume('d')
  await objects.trustBundle('e')
  assert.deepEqual(await objects.trustBundles(), [])
  assert.deepEqual(calls, [
    ['find', 'configmaps', 'ns', 'a'],
    ['find', 'secrets', 'ns', 'b'],
    ['find', 'persistentvolumeclaims', 'ns', 'c'],
    ['find', 'persistentvolumes', '', 'd'],
    ['find', 'clustertrustbundles', '', 'e'],
    ['list', 'clustertrustbundles'],
  ])
})

test('a token is requested with its spec, and has the life that the server has granted', async () => {
  const status = { token: 't', expirationTimestamp: '2026-01-01T00:00:00Z' }
  const { calls, client } = testClient({ spec: { expirationSeconds: 600 }, status })
  const spec = { expirationSeconds: 500, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u' } }
  assert.deepEqual(await requestToken(client)('ns', 'builder', spec), { ...status, expirationSeconds: 600 })
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
  assert.deepEqual(calls, [['createUnder', 'serviceaccounts', 'ns', 'builder', 'token', request]])
})

test('certificates are requested and read', async () => {
  const { calls, client } = testClient({ metadata: { uid: 'u' } })
  const certificates = certificateCalls(client)
  assert.equal(await certificates.serviceAccountUid('ns', 'builder'), 'u')
  await certificates.find('ns', 'req-1')
  assert.deepEqual(calls, [
    ['find', 'serviceaccounts', 'ns', 'builder'],
    ['find', 'podcertificaterequests', 'ns', 'req-1'],
  ])
})
