/**
 * Carries out StorageVersionMigrations: each object of a resource is written once more without a change, so that it is
 * stored in the version, and encrypted by the key, of now (KEP-4192). Of one resource the oldest runs, and the others
 * wait. Each step is noted, and its note brings the next.
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
/** A resource that is new may not be known yet: so long it is looked for, and so often. Milliseconds. */
const patienceMs = 60_000
const againMs = 5_000

export const storageVersionMigrator = (now: () => number = Date.now): Controller => ({
  name,
  concurrency: 5,
  // What becomes of one may be what others have waited for.
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
    if (hasEnded(migration)) return holds(migration, 'Running') ? cleanUp(migration, client, time) : undefined
    if (!holds(migration, 'Running')) return isNext(migration, caches) ? begin(migration, client, time) : undefined
    const end = (outcome: Outcome, message = '') =>
      tell(
        migration,
        { type: outcome, status: 'True', reason: reasons[outcome], message, lastTransitionTime: time },
        client,
      )
    const { group, resource: plural } = migration.spec?.resource ?? { group: '', resource: '' }
    const { resources } = await discover(client)
    const resource = resources.find((one) => one.group === group && one.plural === plural && one.preferred)
    const isNew = Date.parse(migration.metadata.creationTimestamp ?? '') + patienceMs > now()
    if (!resource && isNew) return requeue(key, againMs)
    if (!resource) return end('Failed', 'resource not found')
    if (!migration.status?.resourceVersion) return noteVersion(migration, resource, client)
    const refusal = await writeAll(resource, client)
    await (refusal ? end('Failed', `migration encountered unhandled error: ${refusal.message}`) : end('Succeeded'))
  },
})

/** Says that it runs, first of all in the definition of what is migrated. */
async function begin(migration: StorageVersionMigration, client: RestClient, now: string): Promise<void> {
  await markMigrating(migration, client, now)
  await tell(
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

/** Notes how far the store has come: what is written from now on is as it should be. */
async function noteVersion(migration: StorageVersionMigration, resource: Resource, client: RestClient): Promise<void> {
  const { resourceVersion } = await client.list(resource, { metadataOnly: true })
  await client.updateStatus(storageVersionMigrations, {
    ...migration,
    status: { ...migration.status, resourceVersion },
  })
}

/** Says that it no longer runs, first of all in the definition of what was migrated. */
async function cleanUp(migration: StorageVersionMigration, client: RestClient, now: string): Promise<void> {
  await markMigrated(migration, holds(migration, 'Succeeded'), client, now)
  await tell(
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

/**
 * Writes all objects without a change; resolves with the refusal that ended it, if one did. What may go better later is
 * thrown, to be tried again.
 */
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
        // Somebody has written it, which does as well, or it has gone.
        if (error.code !== 409 && error.code !== 404) return error
      }
    }
  return undefined
}

const holds = ({ status }: StorageVersionMigration, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false

const hasEnded = (migration: StorageVersionMigration): boolean =>
  holds(migration, 'Succeeded') || holds(migration, 'Failed')

function sameResource({ spec }: StorageVersionMigration, caches: Caches): StorageVersionMigration[] {
  const { group = '', resource } = spec?.resource ?? {}
  return [...caches.all(storageVersionMigrations)].filter(
    ({ spec: other }) => other?.resource.resource === resource && (other?.resource.group ?? '') === group,
  )
}

/** Whether none of the same resource runs, and none that waits is older. */
function isNext(migration: StorageVersionMigration, caches: Caches): boolean {
  const all = sameResource(migration, caches)
  if (all.some((other) => holds(other, 'Running'))) return false
  const place = ({ metadata }: StorageVersionMigration): string => `${metadata.creationTimestamp} ${metadata.name}`
  return all.every((other) => hasEnded(other) || place(other) >= place(migration))
}

/** Sets one of its conditions. */
async function tell(migration: StorageVersionMigration, condition: Condition, client: RestClient): Promise<void> {
  const before = migration.status?.conditions ?? []
  const known = before.some(({ type }) => type === condition.type)
  const conditions = known
    ? before.map((one) => (one.type === condition.type ? condition : one))
    : [...before, condition]
  await client.updateStatus(storageVersionMigrations, { ...migration, status: { ...migration.status, conditions } })
}
