/**
 * The stored form of one kind. Reads whatever kube-apiserver has stored: protobuf, JSON and YAML, in any version that
 * it knows; returns the JSON of the version that this server stores. Writes JSON, protobuf or YAML.
 */

import { type OlderObject, upgradeOf } from '../../api/older-versions/index.ts'
import type { ResourceDefinition } from '../../api/resource.ts'
import { protobufNumbers } from '../../api/schema/protobuf.ts'
import { parseJson } from '../../lib/exact-json.ts'
import { DecodeError, decode } from '../../machinery/decode/index.ts'
import { parseObject } from '../../machinery/managed-fields/fields-cache.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { isProtobuf, MessageDecoder, MessageEncoder, openEnvelope } from '../../machinery/protobuf/index.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { fromYaml, toYaml } from '../../machinery/yaml.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { encode } from '../registry/stored-object.ts'

/** The values of `--storage-media-type`. */
export const storageMediaTypes = [
  'application/json',
  'application/vnd.kubernetes.protobuf',
  'application/yaml',
] as const
export type StorageMediaType = (typeof storageMediaTypes)[number]

const messages = new MessageDecoder(protobufNumbers)
const encoder = new MessageEncoder(protobufNumbers)

const openBrace = 0x7b
const closeBrace = 0x7d

/** How objects of one version become the stored version. */
interface KnownVersion {
  /** The resource whose schema and defaults the version has. */
  readonly resource: ServedResource
  /** Changes the parsed object before it is decoded. */
  readonly upgrade?: (object: OlderObject) => void
}

/** An object from the store. */
export interface ReadValue {
  /** JSON in the version in which this server stores the kind: the stored buffer itself if it has that form. */
  readonly value: Buffer
  /** True if the object would be stored in another form now. */
  readonly stale: boolean
}

export class KindFormat {
  readonly #storage: ServedResource
  readonly #mediaType: StorageMediaType
  /** Other registered versions of the resource, by `group/version`. */
  readonly #versions: ReadonlyMap<string, ServedResource>

  constructor(storage: ServedResource, versions: readonly ServedResource[], mediaType: StorageMediaType) {
    this.#storage = storage
    this.#versions = new Map([storage, ...versions].map((version) => [version.groupVersion, version]))
    this.#mediaType = mediaType
  }

  /** Changes the JSON of an object to the form in which it is stored. */
  write(value: Buffer): Buffer {
    if (this.#mediaType === 'application/json') return value
    const object = parseObject(value.toString())
    if (this.#mediaType === 'application/yaml') return Buffer.from(toYaml(object))
    return encoder.encode(this.#storage.type, { ...object })
  }

  /** Throws a StatusError for a value that is not an object of the kind. */
  read(stored: Buffer): ReadValue {
    if (this.#isCurrent(stored)) return { value: stored, stale: this.#mediaType !== 'application/json' }
    try {
      return isProtobuf(stored) ? this.#fromProtobuf(stored) : this.#fromText(stored)
    } catch (error) {
      // As upstream, which has no reason for such errors.
      throw error instanceof StatusError ? error : new StatusError(500, '', (error as Error).message)
    }
  }

  /** True for the JSON that this server writes. kube-apiserver ends its JSON with a newline. */
  #isCurrent(stored: Buffer): boolean {
    const { head } = this.#storage
    return (
      stored[0] === openBrace &&
      stored[stored.length - 1] === closeBrace &&
      stored.length > head.length &&
      stored.compare(head, 0, head.length, 0, head.length) === 0
    )
  }

  #fromProtobuf(stored: Buffer): ReadValue {
    const { apiVersion, kind, raw } = openEnvelope(stored)
    const version = this.#versionOf(apiVersion, kind)
    const { type } = version.resource
    if (!messages.isKnown(type)) throw new DecodeError(`the protobuf form of ${type.definition} is unknown`)
    const object = messages.decode(type, raw)
    const value = this.#current(version, object)
    const isWanted =
      this.#mediaType === 'application/vnd.kubernetes.protobuf' && apiVersion === this.#storage.groupVersion
    return { value, stale: !isWanted }
  }

  #fromText(stored: Buffer): ReadValue {
    const text = stored.toString()
    const parsed = stored[0] === openBrace ? parseJson(text) : fromYaml(text)
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
      throw new DecodeError('the value is neither protobuf nor a JSON or YAML object')
    const object = parsed as OlderObject
    const { apiVersion, kind } = object
    if (typeof kind !== 'string' || kind === '') throw new DecodeError(`Object 'Kind' is missing in '${text.trim()}'`)
    if (typeof apiVersion !== 'string' || apiVersion === '')
      throw new DecodeError(`Object 'apiVersion' is missing in '${text.trim()}'`)
    const value = this.#current(this.#versionOf(apiVersion, kind), object)
    const isYaml = stored[0] !== openBrace
    const isWanted = this.#mediaType === (isYaml ? 'application/yaml' : 'application/json')
    return { value, stale: !isWanted || apiVersion !== this.#storage.groupVersion }
  }

  #versionOf(apiVersion: string, kind: string): KnownVersion {
    const { definition } = this.#storage
    const resource = this.#versions.get(apiVersion)
    // All versions of a kind have one name.
    if (kind === definition.kind) {
      if (resource) return { resource }
      const [version = '', group = ''] = apiVersion.split('/').reverse()
      const upgrade = group === definition.group ? upgradeOf(definition, version) : undefined
      if (upgrade) return { resource: this.#storage, upgrade }
    }
    throw new DecodeError(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in ` +
        `scheme ${JSON.stringify(schemeOf(definition))}`,
    )
  }

  /** Decodes, defaults and converts an object, as upstream does whenever it reads one. Returns the stored JSON. */
  #current({ resource, upgrade }: KnownVersion, parsed: OlderObject): Buffer {
    upgrade?.(parsed)
    const decoded = decode(resource.type, parsed, { owned: true }).object
    const object = { kind: '', apiVersion: '', metadata: {}, ...decoded } as KubeObject
    object.kind = resource.definition.kind
    object.apiVersion = resource.groupVersion
    resource.applyDefaults(object)
    const storage = this.#storage
    const current = resource === storage ? object : (resource.definition.storedAs?.toStorage?.(object) ?? object)
    // encode() writes kind and version of the storage resource.
    return encode(storage, current)
  }
}

/** The place in upstream's source that its messages name. */
const schemeOf = ({ group }: ResourceDefinition): string =>
  group === 'apiextensions.k8s.io'
    ? 'k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55'
    : group === 'apiregistration.k8s.io'
      ? 'k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28'
      : 'pkg/api/legacyscheme/scheme.go:30'
