/**
 * Carries out StorageVersionMigrations: rewrites each object of a resource without a change, so that it is stored in
 * the current version and encrypted with the current key (KEP-4192). Migrations of one resource run one at a time, the
 * oldest first. Each step writes the status, which triggers the next step.
 */
import { type Caches, type Controller, watch } from '../../client/controller/controller.ts'
import { discover } from '../../client/discovery/discovery.ts'
import { type StorageVersionMigration, storageVersionMigrations } from '../../client/kinds.ts'
import type { Resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { rfc3339 } from '../pods/times.ts'
import { markMigrated, markMigrating } from './migrated-definition.ts'

type Condition = NonNullable<NonNullable<StorageVersionMigration['status']>['conditions']>[number]
type Outcome = 'Succeeded' | 'Failed'

const name = 'storage-version-migrator-controller'
const reasons: Readonly<Record<Outcome, string>> = {
  Succeeded: 'StorageVersionMigrationSucceeded',
  Failed: 'StorageVersionMigrationFailed',
}
/** Time and interval in which a new resource is looked up in discovery, in ms. */
const discoveryTimeoutMs = 60_000
const retryAfterMs = 5_000

export const storageVersionMigrator = (now: () => number = Date.now): Controller => ({
  name,
  concurrency: 5,
  // A change of a migration may unblock others of the same resource.
  watches: [
    watch({
      resource: storageVersionMigrations,
      keys: (migration, caches) => sameResource(migration, caches).map(({ metadata }) => metadata.name ?? ''),
    }),
  ],
  async reconcile(key, { caches, client, requeue }) {
    const migration = caches.get(storageVersionMigrations, '', key)
    if (!migration) return
    const time = rfc3339(now())
    if (hasEnded(migration)) return isTrue(migration, 'Running') ? cleanUp(migration, client, time) : undefined
    if (!isTrue(migration, 'Running')) return isNext(migration, caches) ? begin(migration, client, time) : undefined
    const end = (outcome: Outcome, message = '') =>
      setCondition(
        migration,
        { type: outcome, status: 'True', reason: reasons[outcome], message, lastTransitionTime: time },
        client,
      )
    const { group, resource: plural } = migration.spec?.resource ?? { group: '', resource: '' }
    const { resources } = await discover(client)
    const resource = resources.find((one) => one.group === group && one.plural === plural && one.preferred)
    const isNew = Date.parse(migration.metadata.creationTimestamp ?? '') + discoveryTimeoutMs > now()
    if (!resource && isNew) return requeue(key, retryAfterMs, { isRealTime: true })
    if (!resource) return end('Failed', 'resource not found')
    if (!migration.status?.resourceVersion) return recordVersion(migration, resource, client)
    const failure = await writeAll(resource, client)
    await (failure ? end('Failed', `migration encountered unhandled error: ${failure.message}`) : end('Succeeded'))
  },
})

/** Sets the Running condition, first in the definition of the migrated resource. */
async function begin(migration: StorageVersionMigration, client: RestClient, now: string): Promise<void> {
  await markMigrating(migration, client, now)
  await setCondition(
    migration,
    {
      type: 'Running',
      status: 'True',
      reason: 'MigrationRunning',
      message: 'The migration is running',
      lastTransitionTime: now,
    },
    client,
  )
}

/** Records the current resourceVersion: objects written later are already migrated. */
async function recordVersion(
  migration: StorageVersionMigration,
  resource: Resource,
  client: RestClient,
): Promise<void> {
  const { resourceVersion } = await client.list(resource, { metadataOnly: true })
  await client.updateStatus(storageVersionMigrations, {
    ...migration,
    status: { ...migration.status, resourceVersion },
  })
}

/** Clears the Running condition, first in the definition of the migrated resource. */
async function cleanUp(migration: StorageVersionMigration, client: RestClient, now: string): Promise<void> {
  await markMigrated(migration, isTrue(migration, 'Succeeded'), client, now)
  await setCondition(
    migration,
    {
      type: 'Running',
      status: 'False',
      reason: 'MigrationCompleted',
      message: 'Migration completed',
      lastTransitionTime: now,
    },
    client,
  )
}

/** Rewrites all objects without a change; resolves with a permanent error, if any. Rejects with errors to retry. */
async function writeAll(resource: Resource, client: RestClient): Promise<StatusError | undefined> {
  for await (const { items } of client.pages(resource, { metadataOnly: true }))
    for (const { metadata } of items) {
      const { name: object = '', namespace, uid, resourceVersion } = metadata
      try {
        await client.apply(
          resource,
          { metadata: { name: object, namespace, uid, resourceVersion } },
          { fieldManager: name, force: false },
        )
      } catch (error) {
        if (!(error instanceof StatusError) || error.code === 429 || error.code >= 500) throw error
        // The object was written by someone else, which suffices, or deleted.
        if (error.code !== 409 && error.code !== 404) return error
      }
    }
  return undefined
}

const isTrue = ({ status }: StorageVersionMigration, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false

const hasEnded = (migration: StorageVersionMigration): boolean =>
  isTrue(migration, 'Succeeded') || isTrue(migration, 'Failed')

function sameResource({ spec }: StorageVersionMigration, caches: Caches): StorageVersionMigration[] {
  const { group = '', resource } = spec?.resource ?? {}
  return [...caches.all(storageVersionMigrations)].filter(
    ({ spec: other }) => other?.resource.resource === resource && (other?.resource.group ?? '') === group,
  )
}

/** Returns true if no migration of the same resource runs and no waiting one is older. */
function isNext(migration: StorageVersionMigration, caches: Caches): boolean {
  const all = sameResource(migration, caches)
  if (all.some((other) => isTrue(other, 'Running'))) return false
  const place = ({ metadata }: StorageVersionMigration): string => `${metadata.creationTimestamp} ${metadata.name}`
  return all.every((other) => hasEnded(other) || place(other) >= place(migration))
}

/** Sets a condition of a migration. */
async function setCondition(
  migration: StorageVersionMigration,
  condition: Condition,
  client: RestClient,
): Promise<void> {
  const previous = migration.status?.conditions ?? []
  const exists = previous.some(({ type }) => type === condition.type)
  const conditions = exists
    ? previous.map((one) => (one.type === condition.type ? condition : one))
    : [...previous, condition]
  await client.updateStatus(storageVersionMigrations, { ...migration, status: { ...migration.status, conditions } })
}
