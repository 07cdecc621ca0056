/** A volume whose claim the binder does not see yet: it is not given back, and keeps its data. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { persistentVolumeClaims } from '../../../src/client/kinds.ts'
import { volumeBinder } from '../../../src/controllers/volumes/binder/controller.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { temporaryFolder } from '../../up/t8s-process.ts'
import { Hearing } from '../hearing.ts'
import { Storage } from './storage.ts'

test('a volume that others made for a claim is kept though the claim is seen later', async (t) => {
  const cluster = await testCluster(t, { controllers: ['serviceaccount'] })
  const all = await Storage.in(cluster, 'late')
  const hostPath = { enabled: true, directory: temporaryFolder(t) }
  const options = { syncPeriodMs: 50, dynamicProvisioning: true, hostPath, now: Date.now }
  const hearing = Hearing.of(t, cluster.client, persistentVolumeClaims, () => [volumeBinder(options)])
  await all.claim('seen')
  await all.claimIn('Pending', 'seen')
  hearing.deafen()
  const path = join(hostPath.directory, 'v')
  mkdirSync(path)
  const { metadata } = await all.claim('c', { volumeName: 'v' })
  const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace: 'late', name: 'c', uid: metadata.uid }
  await all.volume('v', { persistentVolumeReclaimPolicy: 'Delete', hostPath: { path }, claimRef })
  await all.volumeIn('Bound', 'v')
  hearing.hear()
  await all.claimIn('Bound', 'c')
  assert.ok(existsSync(path))
})
