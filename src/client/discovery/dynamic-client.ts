/** Reads and writes objects of which nothing is known but what they say themselves: by `apiVersion` and `kind`. */
import type { Unstructured } from '../../machinery/object.ts'
import type { ObjectName } from '../objects/write-state.ts'
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

/** Which object, of which kind. */
export interface ObjectReference extends ObjectName {
  readonly apiVersion: string
  readonly kind: string
}

export class DynamicClient {
  readonly client: RestClient
  readonly mapper: RestMapper

  /** `mapper` may be shared by several. */
  constructor(client: RestClient, mapper: RestMapper = new RestMapper(client)) {
    this.client = client
    this.mapper = mapper
  }

  /**
   * All methods reject with an Error for a name that is empty or no part of a path, before the kind is looked up, with
   * NoMatch for a kind that the server does not have, and with StatusErrors as it refuses.
   */
  async get({ namespace = '', name, ...of }: ObjectReference): Promise<Unstructured> {
    requireName(name)
    return this.client.get(await this.#resource(of), namespace, name)
  }

  async list(
    of: Pick<ObjectReference, 'apiVersion' | 'kind'>,
    options?: PageOptions,
  ): Promise<ObjectList<Unstructured>> {
    return this.client.list(await this.#resource(of), options)
  }

  async create(object: Unstructured): Promise<Unstructured> {
    return this.client.create(await this.#resource(object), object)
  }

  async update(object: Unstructured, subresource?: string): Promise<Unstructured> {
    requireName(object.metadata.name ?? '')
    return this.client.update(await this.#resource(object), object, subresource)
  }

  async patch(
    { namespace = '', name, ...of }: ObjectReference,
    patch: object,
    type: PatchType = 'merge',
    subresource?: string,
  ): Promise<Unstructured> {
    requireName(name)
    return this.client.patch(await this.#resource(of), namespace, name, patch, type, subresource)
  }

  /** Server-side apply, as `kubectl apply --server-side`. */
  async apply(
    object: Unstructured & { readonly metadata: { readonly name: string } },
    manager: string | ApplyOptions,
  ): Promise<Unstructured> {
    requireName(object.metadata.name)
    return this.client.apply(await this.#resource(object), object, manager)
  }

  async delete({ namespace = '', name, ...of }: ObjectReference, options?: DeleteOptions): Promise<void> {
    requireName(name)
    await this.client.delete(await this.#resource(of), namespace, name, options)
  }

  async #resource({ apiVersion, kind }: Pick<ObjectReference, 'apiVersion' | 'kind'>): Promise<Resource<Unstructured>> {
    const { group, version, plural, namespaced } = await this.mapper.forKind(apiVersion, kind)
    return { group, version, plural, kind, namespaced }
  }
}
