/**
 * The kubelet and kube-proxy of Kubernetes 1.36, by their requests: each gets its certificate the way kubeadm sets it
 * up, and may do what the component does, and no more.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { apiControllers, type TestCluster, testCluster } from '../support/test-cluster.ts'
import { type Credentials, call, keyAndRequest, signedBy, signingRequests } from './component.ts'

const core = '/api/v1/namespaces/default'
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
const csiNodes = '/apis/storage.k8s.io/v1/csinodes'
const slices = '/apis/resource.k8s.io/v1/resourceslices'
const kubeSystem = '/api/v1/namespaces/kube-system'
const rbac = '/apis/rbac.authorization.k8s.io/v1'

/** The two requests of an informer: a list and a watch of the same path. */
const listAndWatch = (path: string): string[] => {
  const more = path.includes('?') ? '&' : '?'
  return [`GET ${path}`, `GET ${path}${more}watch=true&allowWatchBookmarks=true`]
}

/** Sends requests in sequence and returns their statuses. */
async function statuses(
  cluster: TestCluster,
  who: Credentials,
  requests: readonly (string | readonly [string, object])[],
): Promise<string[]> {
  const lines: string[] = []
  for (const asked of requests) {
    const [line, body] = typeof asked === 'string' ? [asked] : asked
    const { status, body: answer } = await call(cluster, who, line, body)
    lines.push(status < 400 ? `${line} ${status}` : `${line} ${status} ${String(answer.message)}`)
  }
  return lines
}

/** Checks that all requests are answered with a status below 400. */
async function allowed(
  t: TestContext,
  name: string,
  cluster: TestCluster,
  who: Credentials,
  requests: readonly (string | readonly [string, object])[],
) {
  await t.test(name, async () => {
    const refused = (await statuses(cluster, who, requests)).filter((line) => !/ 20\d$/.test(line))
    assert.deepEqual(refused, [])
  })
}

/** Checks that all requests are forbidden. */
async function forbidden(
  t: TestContext,
  name: string,
  cluster: TestCluster,
  who: Credentials,
  requests: readonly (string | readonly [string, object])[],
) {
  await t.test(name, async () => {
    const taken = (await statuses(cluster, who, requests)).filter((line) => !/ 403 /.test(line))
    assert.deepEqual(taken, [])
  })
}

const bindTo = (role: string, group: string) => ({
  metadata: { name: role.replaceAll(':', '-') },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
})

const clientUsages = ['digital signature', 'client auth']

/** A kubelet with a bootstrap token gets the certificate of its node. */
async function bootstrapped(cluster: TestCluster, node: string): Promise<Credentials> {
  await cluster.call('POST', `${kubeSystem}/secrets`, {
    metadata: { name: 'bootstrap-token-abcdef' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' },
  })
  const roles = ['system:node-bootstrapper', 'system:certificates.k8s.io:certificatesigningrequests:nodeclient']
  for (const role of roles)
    await cluster.call('POST', `${rbac}/clusterrolebindings`, bindTo(role, 'system:bootstrappers'))
  const { key, request } = keyAndRequest(cluster, `/O=system:nodes/CN=system:node:${node}`)
  const signerName = 'kubernetes.io/kube-apiserver-client-kubelet'
  const cert = await signedBy(cluster, { token: 'abcdef.0123456789abcdef' }, 'node-csr-1', {
    request,
    signerName,
    usages: clientUsages,
  })
  return { key, cert }
}

const pod = (name: string, nodeName: string, secret: string) => ({
  metadata: { name },
  spec: {
    nodeName,
    automountServiceAccountToken: false,
    containers: [{ name: 'c', image: 'nginx:1' }],
    volumes: [
      { name: 's', secret: { secretName: secret } },
      { name: 'm', configMap: { name: 'settings' } },
      { name: 'p', persistentVolumeClaim: { claimName: 'data' } },
      { name: 't', projected: { sources: [{ serviceAccountToken: { path: 'token', audience: 'vault' } }] } },
    ],
    resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }],
  },
})

/** Creates another node, pods on both, and the objects that they mount. */
async function workloads(cluster: TestCluster): Promise<void> {
  await cluster.call('POST', '/api/v1/nodes', { metadata: { name: 'n2' } })
  for (const name of ['mine', 'theirs']) await cluster.call('POST', `${core}/secrets`, { metadata: { name } })
  await cluster.call('POST', `${core}/configmaps`, { metadata: { name: 'settings' } })
  const claim = {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    storageClassName: '',
    volumeName: 'disk',
  }
  const { metadata } = await cluster.call('POST', `${core}/persistentvolumeclaims`, {
    metadata: { name: 'data' },
    spec: claim,
  })
  await cluster.call('POST', '/api/v1/persistentvolumes', {
    metadata: { name: 'disk' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      csi: { driver: 'csi.example.com', volumeHandle: 'v' },
      claimRef: { namespace: 'default', name: 'data', uid: metadata.uid },
    },
  })
  await cluster.call('POST', '/apis/storage.k8s.io/v1/volumeattachments', {
    metadata: { name: 'attached' },
    spec: { attacher: 'csi.example.com', nodeName: 'n1', source: { persistentVolumeName: 'disk' } },
  })
  await cluster.call('POST', '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims', {
    metadata: { name: 'gpu' },
    spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu' } }] } },
  })
  await cluster.call('POST', `${core}/pods`, pod('web', 'n1', 'mine'))
  await cluster.call('POST', `${core}/pods`, pod('other', 'n2', 'theirs'))
}

const event = (name: string) => ({
  metadata: { name },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'web' },
  reason: 'Started',
  message: 'Started container c',
  type: 'Normal',
  source: { component: 'kubelet', host: 'n1' },
})

const ready = {
  status: {
    conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }],
  },
}

test('a kubelet gets its certificate with a bootstrap token, and may send the requests of kubelets', async (t) => {
  const cluster = await testCluster(t, {
    controllers: apiControllers,
    apiServerFlags: ['--enable-bootstrap-token-auth'],
  })
  const kubelet = await bootstrapped(cluster, 'n1')
  await allowed(t, 'the node registers', cluster, kubelet, [
    [
      'POST /api/v1/nodes',
      { metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'n1', 'kubernetes.io/os': 'linux' } } },
    ],
    'GET /api/v1/nodes/n1?resourceVersion=0',
    [
      'PATCH /api/v1/nodes/n1',
      { metadata: { annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' } } },
    ],
    ['PATCH /api/v1/nodes/n1/status', ready],
    [`POST ${leases}`, { metadata: { name: 'n1' }, spec: { holderIdentity: 'n1', leaseDurationSeconds: 40 } }],
    `GET ${leases}/n1`,
    [`POST ${csiNodes}`, { metadata: { name: 'n1' }, spec: { drivers: [] } }],
    `GET ${csiNodes}/n1`,
    [`PATCH ${csiNodes}/n1`, { spec: { drivers: [{ name: 'csi.example.com', nodeID: 'n1', topologyKeys: [] }] } }],
  ])
  await workloads(cluster)
  await allowed(t, 'its informers list and watch', cluster, kubelet, [
    ...listAndWatch('/api/v1/nodes?fieldSelector=metadata.name%3Dn1'),
    ...listAndWatch('/api/v1/pods?fieldSelector=spec.nodeName%3Dn1'),
    ...listAndWatch('/api/v1/services'),
    ...listAndWatch('/apis/storage.k8s.io/v1/csidrivers'),
    ...listAndWatch('/apis/node.k8s.io/v1/runtimeclasses'),
    ...listAndWatch(`${core}/secrets?fieldSelector=metadata.name%3Dmine`),
    ...listAndWatch(`${core}/configmaps?fieldSelector=metadata.name%3Dsettings`),
    ...listAndWatch(`${slices}?fieldSelector=spec.nodeName%3Dn1`),
  ])
  await allowed(t, 'a pod of its node runs', cluster, kubelet, [
    `GET ${core}/pods/web`,
    `GET ${core}/secrets/mine`,
    `GET ${core}/configmaps/settings`,
    `GET ${core}/persistentvolumeclaims/data`,
    'GET /api/v1/persistentvolumes/disk',
    'GET /apis/storage.k8s.io/v1/volumeattachments/attached',
    'GET /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/gpu',
    `GET ${core}/serviceaccounts/default`,
    [`POST ${core}/serviceaccounts/default/token`, await tokenRequest(cluster)],
    [`PATCH ${core}/pods/web/status`, { status: { phase: 'Running' } }],
    [`POST ${core}/events`, event('web.1')],
    [`PATCH ${core}/events/web.1`, { count: 2 }],
  ])
  await allowed(t, 'it answers its own callers', cluster, kubelet, [
    ['POST /apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'some' } }],
    [
      'POST /apis/authorization.k8s.io/v1/subjectaccessreviews',
      { spec: { user: 'u', nonResourceAttributes: { path: '/metrics', verb: 'get' } } },
    ],
  ])
  const serving = keyAndRequest(cluster, '/O=system:nodes/CN=system:node:n1', '-addext', 'subjectAltName=DNS:n1')
  const renewed = keyAndRequest(cluster, '/O=system:nodes/CN=system:node:n1')
  await allowed(t, 'it requests its next certificates', cluster, kubelet, [
    [
      `POST ${signingRequests}`,
      {
        metadata: { name: 's' },
        spec: {
          request: serving.request,
          signerName: 'kubernetes.io/kubelet-serving',
          usages: ['digital signature', 'server auth'],
        },
      },
    ],
    [
      `POST ${signingRequests}`,
      {
        metadata: { name: 'r' },
        spec: {
          request: renewed.request,
          signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
          usages: clientUsages,
        },
      },
    ],
    `GET ${signingRequests}/r`,
  ])
  const mirror = {
    metadata: {
      name: 'static-n1',
      annotations: { 'kubernetes.io/config.mirror': 'x' },
      ownerReferences: [await ownerNode(cluster)],
    },
    spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'nginx:1' }] },
  }
  await allowed(t, 'static pods are mirrored, pods evicted and deleted', cluster, kubelet, [
    [`POST ${core}/pods`, mirror],
    `DELETE ${core}/pods/static-n1?gracePeriodSeconds=0`,
    [`POST ${core}/pods/web/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web' } }],
    `DELETE ${core}/pods/web?gracePeriodSeconds=0`,
    `DELETE ${slices}?fieldSelector=spec.nodeName%3Dn1`,
  ])
  await forbidden(t, 'objects of others are protected', cluster, kubelet, [
    'GET /api/v1/nodes',
    'GET /api/v1/nodes/n2',
    'GET /api/v1/pods',
    `GET ${core}/pods/other`,
    `GET ${core}/secrets`,
    `GET ${core}/secrets/theirs`,
    `GET ${leases}/n2`,
    `DELETE ${core}/pods/other?gracePeriodSeconds=0`,
    ['PATCH /api/v1/nodes/n2/status', ready],
    `GET ${slices}`,
    'GET /apis/apps/v1/deployments',
    `GET ${rbac}/clusterroles`,
  ])
})

/** A request for the token that the pod `web` projects. */
async function tokenRequest(cluster: TestCluster): Promise<object> {
  const { metadata } = await cluster.call('GET', `${core}/pods/web`)
  const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'web', uid: metadata.uid }
  return { spec: { audiences: ['vault'], expirationSeconds: 3600, boundObjectRef } }
}

async function ownerNode(cluster: TestCluster): Promise<object> {
  const { metadata } = await cluster.call('GET', '/api/v1/nodes/n1')
  return { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: metadata.uid, controller: true }
}

test('kube-proxy may send its requests with a certificate of system:kube-proxy', async (t) => {
  const cluster = await testCluster(t, { controllers: apiControllers })
  await cluster.call('POST', '/api/v1/nodes', { metadata: { name: 'n1' } })
  const { key, request } = keyAndRequest(cluster, '/CN=system:kube-proxy')
  const spec = { request, signerName: 'kubernetes.io/kube-apiserver-client', usages: clientUsages }
  const proxy = { key, cert: await approvedAndSigned(cluster, 'kube-proxy', spec) }
  const unlabelled = 'labelSelector=%21service.kubernetes.io%2Fheadless%2C%21service.kubernetes.io%2Fservice-proxy-name'
  await allowed(t, 'its informers list and watch', cluster, proxy, [
    'GET /api/v1/nodes/n1',
    ...listAndWatch('/api/v1/nodes?fieldSelector=metadata.name%3Dn1'),
    ...listAndWatch(`/api/v1/services?${unlabelled}`),
    ...listAndWatch(`/apis/discovery.k8s.io/v1/endpointslices?${unlabelled}`),
    ...listAndWatch('/apis/networking.k8s.io/v1/servicecidrs'),
  ])
  const regarding = { kind: 'Node', name: 'n1' }
  const started = {
    reason: 'Starting',
    action: 'StartKubeProxy',
    type: 'Normal',
    note: '',
    eventTime: '2026-01-01T00:00:00.000000Z',
  }
  const reporter = { reportingController: 'kube-proxy', reportingInstance: 'kube-proxy-n1' }
  await allowed(t, 'it records events', cluster, proxy, [
    [
      'POST /apis/events.k8s.io/v1/namespaces/default/events',
      { metadata: { name: 'n1.1' }, regarding, ...started, ...reporter },
    ],
    [
      'PATCH /apis/events.k8s.io/v1/namespaces/default/events/n1.1',
      { series: { count: 2, lastObservedTime: '2026-01-01T00:00:01.000000Z' } },
    ],
  ])
  await forbidden(t, 'no more', cluster, proxy, [
    'GET /api/v1/pods',
    'GET /api/v1/secrets',
    ['PATCH /api/v1/nodes/n1/status', ready],
    ['POST /api/v1/namespaces/default/services', { metadata: { name: 's' } }],
  ])
})

/** The administrator requests and approves. */
async function approvedAndSigned(cluster: TestCluster, name: string, spec: object): Promise<string> {
  const { key, cert } = cluster.client
  const admin = { key: String(key), cert: String(cert) }
  const made = await cluster.call('POST', signingRequests, { metadata: { name }, spec })
  const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'for the test' }
  await cluster.call('PUT', `${signingRequests}/${name}/approval`, { ...made, status: { conditions: [condition] } })
  return signedBy(cluster, admin, name, spec)
}
