import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PersistentVolume, persistentVolumes } from '../../../client/kinds.ts'
import { volumeOf } from './binder-fixture.ts'
import { Latest } from './latest.ts'

const at = (resourceVersion: string): PersistentVolume =>
  volumeOf('v', {}, { metadata: { name: 'v', resourceVersion } })

/** What is seen of a volume that the cache has in that version. */
function seen(latest: Latest<PersistentVolume>, cached?: PersistentVolume): string | undefined {
  return latest.get({ get: <T>() => cached as T | undefined }, '', 'v')?.metadata.resourceVersion
}

test('what was written is seen until the cache has it', () => {
  const latest = new Latest(persistentVolumes)
  latest.wrote(at('9'))
  assert.equal(seen(latest, at('8')), '9')
  assert.equal(seen(latest, at('10')), '10')
  latest.changed(at('10'), at('8'))
  assert.equal(seen(latest, at('8')), '8')
})

test('what is gone from the cache is gone, what was made is not there yet', () => {
  const latest = new Latest(persistentVolumes)
  latest.wrote(at('9'))
  assert.equal(seen(latest), undefined)
  latest.made(at('11'))
  latest.wrote(at('12'))
  assert.equal(seen(latest), '12')
  latest.changed(undefined, at('12'))
  assert.equal(seen(latest), undefined)
})
