/** Discovery documents by path and, for `/api` and `/apis`, by form. */
import { createHash } from 'node:crypto'
import type { ServedGroup } from '../../api/registry.ts'
import type { ApisState } from '../registry/served-apis.ts'
import { groupDiscoveryList } from './aggregated.ts'
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './legacy.ts'

export interface DiscoveryDocument {
  readonly body: Buffer
  /** With quotes, as in the ETag header. */
  readonly etag: string
  readonly contentType: string
}

/** The forms of one path. Only `/api` and `/apis` have the aggregated form. */
export interface PathForms {
  readonly legacy: DiscoveryDocument
  readonly v2?: DiscoveryDocument
}

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** The documents of one state of the APIs, each built on first use. */
export class DiscoveryForms {
  readonly #state: ApisState
  readonly #address: string
  readonly #aggregated: () => void
  readonly #cache = new Map<string, PathForms | undefined>()

  /**
   * `address` is the server's host and port; `aggregated` is called when a document of all groups is built.
   */
  constructor(state: ApisState, address: string, aggregated: () => void = () => {}) {
    this.#state = state
    this.#address = address
    this.#aggregated = aggregated
  }

  /** Returns the forms of a path (without a trailing slash); undefined if it has none. */
  get(path: string): PathForms | undefined {
    if (!this.#cache.has(path)) this.#cache.set(path, this.#build(path))
    return this.#cache.get(path)
  }

  #build(path: string): PathForms | undefined {
    const { groups, storageOf } = this.#state
    const core = this.#state.group('')
    if (path === '/api')
      return { legacy: document(apiVersions(core, this.#address)), ...aggregated(core ? [core] : []) }
    if (path === '/apis') this.#aggregated()
    if (path === '/apis')
      return { legacy: document(apiGroupList(groups)), ...aggregated(groups.filter(({ group }) => group !== '')) }
    const [, prefix, ...rest] = path.split('/')
    const [name, versionName] = prefix === 'api' ? ['', ...rest] : rest
    const group =
      rest.length === (prefix === 'api' ? 1 : 2) || (prefix === 'apis' && rest.length === 1)
        ? this.#state.group(name!)
        : undefined
    if (!group || (prefix === 'apis' && name === '')) return undefined
    if (versionName === undefined) return { legacy: document(apiGroup(group)) }
    const version = group.versions.find((served) => served.version === versionName)
    return version && { legacy: document(apiResourceList(version, storageOf)) }
  }
}

const aggregated = (groups: readonly ServedGroup[]) => ({
  v2: document(groupDiscoveryList(groups), aggregatedType),
})

function document(value: unknown, contentType = 'application/json'): DiscoveryDocument {
  const body = Buffer.from(JSON.stringify(value))
  return { body, etag: `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"`, contentType }
}
