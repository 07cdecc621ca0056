/** Manifests, and indexes of them by platform: decoded once, where they arrive. */
import { corruptContent } from '../image-error.ts'
import { type Digest, decodeDigest } from './digest.ts'
import { isIndexType, isManifestType } from './media-types.ts'

export interface Platform {
  /** As Go names it: `amd64`, `arm64`. */
  readonly architecture: string
  readonly os: string
  /** Such as `v8`. */
  readonly variant?: string
}

/** Points to a blob. */
export interface Descriptor {
  readonly mediaType: string
  readonly digest: Digest
  /** In bytes. */
  readonly size: number
  readonly platform?: Platform
  readonly annotations: Readonly<Record<string, string>>
}

export interface Manifest {
  readonly kind: 'manifest'
  readonly config: Descriptor
  readonly layers: readonly Descriptor[]
}

export interface ImageIndex {
  readonly kind: 'index'
  readonly manifests: readonly Descriptor[]
}

/** Longer manifests are rejected, in bytes: registries accept 4 MiB. */
export const maxManifestBytes = 4 * 1024 * 1024

const maxLayers = 1024

type Fields = Readonly<Record<string, unknown>>

/**
 * Decodes a manifest or an index; `mediaType` is that of the response or the descriptor, and the document's own wins.
 * Throws an ImageError for content of other types, and for Docker's schema 1.
 */
export function decodeManifest(bytes: Uint8Array, mediaType = ''): Manifest | ImageIndex {
  const fields = parseObject(bytes, 'the manifest')
  const type = typeof fields.mediaType === 'string' ? fields.mediaType : (mediaType.split(';', 1)[0] ?? '').trim()
  if (fields.schemaVersion !== 2)
    throw corruptContent(`the manifest has schema version ${JSON.stringify(fields.schemaVersion)}: only 2 is supported`)
  // A document that is both can mean one image here and another one elsewhere (CVE-2021-41190).
  if (Array.isArray(fields.manifests) && (fields.layers !== undefined || fields.config !== undefined))
    throw corruptContent('the manifest is ambiguous: it has manifests beside layers')
  if (isIndexType(type) || (!isManifestType(type) && Array.isArray(fields.manifests)))
    return { kind: 'index', manifests: descriptorsOf(fields.manifests, 'manifests') }
  if (!isManifestType(type) && !Array.isArray(fields.layers))
    throw corruptContent(`the manifest has the unknown media type ${JSON.stringify(type)}`)
  const layers = descriptorsOf(fields.layers, 'layers')
  if (layers.length > maxLayers) throw corruptContent(`the manifest has ${layers.length} layers, at most ${maxLayers}`)
  return { kind: 'manifest', config: descriptorOf(fields.config, 'config'), layers }
}

/** Parses JSON that is an object. Throws an ImageError otherwise. */
export function parseObject(bytes: Uint8Array, name: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
  } catch (error) {
    throw corruptContent(`${name} is not JSON`, error)
  }
  if (!isObject(value)) throw corruptContent(`${name} is not an object`)
  return value
}

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function descriptorsOf(value: unknown, name: string): Descriptor[] {
  if (!Array.isArray(value)) throw corruptContent(`${name} is not a list`)
  return value.map((entry, i) => descriptorOf(entry, `${name}[${i}]`))
}

function descriptorOf(value: unknown, name: string): Descriptor {
  if (!isObject(value)) throw corruptContent(`${name} is not a descriptor`)
  const { mediaType, size } = value
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw corruptContent(`${name}.size is not a size: ${JSON.stringify(size)}`)
  const platform = isObject(value.platform) ? platformOf(value.platform) : undefined
  return {
    mediaType: typeof mediaType === 'string' ? mediaType : '',
    digest: decodeDigest(value.digest, `${name}.digest`),
    size,
    ...(platform && { platform }),
    annotations: stringsOf(value.annotations),
  }
}

const platformOf = ({ architecture, os, variant }: Fields): Platform => ({
  architecture: textOf(architecture),
  os: textOf(os),
  ...(typeof variant === 'string' && variant !== '' && { variant }),
})

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The entries of a map whose values are strings; empty for other values. */
export const stringsOf = (value: unknown): Readonly<Record<string, string>> =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      )
    : {}
