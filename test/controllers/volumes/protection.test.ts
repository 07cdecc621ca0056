/** Claims and volumes are deleted when they are not in use, and not earlier. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

const core = '/api/v1/namespaces/default'
const capacity = { storage: '1Gi' }
const claim = (name: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: capacity }, storageClassName: '' },
})

test('a deleted claim remains while a pod uses it', async (t) => {
  const cluster = await testCluster(t)
  const isDeleted = (path: string): Promise<boolean> =>
    cluster.call('GET', path).then(
      () => false,
      (error) => String(error).includes(' 404 '),
    )
  for (const name of ['free', 'used']) await cluster.call('POST', `${core}/persistentvolumeclaims`, claim(name))
  await cluster.call('POST', `${core}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: {
      nodeName: 'n',
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'used' } }],
    },
  })
  for (const name of ['free', 'used']) await cluster.call('DELETE', `${core}/persistentvolumeclaims/${name}`)
  await waitFor('the free claim to be deleted', () => isDeleted(`${core}/persistentvolumeclaims/free`))
  assert.equal(await isDeleted(`${core}/persistentvolumeclaims/used`), false)
  await cluster.call('DELETE', `${core}/pods/p?gracePeriodSeconds=0`)
  await waitFor('the used claim to be deleted', () => isDeleted(`${core}/persistentvolumeclaims/used`))
})

test('a deleted volume remains while it is bound', async (t) => {
  const cluster = await testCluster(t, { controllers: ['pv-protection'] })
  const spec = { capacity, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/v' } }
  for (const name of ['free', 'bound'])
    await cluster.call('POST', '/api/v1/persistentvolumes', {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec,
    })
  await cluster.call(
    'PATCH',
    '/api/v1/persistentvolumes/bound/status',
    { status: { phase: 'Bound' } },
    'application/merge-patch+json',
  )
  for (const name of ['free', 'bound']) await cluster.call('DELETE', `/api/v1/persistentvolumes/${name}`)
  const left = await waitFor('the free volume to be deleted', async () => {
    const { items } = (await cluster.call('GET', '/api/v1/persistentvolumes')) as unknown as {
      items: { metadata: { name: string } }[]
    }
    return items.length === 1 ? items : undefined
  })
  assert.equal(left[0]?.metadata.name, 'bound')
})

test('a removed finalizer of a claim or volume is restored', async (t) => {
  const cluster = await testCluster(t, { controllers: ['pvc-protection', 'pv-protection'] })
  const spec = { capacity, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/v' } }
  await cluster.call('POST', `${core}/persistentvolumeclaims`, claim('c'))
  await cluster.call('POST', '/api/v1/persistentvolumes', {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'v' },
    spec,
  })
  for (const [path, finalizer] of [
    [`${core}/persistentvolumeclaims/c`, 'kubernetes.io/pvc-protection'],
    ['/api/v1/persistentvolumes/v', 'kubernetes.io/pv-protection'],
  ] as const) {
    await cluster.call('PATCH', path, { metadata: { finalizers: null } }, 'application/merge-patch+json')
    await waitFor(`${finalizer} to be back`, async () => {
      const { metadata } = (await cluster.call('GET', path)) as unknown as { metadata: { finalizers?: string[] } }
      return metadata.finalizers?.includes(finalizer)
    })
  }
})

test('a deleted VolumeAttributesClass remains while it is referenced', async (t) => {
  const cluster = await testCluster(t, {
    controllers: ['volumeattributesclass-protection-controller', 'pvc-protection'],
  })
  const path = '/apis/storage.k8s.io/v1/volumeattributesclasses'
  for (const name of ['gold', 'free'])
    await cluster.call('POST', path, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttributesClass',
      metadata: { name },
      driverName: 'csi.example.com',
      parameters: { iops: '1' },
    })
  const { spec, ...rest } = claim('named')
  await cluster.call('POST', `${core}/persistentvolumeclaims`, {
    ...rest,
    spec: { ...spec, volumeAttributesClassName: 'gold' },
  })
  for (const name of ['gold', 'free']) await cluster.call('DELETE', `${path}/${name}`)
  const names = async (): Promise<string[]> => {
    const { items } = (await cluster.call('GET', path)) as unknown as { items: { metadata: { name: string } }[] }
    return items.map(({ metadata }) => metadata.name)
  }
  await waitFor('the free class to be deleted', async () => !(await names()).includes('free'))
  assert.deepEqual(await names(), ['gold'])
  await cluster.call('DELETE', `${core}/persistentvolumeclaims/named`)
  await waitFor('the named class to be deleted', async () => (await names()).length === 0)
})
