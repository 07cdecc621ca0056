/** What an autoscaler scales: anything that has a `/scale`, found by its kind as discovery tells it. */
import type { V1Scale } from '@kubernetes/client-node'
import { objectPath, type Resource, resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { Model } from '../../machinery/object.ts'
import { isConflict, isNotFound } from '../api-errors.ts'
import { refusalText } from './refusal-text.ts'

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

/** Finds the resources of kinds, and remembers those that it has found. */
export class KindMapper {
  readonly #known = new Map<string, Resource<Scale>>()

  /**
   * The resource of a kind in the group of `apiVersion`, in the version that the server prefers. Rejects where there is
   * none.
   */
  async find(client: RestClient, { apiVersion = 'v1', kind }: KindReference): Promise<Resource<Scale>> {
    const [group = '', version, ...more] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
    if (version === undefined || more.length > 0) throw new Error(`unexpected GroupVersion string: ${apiVersion}`)
    const key = `${group}/${kind}`
    const known = this.#known.get(key) ?? (await discovered(client, group, kind))
    if (!known) throw new Error(`no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`)
    this.#known.set(key, known)
    return known
  }

  /** To be called when a resource is not there any more. */
  forget(found: Resource): void {
    this.#known.delete(`${found.group}/${found.kind}`)
  }
}

async function discovered(client: RestClient, group: string, kind: string): Promise<Resource<Scale> | undefined> {
  for (const version of await versionsOf(client, group)) {
    const path = group ? `/apis/${group}/${version}` : `/api/${version}`
    const document = await client.read<ResourceDocument>(path).catch(absent)
    const found = document?.resources.find((one) => one.kind === kind && !one.name.includes('/'))
    if (found) return resource(group ? `${group}/${version}` : version, kind, found.name, found.namespaced)
  }
  return undefined
}

/** The versions of a group, the preferred one first. */
export async function versionsOf(client: RestClient, group: string): Promise<string[]> {
  const document = await client.read<GroupDocument>(group ? `/apis/${group}` : '/api').catch(absent)
  const versions = (document?.versions ?? []).map((one) => (typeof one === 'string' ? one : one.version))
  const preferred = document?.preferredVersion?.version
  return [...new Set([...(preferred ? [preferred] : []), ...versions])]
}

/** `ingresses.networking.k8s.io`: how custom metrics name a resource. */
export const groupResource = ({ plural, group }: Resource): string => (group ? `${plural}.${group}` : plural)

/** The scale of what an autoscaler names, and the resource that it is of. */
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
    // The kind may be served under another name by now.
    if (isNotFound(error)) mapper.forget(found)
    throw new Error(refusalText(error, groupResource(found)))
  }
}

/** A scale that others change all the while is not fought for. */
const attempts = 5

/** Sets the replicas; what others change of the target meanwhile does not hinder it. */
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
      if (!isConflict(error) || attempt === attempts) throw error
      live = await client.read<Scale>(objectPath(target, namespace, name, 'scale'))
    }
  }
}

function absent(error: unknown): undefined {
  if (!isNotFound(error)) throw error
  return undefined
}
