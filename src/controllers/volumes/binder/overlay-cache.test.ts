import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PersistentVolume, persistentVolumes } from '../../../client/kinds.ts'
import { volumeOf } from './binder.fixture.ts'
import { OverlayCache } from './overlay-cache.ts'

const at = (resourceVersion: string): PersistentVolume =>
  volumeOf('v', {}, { metadata: { name: 'v', resourceVersion } })

/** The version of the volume that is returned if the cache has `cached`. */
function versionIn(overlay: OverlayCache<PersistentVolume>, cached?: PersistentVolume): string | undefined {
  return overlay.get({ get: <T>() => cached as T | undefined }, '', 'v')?.metadata.resourceVersion
}

test('a written object is returned until the cache has it', () => {
  const overlay = new OverlayCache(persistentVolumes)
  overlay.recordUpdate(at('9'))
  assert.equal(versionIn(overlay, at('8')), '9')
  assert.equal(versionIn(overlay, at('10')), '10')
  overlay.observe(at('10'), at('8'))
  assert.equal(versionIn(overlay, at('8')), '8')
})

test('a deleted object is not returned, a created one is returned before the cache has it', () => {
  const overlay = new OverlayCache(persistentVolumes)
  overlay.recordUpdate(at('9'))
  assert.equal(versionIn(overlay), undefined)
  overlay.recordCreation(at('11'))
  overlay.recordUpdate(at('12'))
  assert.equal(versionIn(overlay), '12')
  overlay.observe(undefined, at('12'))
  assert.equal(versionIn(overlay), undefined)
})
