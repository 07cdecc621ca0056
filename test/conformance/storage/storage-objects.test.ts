/**
 * Tests of the conformance suite for objects of storage: `csi_inline.go`, `csi_node.go`, `persistent_volumes.go`,
 * `storageclass.go`, `volume_attachment.go` and `volumeattributesclass.go` of `test/e2e/storage`.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { PersistentVolume, PersistentVolumeClaim, VolumeAttachment } from '../../../src/client/kinds.ts'
import type { KubeObject } from '../../../src/machinery/object.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { names, Requests, refused } from '../support/requests.ts'

const cluster = testCluster({ after }, { nodes: 1 })
const requests = async (namespace: string): Promise<Requests> => Requests.in(await cluster, namespace)
const storage = '/apis/storage.k8s.io/v1'

test('CSIInlineVolumes should support CSIVolumeSource in Pod API', async () => {
  const api = await requests('inline-volumes')
  const name = 'pod-csi-inline-volumes'
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      volumes: [
        { name: 'vol1', csi: { driver: 'e2e.example.com' } },
        { name: 'vol2', csi: { driver: 'e2e.example.com', fsType: 'ext4', readOnly: true } },
      ],
      containers: [
        {
          name,
          image: 'busybox:1',
          volumeMounts: [
            { name: 'vol1', mountPath: '/mnt/vol1' },
            { name: 'vol2', mountPath: '/mnt/vol2' },
          ],
        },
      ],
    },
  }
  const created = await api.post(`${api.core}/pods`, pod)
  assert.match(await refused(409, api.post(`${api.core}/pods`, pod)), /AlreadyExists/)
  assert.equal((await api.get(`${api.core}/pods/${name}`)).metadata.uid, created.metadata.uid)
  assert.equal((await api.list(`${api.core}/pods`)).length, 1)
  const patched = await api.patch(`${api.core}/pods/${name}`, { metadata: { annotations: { patched: 'true' } } })
  assert.equal(patched.metadata.annotations?.patched, 'true')
  await api.delete(`${api.core}/pods/${name}`)
  await api.gone(`${api.core}/pods/${name}`)
})

test('CSIInlineVolumes should run through the lifecycle of a CSIDriver', async () => {
  const api = await requests('csi-driver')
  const labels = { 'e2e-test': 'csi-driver' }
  const driver = (name: string, volumeLifecycleModes: readonly string[]) => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name, labels },
    spec: { volumeLifecycleModes, fsGroupPolicy: 'ReadWriteOnceWithFSType' },
  })
  const path = `${storage}/csidrivers`
  const first = await api.post(path, driver('inline-driver-1', ['Ephemeral']))
  const second = await api.post(path, driver('inline-driver-2', ['Persistent', 'Ephemeral']))
  await refused(409, api.post(path, driver('inline-driver-1', ['Ephemeral'])))
  for (const { metadata } of [first, second])
    assert.equal((await api.get(`${path}/${metadata.name}`)).metadata.uid, metadata.uid)
  const at = `${path}/inline-driver-2`
  assert.equal(
    (await api.patch(at, { metadata: { labels: { 'inline-driver-2': 'patched' } } }, 'strategic')).metadata.labels?.[
      'inline-driver-2'
    ],
    'patched',
  )
  await labelled(api, at, { 'inline-driver-2': 'updated' })
  assert.equal((await api.list(`${path}?labelSelector=e2e-test%3Dcsi-driver`)).length, 2)
  await api.delete(`${path}/inline-driver-1`)
  await api.gone(`${path}/inline-driver-1`)
  await api.delete(`${path}?labelSelector=inline-driver-2%3Dupdated`)
  await api.gone(at)
})

/** Adds labels to an object. */
async function labelled<T extends KubeObject>(api: Requests, path: string, labels: Record<string, string>): Promise<T> {
  const updated = await api.update<T>(path, (object) => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } },
  }))
  for (const [key, value] of Object.entries(labels)) assert.equal(updated.metadata.labels?.[key], value)
  return updated
}

for (const [title, kind, plural, name, rest, patchType] of [
  [
    'StorageClasses CSI Conformance should run through the lifecycle of a StorageClass',
    'StorageClass',
    'storageclasses',
    'e2e-class',
    { provisioner: 'e2e-fake-provisioner' },
    'strategic',
  ],
  [
    'CSINodes CSI Conformance should run through the lifecycle of a csinode',
    'CSINode',
    'csinodes',
    'e2e-csinode',
    { spec: { drivers: null } },
    'strategic',
  ],
  [
    'VolumeAttributesClass should run through the lifecycle of a VolumeAttributesClass',
    'VolumeAttributesClass',
    'volumeattributesclasses',
    'e2e-attributes',
    { driverName: 'e2e-fake-driver', parameters: { foo: 'bar' } },
    'strategic',
  ],
] as const)
  test(title, async () => {
    const api = await requests(plural)
    const path = `${storage}/${plural}`
    const make = (index: number, labels?: Record<string, string>) =>
      api.post(path, {
        apiVersion: 'storage.k8s.io/v1',
        kind,
        metadata: { name: `${name}-${index}`, creationTimestamp: null, ...(labels && { labels }) },
        ...rest,
      })
    const first = await make(1)
    assert.equal((await api.get(`${path}/${name}-1`)).metadata.uid, first.metadata.uid)
    const patched = await api.patch(
      `${path}/${name}-1`,
      { metadata: { labels: { [`${name}-1`]: 'patched' } } },
      patchType,
    )
    assert.equal(patched.metadata.labels?.[`${name}-1`], 'patched')
    assert.equal((await api.list(`${path}?labelSelector=${name}-1%3Dpatched`)).length, 1)
    await api.delete(`${path}/${name}-1`)
    await api.gone(`${path}/${name}-1`)
    await make(2)
    await labelled(api, `${path}/${name}-2`, { [name]: 'updated' })
    const updated = `${path}?labelSelector=${name}%3Dupdated`
    assert.deepEqual(names(await api.list(updated)), [`${name}-2`])
    await api.delete(updated)
    await waitFor('them to go', async () => (await api.list(updated)).length === 0)
  })

const attachment = (name: string) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttachment',
  // A client's uid is ignored.
  metadata: { name, uid: name, creationTimestamp: null },
  spec: { attacher: 'e2e-test.storage.k8s.io', nodeName: 'node-1', source: { persistentVolumeName: `pv-${name}` } },
  status: { attached: false },
})

test('VolumeAttachment Conformance should run through the lifecycle of a VolumeAttachment', async () => {
  const api = await requests('attachments')
  const path = `${storage}/volumeattachments`
  await api.post(path, attachment('va-1'))
  const { metadata } = await api.get(`${path}/va-1`)
  const patched = await api.patch(`${path}/va-1`, { metadata: { labels: { 'va-1': 'patched' } } })
  assert.ok(BigInt(patched.metadata.resourceVersion ?? 0) > BigInt(metadata.resourceVersion ?? 0))
  const selected = `${path}?labelSelector=va-1%3Dpatched`
  assert.equal((await api.list(selected)).length, 1)
  await api.delete(`${path}/va-1`)
  await waitFor('it to go', async () => (await api.list(selected)).length === 0)
  for (const name of ['va-2', 'va-3']) {
    await api.post(path, attachment(name))
    await labelled(api, `${path}/${name}`, { 'va-e2e': 'updated' })
  }
  await api.delete(`${path}?labelSelector=va-e2e%3Dupdated`)
  await waitFor('them to go', async () => (await api.list(`${path}?labelSelector=va-e2e%3Dupdated`)).length === 0)
})

test('VolumeAttachment Conformance should apply changes to a volumeattachment status', async () => {
  const api = await requests('attachment-status')
  const path = `${storage}/volumeattachments/va-4`
  await api.post(`${storage}/volumeattachments`, attachment('va-4'))
  await api.patch(path, { metadata: { labels: { 'va-4': 'patched' } } })
  assert.equal((await api.get<VolumeAttachment>(`${path}/status`)).status?.attached, false)
  const patched = await api.patch<VolumeAttachment>(`${path}/status`, { status: { attached: true } })
  assert.equal(patched.status?.attached, true)
  const updated = await api.update<VolumeAttachment>(
    path,
    (it) => ({ ...it, status: { ...it.status, attached: false } }),
    `${path}/status`,
  )
  assert.equal(updated.status?.attached, false)
  await api.delete(path)
  await api.gone(path)
})

const csi = { driver: 'e2e-driver', volumeHandle: 'e2e-conformance' }
const volumes = '/api/v1/persistentvolumes'

/** Creates a volume and a claim for it, of a class without a provisioner. */
async function volumeAndClaim(api: Requests, name: string): Promise<void> {
  await api.post(volumes, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: `pv-${name}`,
      labels: { 'e2e-pv-pool': api.namespace },
      annotations: { 'volume.beta.kubernetes.io/gid': '777' },
    },
    spec: {
      persistentVolumeReclaimPolicy: 'Retain',
      capacity: { storage: '2Gi' },
      accessModes: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany'],
      storageClassName: api.namespace,
      volumeMode: 'Filesystem',
      csi,
    },
    status: {},
  })
  await api.post(`${api.core}/persistentvolumeclaims`, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { generateName: 'pvc-', namespace: api.namespace },
    spec: {
      accessModes: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: api.namespace,
      volumeMode: 'Filesystem',
    },
    status: {},
  })
}

test('PersistentVolumes CSI Conformance should run through the lifecycle of a PV and a PVC', async () => {
  const api = await requests('volume-life')
  const claims = `${api.core}/persistentvolumeclaims`
  const pool = `${volumes}?labelSelector=e2e-pv-pool%3Dvolume-life`
  await volumeAndClaim(api, 'first')
  const [volume, ...others] = await api.list<PersistentVolume>(pool)
  const [claim] = await api.list<PersistentVolumeClaim>(claims)
  assert.deepEqual([volume?.metadata.name, others.length], ['pv-first', 0])
  const claimName = claim?.metadata.name ?? ''
  for (const [path, name] of [
    [volumes, 'pv-first'],
    [claims, claimName],
  ] as const) {
    const patched = await api.patch(`${path}/${name}`, { metadata: { labels: { [name]: 'patched' } } }, 'strategic')
    assert.equal(patched.metadata.labels?.[name], 'patched')
    assert.equal((await api.get(`${path}/${name}`)).metadata.uid, patched.metadata.uid)
  }
  await api.delete(`${claims}/${claimName}`)
  await waitFor('the claim to go', async () => (await api.list(claims)).length === 0)
  await api.delete(`${volumes}/pv-first`)
  await waitFor('the volume to go', async () => (await api.list(pool)).length === 0)

  await volumeAndClaim(api, 'second')
  await labelled(api, `${volumes}/pv-second`, { 'pv-second': 'updated' })
  const [next] = await api.list(claims)
  const nextName = next?.metadata.name ?? ''
  await labelled(api, `${claims}/${nextName}`, { [nextName]: 'updated' })
  assert.equal((await api.list(`/api/v1/persistentvolumeclaims?labelSelector=${nextName}%3Dupdated`)).length, 1)
  await api.delete(`${claims}?labelSelector=${nextName}%3Dupdated`)
  await waitFor('the claim to go', async () => (await api.list(claims)).length === 0)
  await api.delete(`${volumes}?labelSelector=pv-second%3Dupdated`)
  await waitFor('the volume to go', async () => (await api.list(pool)).length === 0)
})

test('PersistentVolumes CSI Conformance should apply changes to a pv/pvc status', async () => {
  const api = await requests('volume-status')
  await volumeAndClaim(api, 'status')
  const [claim] = await api.list(`${api.core}/persistentvolumeclaims`)
  const at = { claim: `${api.core}/persistentvolumeclaims/${claim?.metadata.name}`, volume: `${volumes}/pv-status` }
  assert.match((await api.get<PersistentVolumeClaim>(`${at.claim}/status`)).status?.phase ?? '', /^(Pending|Bound)$/)
  assert.match(
    (await api.get<PersistentVolume>(`${at.volume}/status`)).status?.phase ?? '',
    /^(Available|Bound|Pending)$/,
  )
  const condition = (type: string, reason: string) => ({ type, status: 'True', reason, message: 'Set from e2e test' })
  const patched = await api.patch<PersistentVolumeClaim>(`${at.claim}/status`, {
    status: { conditions: [condition('StatusPatched', 'E2E patchedStatus')] },
  })
  assert.deepEqual(
    patched.status?.conditions?.map(({ type, reason }) => [type, reason]),
    [['StatusPatched', 'E2E patchedStatus']],
  )
  const withStatus = await api.patch<PersistentVolume>(`${at.volume}/status`, {
    status: { message: 'StatusPatched', reason: 'E2E patchStatus' },
  })
  assert.deepEqual([withStatus.status?.message, withStatus.status?.reason], ['StatusPatched', 'E2E patchStatus'])
  const updated = await api.update<PersistentVolumeClaim>(
    at.claim,
    (it) => ({
      ...it,
      status: {
        ...it.status,
        conditions: [...(it.status?.conditions ?? []), condition('StatusUpdated', 'E2E updatedStatus')],
      },
    }),
    `${at.claim}/status`,
  )
  assert.ok(
    updated.status?.conditions?.some(({ type, reason }) => type === 'StatusUpdated' && reason === 'E2E updatedStatus'),
  )
  const volume = await api.update<PersistentVolume>(
    at.volume,
    (it) => ({ ...it, status: { ...it.status, message: 'StatusUpdated', reason: 'E2E updateStatus' } }),
    `${at.volume}/status`,
  )
  assert.deepEqual([volume.status?.message, volume.status?.reason], ['StatusUpdated', 'E2E updateStatus'])
})
