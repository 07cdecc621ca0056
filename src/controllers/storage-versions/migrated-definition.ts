/**
 * What a CustomResourceDefinition says of a migration of its objects (KEP-4192): a condition, and once all of them have
 * been written anew, that only the version of now is stored. So that older versions can be taken out of it.
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

/** Says that the objects are being written anew. `now` is a timestamp. */
export async function markMigrating(
  migration: StorageVersionMigration,
  client: RestClient,
  now: string,
): Promise<void> {
  const definition = await definitionOf(migration, client)
  if (!definition) return
  await tell(
    definition,
    { status: 'True', reason: 'MigrationRunning', message: `Migration ${migration.metadata.name} is running` },
    client,
    now,
  )
}

/**
 * Says what has become of it. A definition that was changed in between may have had objects stored in yet another
 * version: it keeps its list.
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
  await tell(definition, verdict, client, now, succeeded && isSame && stored ? [stored] : undefined)
}

async function definitionOf(
  { spec }: StorageVersionMigration,
  client: RestClient,
): Promise<CustomResourceDefinition | undefined> {
  const { group, resource } = spec?.resource ?? {}
  const name = `${resource}.${group}`
  // A migration may name anything; a selector by what is no name is refused.
  if (!group || dnsSubdomain(name).length > 0) return undefined
  const { items } = await client.list(customResourceDefinitions, { fieldSelector: nameSelector(name) })
  return items[0]
}

/** Written only if nobody else has written it since: a conflict is tried again, as is all that fails. */
async function tell(
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
