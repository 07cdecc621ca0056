/** A volume whose claim is not in the cache of the binder yet is not released and retains its data. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { persistentVolumeClaims } from '../../../src/client/kinds.ts'
import { volumeBinder } from '../../../src/controllers/volumes/binder/controller.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { temporaryFolder } from '../../up/t8s-process.ts'
import { PausedWatches } from '../restarts/paused-watches.ts'
import { Storage } from './storage.ts'

test('a volume provisioned externally is retained although its claim is observed later', async (t) => {
  const cluster = await testCluster(t, { controllers: ['serviceaccount'] })
  const all = await Storage.in(cluster, 'late')
  const hostPath = { enabled: true, directory: temporaryFolder(t) }
  const options = { syncPeriodMs: 50, dynamicProvisioning: true, hostPath, now: Date.now }
  const watches = PausedWatches.of(t, cluster.client, persistentVolumeClaims, () => [volumeBinder(options)])
  await all.claim('seen')
  await all.claimIn('Pending', 'seen')
  watches.pause()
  const path = join(hostPath.directory, 'v')
  mkdirSync(path)
  const { metadata } = await all.claim('c', { volumeName: 'v' })
  const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace: 'late', name: 'c', uid: metadata.uid }
  await all.volume('v', { persistentVolumeReclaimPolicy: 'Delete', hostPath: { path }, claimRef })
  await all.volumeIn('Bound', 'v')
  watches.resume()
  await all.claimIn('Bound', 'c')
  assert.ok(existsSync(path))
})
