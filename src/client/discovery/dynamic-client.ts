/** Reads and writes objects whose kind is only known at run time, by their `apiVersion` and `kind`. */
import type { Unstructured } from '../../machinery/object.ts'
import type { ObjectName } from '../objects/create-or-update.ts'
import { type Resource, requireName } from '../resource.ts'
import type {
  ApplyOptions,
  DeleteOptions,
  ObjectList,
  PageOptions,
  PatchType,
  RestClient,
} from '../rest/rest-client.ts'
import { RestMapper } from './rest-mapper.ts'

/** The kind and name of an object. */
export interface ObjectReference extends ObjectName {
  readonly apiVersion: string
  readonly kind: string
}

/**
 * A client for objects of any `apiVersion` and `kind`; looks up the resource with discovery. All methods reject with an
 * Error for an invalid name, with NoMatch for a kind that the server does not have, and with the server's StatusErrors.
 * @example
 * const dynamic = new DynamicClient(client)
 * await dynamic.get({ apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' })
 */
export class DynamicClient {
  readonly client: RestClient
  readonly mapper: RestMapper

  /** Several clients can share a `mapper`. */
  constructor(client: RestClient, mapper: RestMapper = new RestMapper(client)) {
    this.client = client
    this.mapper = mapper
  }

  async get({ namespace = '', name, ...kind }: ObjectReference): Promise<Unstructured> {
    requireName(name)
    return this.client.get(await this.#resource(kind), namespace, name)
  }

  async list(
    kind: Pick<ObjectReference, 'apiVersion' | 'kind'>,
    options?: PageOptions,
  ): Promise<ObjectList<Unstructured>> {
    return this.client.list(await this.#resource(kind), options)
  }

  async create(object: Unstructured): Promise<Unstructured> {
    return this.client.create(await this.#resource(object), object)
  }

  async update(object: Unstructured, subresource?: string): Promise<Unstructured> {
    requireName(object.metadata.name ?? '')
    return this.client.update(await this.#resource(object), object, subresource)
  }

  async patch(
    { namespace = '', name, ...kind }: ObjectReference,
    patch: object,
    type: PatchType = 'merge',
    subresource?: string,
  ): Promise<Unstructured> {
    requireName(name)
    return this.client.patch(await this.#resource(kind), namespace, name, patch, type, subresource)
  }

  /** Server-side apply, as `kubectl apply --server-side`. */
  async apply(
    object: Unstructured & { readonly metadata: { readonly name: string } },
    manager: string | ApplyOptions,
  ): Promise<Unstructured> {
    requireName(object.metadata.name)
    return this.client.apply(await this.#resource(object), object, manager)
  }

  async delete({ namespace = '', name, ...kind }: ObjectReference, options?: DeleteOptions): Promise<void> {
    requireName(name)
    await this.client.delete(await this.#resource(kind), namespace, name, options)
  }

  async #resource({ apiVersion, kind }: Pick<ObjectReference, 'apiVersion' | 'kind'>): Promise<Resource<Unstructured>> {
    const { group, version, plural, namespaced } = await this.mapper.forKind(apiVersion, kind)
    return { group, version, plural, kind, namespaced }
  }
}
