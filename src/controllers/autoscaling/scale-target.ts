/** Finds, reads and writes the `/scale` of an autoscaler's target, by its kind in discovery. */
import type { V1Scale } from '@kubernetes/client-node'
import { objectPath, type Resource, resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { Model } from '../../machinery/object.ts'
import { isConflict, isNotFound } from '../api-errors.ts'
import { clientErrorText } from './client-error-text.ts'

export type Scale = Model<V1Scale>

export interface KindReference {
  readonly apiVersion?: string
  readonly kind: string
  readonly name: string
}

interface GroupDocument {
  readonly preferredVersion?: { readonly version: string }
  readonly versions?: readonly (string | { readonly version: string })[]
}

interface ResourceDocument {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[]
}

/** Finds and caches the resources of kinds. */
export class KindMapper {
  readonly #known = new Map<string, Resource<Scale>>()

  /** Returns the resource of a kind in the group of `apiVersion`, in the preferred version. Rejects if not found. */
  async find(client: RestClient, { apiVersion = 'v1', kind }: KindReference): Promise<Resource<Scale>> {
    const [group = '', version, ...more] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
    if (version === undefined || more.length > 0) throw new Error(`unexpected GroupVersion string: ${apiVersion}`)
    const key = `${group}/${kind}`
    const known = this.#known.get(key) ?? (await discoverKind(client, group, kind))
    if (!known) throw new Error(`no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`)
    this.#known.set(key, known)
    return known
  }

  /** Must be called when a resource is not found any more. */
  forget(found: Resource): void {
    this.#known.delete(`${found.group}/${found.kind}`)
  }
}

async function discoverKind(client: RestClient, group: string, kind: string): Promise<Resource<Scale> | undefined> {
  for (const version of await versionsOf(client, group)) {
    const path = group ? `/apis/${group}/${version}` : `/api/${version}`
    const document = await client.read<ResourceDocument>(path).catch(undefinedIfNotFound)
    const found = document?.resources.find((one) => one.kind === kind && !one.name.includes('/'))
    if (found) return resource(group ? `${group}/${version}` : version, kind, found.name, found.namespaced)
  }
  return undefined
}

/** The versions of a group, the preferred one first. */
export async function versionsOf(client: RestClient, group: string): Promise<string[]> {
  const document = await client.read<GroupDocument>(group ? `/apis/${group}` : '/api').catch(undefinedIfNotFound)
  const versions = (document?.versions ?? []).map((one) => (typeof one === 'string' ? one : one.version))
  const preferred = document?.preferredVersion?.version
  return [...new Set([...(preferred ? [preferred] : []), ...versions])]
}

/** A resource in the format of custom metrics: `ingresses.networking.k8s.io`. */
export const groupResource = ({ plural, group }: Resource): string => (group ? `${plural}.${group}` : plural)

/** Reads the scale of an autoscaler's target; resolves with the target's resource and the scale. */
export async function readScale(
  client: RestClient,
  mapper: KindMapper,
  namespace: string,
  reference: KindReference,
): Promise<readonly [Resource<Scale>, Scale]> {
  const found = await mapper.find(client, reference)
  try {
    return [found, await client.read<Scale>(objectPath(found, namespace, reference.name, 'scale'))]
  } catch (error) {
    // The kind may be served under another name now.
    if (isNotFound(error)) mapper.forget(found)
    throw new Error(clientErrorText(error, groupResource(found)))
  }
}

/** Attempts before a conflict is returned. */
const maxAttempts = 5

/** Sets the replicas; retries on conflicts. */
export async function writeScale(
  client: RestClient,
  target: Resource<Scale>,
  scale: Scale,
  replicas: number,
): Promise<void> {
  const { namespace = '', name = '' } = scale.metadata
  for (let attempt = 1, live = scale; ; attempt++) {
    try {
      await client.update(target, { ...live, spec: { ...live.spec, replicas } }, 'scale')
      return
    } catch (error) {
      if (!isConflict(error) || attempt === maxAttempts) throw error
      live = await client.read<Scale>(objectPath(target, namespace, name, 'scale'))
    }
  }
}

function undefinedIfNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error
  return undefined
}
