import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:http2'
import { request } from 'node:https'
import test from 'node:test'
import { defaultHeaders, type RequestHeaderOptions } from '../../../src/apiserver/authentication/request-header.ts'
import type { KeyPair } from '../../../src/cluster/pki/key-pair.ts'
import { issueCertificate, makeAuthority } from '../../../src/lib/x509/certificates.ts'
import type { Lifetime } from '../../support/test-cluster.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

/** A cluster with a front-proxy CA of the test, and the allowed name `proxy`. */
async function proxied(
  t: Lifetime,
  headerNames: Omit<RequestHeaderOptions, 'clientCA' | 'allowedNames'> = defaultHeaders,
) {
  const authority = await makeAuthority('proxies', new Date())
  const cluster = await testCluster(t, {
    requestHeader: { ...headerNames, clientCA: authority.cert, allowedNames: ['proxy'] },
  })
  const certificate = (commonName: string, organizations: readonly string[] = []) =>
    issueCertificate(authority, { commonName, organizations, usage: 'client' }, new Date())
  const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const ask = async (pair: KeyPair, headers: Record<string, string | string[]>) => {
    const { ca, url } = cluster.client
    const sent = request(new URL(path, url), {
      ca,
      ...pair,
      agent: false,
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
    })
    const [response]: IncomingMessage[] = await once(sent.end(review), 'response')
    const { status } = JSON.parse(Buffer.concat(await response!.toArray()).toString())
    return { code: response!.statusCode, user: status.userInfo }
  }
  return { cluster, authority, certificate, ask, path, review }
}

test('a front proxy sets name, uid, groups and extra of a user', async (t) => {
  const { certificate, ask } = await proxied(t)
  const headers = {
    'x-remote-user': 'anna',
    'x-remote-uid': '7',
    'x-remote-group': ['a, b', 'c'],
    'x-remote-extra-example.com%2fscope': ['x', 'y'],
  }
  const { code, user } = await ask(await certificate('proxy'), headers)
  assert.equal(code, 201)
  assert.deepEqual(user, {
    username: 'anna',
    uid: '7',
    groups: ['a, b', 'c', 'system:authenticated'],
    extra: { 'example.com/scope': ['x', 'y'] },
  })
})

test('all group and extra headers count, only the first user header, and empty values are ignored', async (t) => {
  const headerNames = {
    usernameHeaders: ['X-A', 'X-B'],
    uidHeaders: [],
    groupHeaders: ['X-G', 'X-H'],
    extraHeadersPrefix: ['X-E-', 'X-F-'],
  }
  const { certificate, ask } = await proxied(t, headerNames)
  const headers = { 'x-a': '', 'x-b': ['anna', 'bob'], 'x-g': ['', 'a'], 'x-h': 'b', 'x-f-k': '3', 'x-e-k': ['1', '2'] }
  const { user } = await ask(await certificate('proxy'), headers)
  assert.deepEqual(user, {
    username: 'anna',
    groups: ['a', 'b', 'system:authenticated'],
    extra: { k: ['1', '2', '3'] },
  })
})

test('groups with commas are not split over HTTP/2', async (t) => {
  const { cluster, certificate, path, review } = await proxied(t)
  const session = connect(cluster.url, { ca: cluster.client.ca, ...(await certificate('proxy')) })
  t.after(() => session.destroy())
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/json',
    'x-remote-user': 'anna',
    'x-remote-group': ['a, system:masters', 'c'],
  })
  stream.end(review)
  const { status } = JSON.parse(Buffer.concat(await stream.toArray()).toString())
  assert.deepEqual(status.userInfo.groups, ['a, system:masters', 'c', 'system:authenticated'])
})

test('the headers of other clients are ignored', async (t) => {
  const { cluster, certificate, ask } = await proxied(t)
  const anna = { 'x-remote-user': 'anna' }
  assert.equal((await ask(cluster.client, anna)).user.username, 'kubernetes-admin')
  assert.equal((await ask(await certificate('somebody'), anna)).code, 401)
  const stranger = await issueCertificate(
    await makeAuthority('proxies', new Date()),
    { commonName: 'proxy', usage: 'client' },
    new Date(),
  )
  assert.equal((await ask(stranger, anna)).code, 401)
})

test('a front proxy is no user itself', async (t) => {
  const { certificate, ask } = await proxied(t)
  assert.equal((await ask(await certificate('proxy'), {})).code, 401)
  assert.equal((await ask(await certificate('admin', ['system:masters']), {})).code, 401)
})

test('the ConfigMap extension-apiserver-authentication has the CAs and headers, and is restored', async (t) => {
  const { cluster, authority } = await proxied(t)
  const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
  const read = async () => (await cluster.call('GET', path)).data as Record<string, string>
  const data = await read()
  assert.deepEqual(
    Object.entries(data).filter(([name]) => !name.endsWith('-file')),
    [
      ['requestheader-allowed-names', '["proxy"]'],
      ['requestheader-extra-headers-prefix', '["X-Remote-Extra-"]'],
      ['requestheader-group-headers', '["X-Remote-Group"]'],
      ['requestheader-uid-headers', '["X-Remote-Uid"]'],
      ['requestheader-username-headers', '["X-Remote-User"]'],
    ],
  )
  assert.equal(data['requestheader-client-ca-file'], authority.cert)
  assert.equal(data['client-ca-file'], cluster.client.ca)

  const other = (await makeAuthority('another server', new Date())).cert
  await cluster.call(
    'PATCH',
    path,
    { data: { 'requestheader-client-ca-file': other, 'requestheader-group-headers': null } },
    'application/merge-patch+json',
  )
  await waitFor('both authorities stand there', async () => {
    const { 'requestheader-client-ca-file': bundle, 'requestheader-group-headers': groups } = await read()
    return bundle?.includes(other.trim()) && bundle.includes(authority.cert.trim()) && groups === '["X-Remote-Group"]'
  })
  await cluster.call('DELETE', path)
  await waitFor('it is there again', () => read().then(Boolean, () => false))
})
