/** Tests of the conformance suite for accounts, certificates and reviews (`test/e2e/auth`) that need no container. */
import assert from 'node:assert/strict'
import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { test } from 'node:test'
import {
  AuthenticationV1Api,
  AuthorizationV1Api,
  CertificatesV1Api,
  PatchStrategy,
  RbacAuthorizationV1Api,
  setHeaderOptions,
  Watch,
} from '@kubernetes/client-node'
import { opensslFolder } from '../../authentication/certificates/openssl.ts'
import { waitFor } from '../../support/wait-for.ts'
import { supportsOperations } from '../support/api-operations.ts'
import { conformanceClients, merging, pod } from '../support/clients.ts'

const clients = conformanceClients()

test('ServiceAccounts should guarantee kube-root-ca.crt exist in any namespace', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('root-ca')
  const name = 'kube-root-ca.crt'
  const published = () =>
    waitFor('the config map', async () =>
      (await core.readNamespacedConfigMap({ namespace, name })).data?.['ca.crt']?.startsWith('-----BEGIN'),
    )
  await published()
  await core.deleteNamespacedConfigMap({ namespace, name })
  await published()
  await core.replaceNamespacedConfigMap({ namespace, name, body: { metadata: { name }, data: { 'ca.crt': '' } } })
  await published()
})

test('ServiceAccounts should run through the lifecycle of a ServiceAccount', async (t) => {
  const { core, config, namespace: make } = clients()
  const namespace = await make('account-lifecycle')
  const name = 'testserviceaccount'
  const { metadata } = await core.createNamespacedServiceAccount({
    namespace,
    body: { metadata: { name, labels: { static: 'true' } } },
  })
  assert.equal((await core.readNamespacedServiceAccount({ namespace, name })).metadata?.uid, metadata?.uid)
  // A watch without a resourceVersion begins with the existing objects.
  const events: string[] = []
  const watching = await new Watch(config).watch(
    `/api/v1/namespaces/${namespace}/serviceaccounts`,
    { labelSelector: 'static=true', timeoutSeconds: 180 },
    (type) => events.push(type),
    () => {},
  )
  t.after(() => watching.abort())
  const seen = (...expected: string[]) =>
    waitFor('the event', () => events.length >= expected.length).then(() => assert.deepEqual(events, expected))
  await seen('ADDED')
  const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: {}, automountServiceAccountToken: false }
  await core.patchNamespacedServiceAccount(
    { namespace, name, body },
    setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch),
  )
  await seen('ADDED', 'MODIFIED')
  const { items } = await core.listServiceAccountForAllNamespaces({ labelSelector: 'static=true' })
  assert.deepEqual(
    items.map(({ metadata, automountServiceAccountToken }) => [metadata?.name, automountServiceAccountToken]),
    [[name, false]],
  )
  await core.deleteCollectionNamespacedServiceAccount({ namespace })
  await seen('ADDED', 'MODIFIED', 'DELETED')
})

test('ServiceAccounts should update a ServiceAccount', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('account-update')
  const account = await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'e2e' } } })
  assert.equal(account.automountServiceAccountToken, undefined)
  const body = { ...account, automountServiceAccountToken: true }
  assert.equal(
    (await core.replaceNamespacedServiceAccount({ namespace, name: 'e2e', body })).automountServiceAccountToken,
    true,
  )
  assert.equal((await core.readNamespacedServiceAccount({ namespace, name: 'e2e' })).automountServiceAccountToken, true)
})

const tokenPath = '/var/run/secrets/kubernetes.io/serviceaccount'

test('ServiceAccounts should allow opting out of API token automount', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('automount')
  for (const [name, mounts] of [
    ['default-sa', undefined],
    ['mount', true],
    ['nomount', false],
  ] as const)
    await core.createNamespacedServiceAccount({
      namespace,
      body: { metadata: { name }, automountServiceAccountToken: mounts },
    })
  for (const [account, ofAccount] of [
    ['default-sa', true],
    ['mount', true],
    ['nomount', false],
  ] as const)
    for (const ofPod of [undefined, true, false]) {
      const body = pod(`${account}-${ofPod ?? 'unsaid'}`, {
        serviceAccountName: account,
        automountServiceAccountToken: ofPod,
      })
      const made = await core.createNamespacedPod({ namespace, body })
      const isMounted =
        made.spec?.containers[0]?.volumeMounts?.some(({ mountPath }) => mountPath === tokenPath) ?? false
      assert.equal(isMounted, ofPod ?? ofAccount, body.metadata.name)
    }
})

test('ServiceAccounts should mount an API token into pods', async () => {
  const { core, namespace: make, config } = clients()
  const namespace = await make('mounted')
  const name = 'mount-test'
  await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name } } })
  const node = await core.createNode({ body: { metadata: { name: 'node-of-mounted' } } })
  const made = await core.createNamespacedPod({
    namespace,
    body: pod('p', { serviceAccountName: name, nodeName: 'node-of-mounted' }),
  })
  const sources = made.spec?.volumes?.find(({ name }) => name.startsWith('kube-api-access-'))?.projected?.sources ?? []
  const token = sources.find(({ serviceAccountToken }) => serviceAccountToken)?.serviceAccountToken
  assert.deepEqual([token?.path, token?.expirationSeconds], ['token', 3607])
  assert.ok(sources.some(({ configMap }) => configMap?.name === 'kube-root-ca.crt'))
  assert.ok(sources.some(({ downwardAPI }) => downwardAPI?.items?.some(({ path }) => path === 'namespace')))
  // A kubelet would write a token of the account into the volume, bound to the pod.
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: made.metadata?.uid }
  const body = { spec: { audiences: [], expirationSeconds: token?.expirationSeconds, boundObjectRef } }
  const { status: given } = await core.createNamespacedServiceAccountToken({ namespace, name, body })
  const { status } = await config
    .makeApiClient(AuthenticationV1Api)
    .createTokenReview({ body: { spec: { token: given?.token ?? '' } } })
  assert.deepEqual([status?.authenticated, status?.error], [true, undefined])
  const { username, groups, extra = {} } = status?.user ?? {}
  assert.equal(username, `system:serviceaccount:${namespace}:${name}`)
  assert.deepEqual(
    new Set(groups),
    new Set(['system:authenticated', 'system:serviceaccounts', `system:serviceaccounts:${namespace}`]),
  )
  const { 'authentication.kubernetes.io/credential-id': [id] = [], ...bound } = extra
  assert.match(id ?? '', /^JTI=./)
  assert.deepEqual(
    { ...bound },
    {
      'authentication.kubernetes.io/pod-name': ['p'],
      'authentication.kubernetes.io/pod-uid': [made.metadata?.uid],
      'authentication.kubernetes.io/node-name': ['node-of-mounted'],
      'authentication.kubernetes.io/node-uid': [node.metadata?.uid],
    },
  )
})

test('ServiceAccounts should create a serviceAccountToken and ensure a successful TokenReview', async () => {
  const { cluster, core, namespace: make, config } = clients()
  const namespace = await make('reviewed')
  await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'e2e' } } })
  // Upstream's suite sends an empty TokenRequest.
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/e2e/token`
  const empty = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {},
    spec: { audiences: null, expirationSeconds: null, boundObjectRef: null },
  }
  const { token } = (await cluster.call('POST', path, { ...empty, status: { token: '', expirationTimestamp: null } }))
    .status as { token: string }
  assert.ok(token)
  const { status } = await config.makeApiClient(AuthenticationV1Api).createTokenReview({ body: { spec: { token } } })
  assert.deepEqual([status?.authenticated, status?.error], [true, undefined])
})

test('ServiceAccounts should mount projected service account token', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('projected')
  const volumes = [
    {
      name: 'token',
      projected: {
        sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3600, audience: 'oidc-discovery-test' } }],
      },
    },
  ]
  const made = await core.createNamespacedPod({ namespace, body: pod('p', { volumes }) })
  const projected = made.spec?.volumes?.find(({ name }) => name === 'token')?.projected
  assert.deepEqual(
    { ...projected?.sources?.[0]?.serviceAccountToken },
    volumes[0]?.projected.sources[0]?.serviceAccountToken,
  )
  assert.equal(projected?.defaultMode, 420)
})

/** Sends a GET with the token of an account. */
async function asAccount(
  token: string,
  path: string,
): Promise<{ readonly status: number | undefined; readonly value: unknown }> {
  const { ca, url } = clients().cluster.client
  const [response]: IncomingMessage[] = await once(
    request(new URL(path, url), { ca, agent: false, headers: { authorization: `Bearer ${token}` } }).end(),
    'response',
  )
  return {
    status: response?.statusCode,
    value: JSON.parse(Buffer.concat((await response?.toArray()) ?? []).toString()),
  }
}

test(
  'ServiceAccounts ServiceAccountIssuerDiscovery ' + 'should support OIDC discovery of service account issuer',
  async () => {
    const { core, namespace: make } = clients()
    const namespace = await make('issuer')
    const tokenFor = async (...audiences: string[]) =>
      (await core.createNamespacedServiceAccountToken({ namespace, name: 'default', body: { spec: { audiences } } }))
        .status?.token ?? ''
    const [header = '', payload = '', signature = ''] = (await tokenFor('oidc-discovery-test')).split('.')
    const { iss } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { iss: string }
    const { kid, alg } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string; alg: string }
    const own = await tokenFor()
    const discovery = (await asAccount(own, '/.well-known/openid-configuration')).value as {
      issuer: string
      jwks_uri: string
      [field: string]: unknown
    }
    assert.equal(discovery.issuer, iss)
    assert.match(discovery.jwks_uri, /\/openid\/v1\/jwks$/)
    assert.deepEqual(discovery.response_types_supported, ['id_token'])
    assert.deepEqual(discovery.subject_types_supported, ['public'])
    assert.deepEqual(discovery.id_token_signing_alg_values_supported, [alg])
    const { keys } = (await asAccount(own, new URL(discovery.jwks_uri).pathname)).value as {
      keys: (JsonWebKey & { kid: string })[]
    }
    const key = createPublicKey({ key: keys.find((key) => key.kid === kid) ?? {}, format: 'jwk' })
    assert.ok(verify('sha256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url')))
  },
)

test('Certificates API should support CSR API operations', async (t) => {
  const { cluster, config } = clients()
  const api = config.makeApiClient(CertificatesV1Api)
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'k.pem']
  const openssl = opensslFolder(t).openssl
  const request = openssl('req', '-new', ...key, '-subj', '/CN=e2e-example-csr').toString('base64')
  const usages = ['digital signature', 'key encipherment', 'server auth']
  const spec = { request, signerName: 'example.com/e2e', expirationSeconds: 3600, usages }
  const groupVersion = 'certificates.k8s.io/v1'
  const plural = 'certificatesigningrequests'
  const condition = { status: 'True', reason: 'E2E', message: 'Set from an e2e test' }
  await supportsOperations(clients(), {
    groupVersion,
    kind: 'CertificateSigningRequest',
    plural,
    object: () => ({ spec }),
    condition,
  })

  const name = 'approved'
  await api.createCertificateSigningRequest({ body: { metadata: { name }, spec } })
  const approval = await api.readCertificateSigningRequestApproval({ name })
  assert.deepEqual(
    [approval.kind, approval.apiVersion, approval.metadata?.name],
    ['CertificateSigningRequest', groupVersion, name],
  )
  const patch = {
    metadata: { annotations: { patchedapproval: 'true' } },
    status: { conditions: [{ ...condition, type: 'ApprovalPatch' }] },
  }
  const patched = await api.patchCertificateSigningRequestApproval({ name, body: patch }, merging)
  assert.deepEqual(
    [patched.status?.conditions?.[0]?.type, patched.metadata?.annotations?.patchedapproval],
    ['ApprovalPatch', 'true'],
  )
  const conditions = [...(patched.status?.conditions ?? []), { ...condition, type: 'Approved' }]
  const approved = await api.replaceCertificateSigningRequestApproval({
    name,
    body: { ...patched, status: { conditions } },
  })
  assert.deepEqual(
    approved.status?.conditions?.map(({ type }) => type),
    ['ApprovalPatch', 'Approved'],
  )
  const certificate = openssl('req', '-x509', '-key', 'k.pem', '-subj', '/CN=e2e-example-csr', '-days', '1')
  const status = {
    metadata: { annotations: { patchedstatus: 'true' } },
    status: { certificate: certificate.toString('base64') },
  }
  const signed = await cluster.call(
    'PATCH',
    `/apis/${groupVersion}/${plural}/${name}/status`,
    status,
    'application/merge-patch+json',
  )
  assert.equal((signed.status as { certificate: string }).certificate, status.status.certificate)
  assert.deepEqual(signed.metadata.annotations, { patchedapproval: 'true', patchedstatus: 'true' })
})

test('SubjectReview should support SubjectReview API operations', async () => {
  const { config, core, namespace: make } = clients()
  const api = config.makeApiClient(AuthorizationV1Api)
  const namespace = await make('reviews')
  const { metadata } = await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'e2e' } } })
  const user = `system:serviceaccount:${namespace}:e2e`
  const groups = ['system:authenticated', 'system:serviceaccounts', `system:serviceaccounts:${namespace}`]
  const uid = metadata?.uid ?? ''
  const lists = () => statusAs({ user, uid, groups }, `/api/v1/namespaces/${namespace}/configmaps`)
  const resourceAttributes = { resource: 'configmaps', verb: 'list', namespace, version: 'v1' }
  const allowed = async () => {
    const spec = { user, groups, uid, resourceAttributes }
    const whole = await api.createSubjectAccessReview({ body: { spec } })
    const local = await api.createNamespacedLocalSubjectAccessReview({
      namespace,
      body: { metadata: { namespace }, spec },
    })
    assert.equal(local.status?.allowed, whole.status?.allowed)
    return whole.status?.allowed
  }
  assert.deepEqual([await allowed(), await lists()], [false, 403])
  await config.makeApiClient(RbacAuthorizationV1Api).createNamespacedRoleBinding({
    namespace,
    body: {
      metadata: { name: 'view' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'e2e', namespace }],
    },
  })
  await waitFor('the role to hold', async () => (await lists()) === 200)
  assert.equal(await allowed(), true)
})

/** Returns the status of a read that the administrator makes as another user. */
async function statusAs(
  { user, uid, groups }: { user: string; uid: string; groups: string[] },
  path: string,
): Promise<number | undefined> {
  const { ca, cert, key, url } = clients().cluster.client
  const headers = { 'impersonate-user': user, 'impersonate-uid': uid, 'impersonate-group': groups }
  const [response]: IncomingMessage[] = await once(
    request(new URL(path, url), { ca, cert, key, agent: false, headers }).end(),
    'response',
  )
  response?.resume()
  return response?.statusCode
}
