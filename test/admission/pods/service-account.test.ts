/** ServiceAccount on a server: the account of pods, its token and its pull secrets. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AdmissionCluster, admissionCluster } from './pod-plugins-cluster.ts'

const on = '--enable-admission-plugins=ServiceAccount'
const account = ({ call }: AdmissionCluster, name: string, more: object = {}) =>
  call('POST', '/api/v1/namespaces/n/serviceaccounts', { metadata: { name }, ...more })

test('pods get the token and pull secrets of an existing account', async (t) => {
  const cluster = await admissionCluster(t, on)
  const { namespace, pod, refused } = cluster
  await namespace('n')
  await account(cluster, 'robot', { imagePullSecrets: [{ name: 'pull' }] })
  const { spec } = await pod('n', { serviceAccountName: 'robot' })
  assert.equal(spec.serviceAccount, 'robot')
  assert.deepEqual(spec.imagePullSecrets, [{ name: 'pull' }])
  const [volume] = spec.volumes as [{ name: string }]
  const [container] = spec.containers as [{ volumeMounts: object[] }]
  assert.match(volume.name, /^kube-api-access-[a-z0-9]{5}$/)
  assert.deepEqual(container.volumeMounts, [
    { name: volume.name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
  ])
  await refused(
    pod('n', { serviceAccountName: 'absent' }, { name: 'p' }),
    403,
    'pods "p" is forbidden: error looking up service account n/absent: serviceaccount "absent" not found',
  )
})

test('the pod, then the account, decides on mounting the token', async (t) => {
  const cluster = await admissionCluster(t, on)
  await cluster.namespace('n')
  await account(cluster, 'quiet', { automountServiceAccountToken: false })
  const volumes = async (spec: object) => (await cluster.pod('n', spec)).spec.volumes
  assert.equal(await volumes({ serviceAccountName: 'quiet' }), undefined)
  assert.notEqual(await volumes({ serviceAccountName: 'quiet', automountServiceAccountToken: true }), undefined)
  assert.equal(await volumes({ automountServiceAccountToken: false }), undefined)
})

test('a pod waits for the default account of a new namespace', async (t) => {
  const cluster = await admissionCluster(t, on)
  await cluster.call('POST', '/api/v1/namespaces', { metadata: { name: 'n' } })
  const waiting = cluster.pod('n')
  await cluster
    .call('POST', '/api/v1/namespaces/n/serviceaccounts', { metadata: { name: 'default' } })
    .catch((error: Error) => assert.match(error.message, /409/))
  assert.equal((await waiting).spec.serviceAccountName, 'default')
})

test('an account with mountable secrets restricts its pods, ephemeral containers included', async (t) => {
  const cluster = await admissionCluster(t, on)
  const { call, namespace, pod, refused } = cluster
  await namespace('n')
  await call('POST', '/api/v1/namespaces/n/serviceaccounts', {
    metadata: { name: 'strict', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
    secrets: [{ name: 'mine' }],
  })
  const mounting = (secretName: string) => ({
    serviceAccountName: 'strict',
    volumes: [{ name: 'v', secret: { secretName } }],
  })
  await refused(
    pod('n', mounting('other'), { name: 'p' }),
    403,
    'pods "p" is forbidden: volume with secret.secretName="other" is not allowed because service account strict ' +
      'does not reference that secret',
  )
  await pod('n', mounting('mine'), { name: 'q' })
  const env = [{ name: 'V', valueFrom: { secretKeyRef: { name: 'other', key: 'k' } } }]
  const ephemeral = { spec: { ephemeralContainers: [{ name: 'e', image: 'i', env }] } }
  await refused(
    call(
      'PATCH',
      '/api/v1/namespaces/n/pods/q/ephemeralcontainers',
      ephemeral,
      'application/strategic-merge-patch+json',
    ),
    403,
    'pods "q" is forbidden: ephemeral container e with envVar V referencing secret.secretName="other" is not ' +
      'allowed because service account strict does not reference that secret',
  )
})

test('mirror pods get no account and may not reference one', async (t) => {
  const { namespace, pod, refused } = await admissionCluster(t, on)
  await namespace('n')
  const mirror = { name: 'm', annotations: { 'kubernetes.io/config.mirror': 'x' } }
  const forbidden = 'pods "m" is forbidden: a mirror pod may not'
  await refused(
    pod('n', { nodeName: 'x', serviceAccountName: 'default' }, mirror),
    403,
    `${forbidden} reference service accounts`,
  )
  await refused(
    pod('n', { nodeName: 'x', volumes: [{ name: 'v', secret: { secretName: 's' } }] }, mirror),
    403,
    `${forbidden} reference secrets`,
  )
  const token = { name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'p' } }] } }
  await refused(
    pod('n', { nodeName: 'x', volumes: [token] }, mirror),
    403,
    `${forbidden} use ServiceAccountToken volume projections`,
  )
  await refused(
    pod('n', {}, mirror),
    422,
    'Pod "m" is invalid: metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set ' +
      'spec.nodeName if mirror pod annotation is set',
  )
  assert.equal((await pod('n', { nodeName: 'x' }, mirror)).spec.volumes, undefined)
})

test('a pod with null containers is rejected like one without containers', async (t) => {
  const { namespace, refused, pod } = await admissionCluster(t, on)
  await namespace('n')
  for (const containers of [null, []]) {
    await refused(pod('n', { containers }, { name: 'p' }), 422, 'Pod "p" is invalid: spec.containers: Required value')
  }
})
