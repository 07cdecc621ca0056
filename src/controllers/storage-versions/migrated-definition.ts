/**
 * Updates the status of a CustomResourceDefinition during a migration of its objects (KEP-4192): sets a condition and,
 * after all objects are rewritten, reduces storedVersions so that older versions can be removed.
 */
import {
  type CustomResourceDefinition,
  customResourceDefinitions,
  type StorageVersionMigration,
} from '../../client/kinds.ts'
import { nameSelector } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { dnsSubdomain } from '../../machinery/validation/names.ts'

type Condition = NonNullable<NonNullable<CustomResourceDefinition['status']>['conditions']>[number]
type Verdict = Pick<Condition, 'status' | 'reason' | 'message'>

const type = 'StorageMigrating'
const fieldManager = 'migration-runner-controller'

/** Sets the StorageMigrating condition. `now` is in RFC 3339. */
export async function markMigrating(
  migration: StorageVersionMigration,
  client: RestClient,
  now: string,
): Promise<void> {
  const definition = await definitionOf(migration, client)
  if (!definition) return
  await setCondition(
    definition,
    { status: 'True', reason: 'MigrationRunning', message: `Migration ${migration.metadata.name} is running` },
    client,
    now,
  )
}

/**
 * Sets the result of a migration. If the definition was changed meanwhile, objects may be stored in another version, so
 * storedVersions stays unchanged.
 */
export async function markMigrated(
  migration: StorageVersionMigration,
  succeeded: boolean,
  client: RestClient,
  now: string,
): Promise<void> {
  const definition = await definitionOf(migration, client)
  if (!definition) return
  const begun = definition.status?.conditions?.find((condition) => condition.type === type)
  const isSame = begun?.observedGeneration !== undefined && begun.observedGeneration === definition.metadata.generation
  const outcome = isSame
    ? 'and the stored versions have been updated'
    : 'but the stored versions have not been updated due to a generation mismatch'
  const verdict: Verdict = succeeded
    ? { status: 'False', reason: 'MigrationSucceeded', message: `The migration has succeeded ${outcome}` }
    : { status: 'False', reason: 'MigrationFailed', message: 'The migration has failed' }
  const stored = definition.spec.versions.find(({ storage }) => storage)?.name
  await setCondition(definition, verdict, client, now, succeeded && isSame && stored ? [stored] : undefined)
}

async function definitionOf(
  { spec }: StorageVersionMigration,
  client: RestClient,
): Promise<CustomResourceDefinition | undefined> {
  const { group, resource } = spec?.resource ?? {}
  const name = `${resource}.${group}`
  // A migration may name anything; an invalid name would be rejected in the selector.
  if (!group || dnsSubdomain(name).length > 0) return undefined
  const { items } = await client.list(customResourceDefinitions, { fieldSelector: nameSelector(name) })
  return items[0]
}

/** Sets the condition. Rejects with a conflict if the definition has changed, so that the key is retried. */
async function setCondition(
  { metadata, status }: CustomResourceDefinition,
  verdict: Verdict,
  client: RestClient,
  now: string,
  storedVersions?: readonly string[],
): Promise<void> {
  const { name = '', resourceVersion, generation } = metadata
  const others = (status?.conditions ?? []).filter((condition) => condition.type !== type)
  const conditions = [...others, { type, ...verdict, lastTransitionTime: now, observedGeneration: generation }]
  const patch = { metadata: { resourceVersion }, status: { conditions, ...(storedVersions && { storedVersions }) } }
  await client.patch(customResourceDefinitions, '', name, patch, 'merge', 'status', { fieldManager })
}
