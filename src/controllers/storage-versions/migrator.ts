/**
 * Carries out StorageVersionMigrations: each object of a resource is written once more without a change, so that it is stored in the
 * version, and encrypted by the key, of now (KEP-4192).
 */
import { type Controller, watched } from '../../client/controller/controller.ts'
import { discover } from '../../client/discovery/discovery.ts'
import { type StorageVersionMigration, storageVersionMigrations } from '../../client/kinds.ts'
import type { Resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { rfc3339 } from '../pods/times.ts'

type Condition = NonNullable<NonNullable<StorageVersionMigration['status']>['conditions']>[number]
type Stage = 'Running' | 'Succeeded' | 'Failed'

const name = 'storage-version-migrator-controller'
const reasons: Readonly<Record<Stage, string>> = {
  Running: 'StorageVersionMigrationInProgress',
  Succeeded: 'StorageVersionMigrationSucceeded',
  Failed: 'StorageVersionMigrationFailed',
}
/** A resource that is new may not be known yet: so long it is looked for, and so often. Milliseconds. */
const patienceMs = 60_000
const againMs = 5_000

export const storageVersionMigrator = (now: () => number = Date.now): Controller => ({
  name,
  concurrency: 5,
  watches: [watched({ resource: storageVersionMigrations })],
  async reconcile(key, { caches, client, again }) {
    const migration = caches.get(storageVersionMigrations, '', key)
    if (!migration || ['Succeeded', 'Failed'].some((stage) => holds(migration, stage))) return
    const { group, resource: plural } = migration.spec?.resource ?? { group: '', resource: '' }
    const { resources } = await discover(client)
    const resource = resources.find((one) => one.group === group && one.plural === plural && one.preferred)
    const isNew = Date.parse(migration.metadata.creationTimestamp ?? '') + patienceMs > now()
    if (!resource && isNew) return again(key, againMs)
    const tell = (of: StorageVersionMigration, stage: Stage, message = '') =>
      client.updateStatus(storageVersionMigrations, { ...of, status: { ...of.status, conditions: conditions(of, stage, message, now()) } })
    if (!resource) return void (await tell(migration, 'Failed', 'resource not found'))
    const { resourceVersion } = await client.list(resource, { metadataOnly: true })
    const running = await tell({ ...migration, status: { ...migration.status, resourceVersion } }, 'Running')
    const isDone = await writeAll(resource, client)
    await (isDone ? tell(running, 'Succeeded') : tell(running, 'Failed', 'migration encountered unhandled error'))
  },
})

/** Writes all objects without a change; resolves with whether that could be done. */
async function writeAll(resource: Resource, client: RestClient): Promise<boolean> {
  for await (const { items } of client.pages(resource, { metadataOnly: true }))
    for (const { metadata } of items) {
      const { name: object = '', namespace, uid, resourceVersion } = metadata
      try {
        await client.apply(resource, { metadata: { name: object, namespace, uid, resourceVersion } }, { fieldManager: name, force: false })
      } catch (error) {
        // Somebody has written it, which does as well, or it has gone.
        if (!(error instanceof StatusError)) throw error
        if (error.code !== 409 && error.code !== 404) return false
      }
    }
  return true
}

const holds = ({ status }: StorageVersionMigration, stage: string): boolean =>
  status?.conditions?.some((condition) => condition.type === stage && condition.status === 'True') ?? false

/** The conditions of a migration that has come this far. `now` is in milliseconds. */
function conditions(migration: StorageVersionMigration, stage: Stage, message: string, now: number): Condition[] {
  const before = migration.status?.conditions ?? []
  if (holds(migration, stage)) return [...before]
  const lastTransitionTime = rfc3339(now)
  return [
    ...before.map((condition) => (condition.type === 'Running' ? { ...condition, status: 'False', lastTransitionTime } : condition)),
    { type: stage, status: 'True', reason: reasons[stage], message, lastTransitionTime },
  ]
}
