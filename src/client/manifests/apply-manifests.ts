/** Applies manifests by server-side apply, as `kubectl apply --server-side`. */
import { setTimeout } from 'node:timers/promises'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { Unstructured } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import type { DynamicClient } from '../discovery/dynamic-client.ts'
import { customResourceDefinitions } from '../kinds.ts'
import { hasCondition, waitFor } from '../objects/wait-for.ts'
import type { RestClient } from '../rest/rest-client.ts'
import { type Manifests, readManifests } from './read-manifests.ts'

/** How manifests are applied. */
export interface ApplyManifestsOptions {
  /** The namespace of objects that have none. Default: `default`. */
  readonly namespace?: string
  /** Sets the status that the manifests contain, too: for kinds whose controllers do not run. Default: false. */
  readonly status?: boolean
  /** Default: `typernetes-test`. */
  readonly fieldManager?: string
}

const accountTimeoutMs = 10_000
const accountPollMs = 50
const defaultManager = 'typernetes-test'
/** Kinds that others need come first. */
const order: readonly string[] = ['Namespace', 'CustomResourceDefinition']
const rankOf = ({ kind }: Unstructured): number => (order.indexOf(kind) + order.length + 1) % (order.length + 1)

/**
 * Resolves with the objects as stored, in the order of the manifests. Namespaces and definitions of custom resources
 * are applied first, and the definitions are served before other objects follow. Rejects with a StatusError whose
 * message names the object.
 */
export async function applyManifests(
  dynamic: DynamicClient,
  manifests: Manifests,
  { namespace = 'default', status = false, fieldManager = defaultManager }: ApplyManifestsOptions = {},
): Promise<Unstructured[]> {
  const objects = readManifests(manifests)
  const results = new Map<Unstructured, Unstructured>()
  const defined: Unstructured[] = []
  for (const object of [...objects].sort((a, b) => rankOf(a) - rankOf(b))) {
    if (defined.length > 0 && object.kind !== 'CustomResourceDefinition')
      await established(dynamic.client, defined.splice(0))
    results.set(object, await applyOne(dynamic, object, { namespace, status, fieldManager }))
    if (object.kind === 'CustomResourceDefinition') defined.push(object)
  }
  await established(dynamic.client, defined)
  return objects.map((object) => results.get(object)!)
}

async function applyOne(
  dynamic: DynamicClient,
  object: Unstructured,
  { namespace, status, fieldManager }: Required<ApplyManifestsOptions>,
): Promise<Unstructured> {
  const { namespaced, subresources } = await dynamic.mapper.forKind(object.apiVersion, object.kind)
  // Objects that were read from a server can be applied to another one.
  const { resourceVersion: _, uid: __, managedFields: ___, ...given } = object.metadata
  const metadata = { ...given, ...(namespaced && { namespace: given.namespace ?? namespace }) }
  const { status: wantedStatus, ...rest } = object
  const wanted = { ...rest, metadata }
  const { name } = metadata
  if (!name && !metadata.generateName)
    throw new ExplainedError(`A ${object.kind} of the manifests has no name: add metadata.name or generateName.`)
  const stored = await afterServiceAccount(() =>
    name
      ? dynamic.apply({ ...wanted, metadata: { ...metadata, name } }, { fieldManager, force: true })
      : dynamic.create(wanted),
  )
  if (!status || wantedStatus === undefined || !subresources.includes('status')) return stored
  const { apiVersion, kind } = object
  const target = { name: stored.metadata.name ?? '', ...(namespaced && { namespace: stored.metadata.namespace }) }
  return dynamic.apply(
    { apiVersion, kind, metadata: target, status: wantedStatus },
    { fieldManager, force: true, subresource: 'status' },
  )
}

/** A controller creates the service account of a new namespace, without which pods are rejected. */
async function afterServiceAccount<Result>(write: () => Promise<Result>): Promise<Result> {
  const deadline = Date.now() + accountTimeoutMs
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!isAccountMissing(error) || Date.now() > deadline) throw error
      await setTimeout(accountPollMs)
    }
  }
}

const isAccountMissing = (error: unknown): boolean =>
  error instanceof StatusError && error.code === 403 && error.message.includes('error looking up service account ')

const established = async (client: RestClient, definitions: readonly Unstructured[]): Promise<void> => {
  for (const { metadata } of definitions)
    await waitFor(client, customResourceDefinitions, { name: metadata.name ?? '' }, hasCondition('Established'))
}
