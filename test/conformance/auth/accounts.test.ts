/** What the conformance suite asks of accounts, certificates and reviews (`test/e2e/auth`) that needs no container. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthenticationV1Api, AuthorizationV1Api, CertificatesV1Api } from '@kubernetes/client-node'
import { opensslFolder } from '../../authentication/openssl.ts'
import { waitFor } from '../../support/wait-for.ts'
import { conformanceClients, merging, pod } from '../clients.ts'

const clients = conformanceClients()

test('ServiceAccounts should guarantee kube-root-ca.crt exist in any namespace', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('root-ca')
  const name = 'kube-root-ca.crt'
  const published = () =>
    waitFor('the config map', async () => (await core.readNamespacedConfigMap({ namespace, name })).data?.['ca.crt']?.startsWith('-----BEGIN'))
  await published()
  await core.deleteNamespacedConfigMap({ namespace, name })
  await published()
  await core.patchNamespacedConfigMap({ namespace, name, body: { data: { 'ca.crt': '' } } }, merging)
  await published()
})

test('ServiceAccounts should run through the lifecycle of a ServiceAccount', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('account-lifecycle')
  await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'testserviceaccount', labels: { static: 'true' } } } })
  await core.patchNamespacedServiceAccount({ namespace, name: 'testserviceaccount', body: { automountServiceAccountToken: false } }, merging)
  const { items } = await core.listServiceAccountForAllNamespaces({ labelSelector: 'static=true' })
  assert.deepEqual(
    items.map(({ metadata, automountServiceAccountToken }) => [metadata?.name, automountServiceAccountToken]),
    [['testserviceaccount', false]],
  )
  await core.deleteCollectionNamespacedServiceAccount({ namespace, labelSelector: 'static=true' })
  await assert.rejects(core.readNamespacedServiceAccount({ namespace, name: 'testserviceaccount' }), { code: 404 })
})

test('ServiceAccounts should update a ServiceAccount', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('account-update')
  const account = await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'e2e' } } })
  assert.equal(account.automountServiceAccountToken, undefined)
  const body = { ...account, automountServiceAccountToken: true }
  assert.equal((await core.replaceNamespacedServiceAccount({ namespace, name: 'e2e', body })).automountServiceAccountToken, true)
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
    await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name }, automountServiceAccountToken: mounts } })
  for (const [account, ofAccount] of [
    ['default-sa', true],
    ['mount', true],
    ['nomount', false],
  ] as const)
    for (const ofPod of [undefined, true, false]) {
      const body = pod(`${account}-${ofPod ?? 'unsaid'}`, { serviceAccountName: account, automountServiceAccountToken: ofPod })
      const made = await core.createNamespacedPod({ namespace, body })
      const isMounted = made.spec?.containers[0]?.volumeMounts?.some(({ mountPath }) => mountPath === tokenPath) ?? false
      assert.equal(isMounted, ofPod ?? ofAccount, body.metadata.name)
    }
})

test('ServiceAccounts should mount an API token into pods', async () => {
  const { core, namespace: make, config } = clients()
  const namespace = await make('mounted')
  const made = await core.createNamespacedPod({ namespace, body: pod('p') })
  const sources = made.spec?.volumes?.find(({ name }) => name.startsWith('kube-api-access-'))?.projected?.sources ?? []
  const token = sources.find(({ serviceAccountToken }) => serviceAccountToken)?.serviceAccountToken
  assert.deepEqual([token?.path, token?.expirationSeconds], ['token', 3607])
  assert.ok(sources.some(({ configMap }) => configMap?.name === 'kube-root-ca.crt'))
  assert.ok(sources.some(({ downwardAPI }) => downwardAPI?.items?.some(({ path }) => path === 'namespace')))
  // What a kubelet would put there is a token of the account, bound to the pod.
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: made.metadata?.uid }
  const body = { spec: { audiences: [], expirationSeconds: token?.expirationSeconds, boundObjectRef } }
  const { status } = await core.createNamespacedServiceAccountToken({ namespace, name: 'default', body })
  const review = await config.makeApiClient(AuthenticationV1Api).createTokenReview({ body: { spec: { token: status?.token ?? '' } } })
  assert.equal(review.status?.user?.username, `system:serviceaccount:${namespace}:default`)
  assert.deepEqual(review.status?.user?.extra?.['authentication.kubernetes.io/pod-name'], ['p'])
})

test('ServiceAccounts should mount projected service account token', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('projected')
  const volumes = [
    { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3600, audience: 'oidc-discovery-test' } }] } },
  ]
  const made = await core.createNamespacedPod({ namespace, body: pod('p', { volumes }) })
  const projected = made.spec?.volumes?.find(({ name }) => name === 'token')?.projected
  assert.deepEqual({ ...projected?.sources?.[0]?.serviceAccountToken }, volumes[0]?.projected.sources[0]?.serviceAccountToken)
  assert.equal(projected?.defaultMode, 420)
})

test('ServiceAccounts ServiceAccountIssuerDiscovery should support OIDC discovery of service account issuer', async () => {
  const { core, cluster, namespace: make } = clients()
  const namespace = await make('issuer')
  const { status } = await core.createNamespacedServiceAccountToken({ namespace, name: 'default', body: { spec: { audiences: ['oidc-discovery-test'] } } })
  const [header = '', payload = ''] = (status?.token ?? '').split('.').map((part) => Buffer.from(part, 'base64url').toString())
  const { iss } = JSON.parse(payload) as { iss: string }
  const discovery = (await cluster.call('GET', '/.well-known/openid-configuration')) as unknown as { issuer: string; jwks_uri: string }
  assert.equal(discovery.issuer, iss)
  assert.match(discovery.jwks_uri, /\/openid\/v1\/jwks$/)
  const { kid } = JSON.parse(header) as { kid: string }
  const { keys } = (await cluster.call('GET', '/openid/v1/jwks')) as unknown as { keys: { kid: string }[] }
  assert.ok(keys.some((key) => key.kid === kid))
})

test('Certificates API should support CSR API operations', async (t) => {
  const { config } = clients()
  const api = config.makeApiClient(CertificatesV1Api)
  const { resources } = await api.getAPIResources()
  for (const name of ['certificatesigningrequests', 'certificatesigningrequests/approval', 'certificatesigningrequests/status'])
    assert.ok(
      resources.some((resource) => resource.name === name),
      name,
    )
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'k.pem']
  const request = opensslFolder(t).openssl('req', '-new', ...key, '-subj', '/CN=e2e-csr')
  const body = (name: string) => ({
    metadata: { name, labels: { e2e: 'csr' } },
    spec: { request: request.toString('base64'), signerName: 'example.com/e2e', usages: ['digital signature', 'key encipherment', 'server auth'] },
  })
  for (const name of ['one', 'two', 'three']) await api.createCertificateSigningRequest({ body: body(name) })
  assert.equal((await api.listCertificateSigningRequest({ labelSelector: 'e2e=csr' })).items.length, 3)
  const patched = await api.patchCertificateSigningRequest({ name: 'one', body: { metadata: { annotations: { patched: 'true' } } } }, merging)
  const replaced = await api.replaceCertificateSigningRequest({
    name: 'one',
    body: { ...patched, metadata: { ...patched.metadata, annotations: { updated: 'true' } } },
  })
  assert.deepEqual(replaced.metadata?.annotations, { updated: 'true' })
  const condition = (type: string) => ({ type, status: 'True', reason: 'E2E', message: 'Set by a test' })
  const approved = await api.patchCertificateSigningRequestApproval({ name: 'one', body: { status: { conditions: [condition('ApprovalPatch')] } } }, merging)
  assert.deepEqual(
    approved.status?.conditions?.map(({ type }) => type),
    ['ApprovalPatch'],
  )
  const conditions = [...(approved.status?.conditions ?? []), condition('Approved')]
  const both = await api.replaceCertificateSigningRequestApproval({ name: 'one', body: { ...approved, status: { conditions } } })
  assert.equal(both.status?.conditions?.length, 2)
  const status = { conditions: [...(both.status?.conditions ?? []), condition('StatusUpdate')] }
  assert.equal((await api.replaceCertificateSigningRequestStatus({ name: 'one', body: { ...both, status } })).status?.conditions?.length, 3)
  assert.equal((await api.readCertificateSigningRequestStatus({ name: 'one' })).status?.conditions?.length, 3)
  await api.deleteCertificateSigningRequest({ name: 'one' })
  await assert.rejects(api.readCertificateSigningRequest({ name: 'one' }), { code: 404 })
  await api.deleteCollectionCertificateSigningRequest({ labelSelector: 'e2e=csr' })
  assert.equal((await api.listCertificateSigningRequest({ labelSelector: 'e2e=csr' })).items.length, 0)
})

test('SubjectReview should support SubjectReview API operations', async () => {
  const { config, core, namespace: make } = clients()
  const api = config.makeApiClient(AuthorizationV1Api)
  const namespace = await make('reviews')
  await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'e2e' } } })
  const user = `system:serviceaccount:${namespace}:e2e`
  const resourceAttributes = { group: 'apps', resource: 'deployments', verb: 'create', namespace, version: 'v1' }
  const whole = await api.createSubjectAccessReview({ body: { spec: { user, resourceAttributes } } })
  const local = await api.createNamespacedLocalSubjectAccessReview({ namespace, body: { metadata: { namespace }, spec: { user, resourceAttributes } } })
  assert.deepEqual([whole.status?.allowed, local.status?.allowed], [false, false])
  const admin = await api.createSubjectAccessReview({ body: { spec: { user: 'root', groups: ['system:masters'], resourceAttributes } } })
  assert.equal(admin.status?.allowed, true)
})
