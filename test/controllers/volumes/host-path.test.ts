/** The host path provisioner and its class. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Lifetime } from '../../support/reachable-cluster.ts'
import { type TestCluster, testCluster } from '../../support/test-cluster.ts'
import { Storage, volumesPath } from './storage.ts'

const controllers = [
  'persistentvolume-binder',
  'pvc-protection',
  'pv-protection',
  'persistentvolume-expander',
  'serviceaccount',
]
const standard = '/apis/storage.k8s.io/v1/storageclasses/standard'

const started = (t: Lifetime, directory?: string): Promise<TestCluster> =>
  testCluster(t, {
    controllers,
    controllerFlags: { 'enable-hostpath-provisioner': 'true' },
    ...(directory && { storage: { directory } }),
  })

test('a claim without a class gets a directory, which is deleted with it', async (t) => {
  const all = await Storage.in(await started(t), 'directories')
  await all.claim('c', { storageClassName: undefined })
  const claim = await all.claimIn('Bound', 'c')
  assert.equal(claim.spec?.storageClassName, 'standard')
  const name = `pvc-${claim.metadata.uid}`
  const { spec, metadata } = await all.volumeIn('Bound', name)
  assert.equal(metadata.annotations?.['pv.kubernetes.io/provisioned-by'], 'kubernetes.io/host-path')
  assert.deepEqual(metadata.finalizers?.toSorted(), ['kubernetes.io/pv-controller', 'kubernetes.io/pv-protection'])
  const path = spec?.hostPath?.path ?? ''
  assert.equal(statSync(path).mode & 0o777, 0o777)
  assert.equal(
    (await all.event('c', 'ProvisioningSucceeded')).message,
    `Successfully provisioned volume ${name} using kubernetes.io/host-path`,
  )
  await all.cluster.call('DELETE', `${all.claims}/c`)
  await all.deletionOf(`${volumesPath}/${name}`)
  assert.equal(existsSync(path), false)
})

test('a host path volume expands with its claim', async (t) => {
  const all = await Storage.in(await started(t), 'grows')
  await all.patch(standard, { allowVolumeExpansion: true })
  await all.claim('c', { storageClassName: 'standard' })
  const claim = await all.claimIn('Bound', 'c')
  await all.patch(`${all.claims}/c`, { spec: { resources: { requests: { storage: '3Gi' } } } })
  await all.event('c', 'VolumeResizeSuccessful')
  assert.deepEqual((await all.claimIn('Bound', 'c')).status?.capacity, { storage: '3Gi' })
  assert.deepEqual((await all.volumeIn('Bound', claim.spec?.volumeName ?? '')).spec?.capacity, { storage: '3Gi' })
})

test('only directories of the provisioner are deleted', async (t) => {
  const all = await Storage.in(await started(t), 'others')
  const path = mkdtempSync(join(tmpdir(), 'typernetes-others-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  await all.volume('others', { persistentVolumeReclaimPolicy: 'Delete', hostPath: { path } })
  await all.claim('c')
  await all.claimIn('Bound', 'c')
  await all.cluster.call('DELETE', `${all.claims}/c`)
  assert.match(
    (await all.volumeIn('Failed', 'others')).status?.message ?? '',
    /^host_path deleter only supports .* but received provided /,
  )
  assert.equal(existsSync(path), true)
})

test('the class is created once and not recreated after a deletion', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'typernetes-class-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const first = await started(t, directory)
  await first.call('DELETE', standard)
  await first.stop({ graceMs: 0 })
  const second = await started(t, directory)
  await assert.rejects(second.call('GET', standard), / 404 /)
})

test('without the flag no class is created', async (t) => {
  const { call } = await testCluster(t, { controllers: [] })
  await assert.rejects(call('GET', standard), / 404 /)
})
