/**
 * The stored forms of all built-in kinds, by key. Custom resources are not here: they are JSON in every cluster, and
 * their definitions convert them (`registry/conversion/read-stored.ts`).
 */
import { type ResourceDefinition, resourceKey } from '../../api/resource.ts'
import { after } from '../../lib/flow/after.ts'
import type { TransformerOf } from '../encryption/index.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { KindFormat, type StorageMediaType } from './kind-format.ts'

export interface StorageFormatOptions {
  readonly definitions: readonly ResourceDefinition[]
  /** Returns the resource of a definition. Called when the first value of the kind is read or written. */
  readonly served: (definition: ResourceDefinition) => ServedResource
  readonly mediaType: StorageMediaType
  /** Encrypts and decrypts the stored forms. */
  readonly encryption: TransformerOf | undefined
}

const root = '/registry/'

/** kube-apiserver has other servers for these groups in its process, which store JSON only. */
const jsonGroups: ReadonlySet<string> = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io'])

/** Returns the transformer of a store for all keys: formats of built-in kinds, and encryption. */
export function storageFormats(options: StorageFormatOptions): TransformerOf {
  const { encryption } = options
  const formatOf = formatsByKey(options)
  const transformers = new WeakMap<KindFormat, ReturnType<TransformerOf>>()
  return (key) => {
    const format = formatOf(key)
    if (!format) return encryption?.(key)
    let transformer = transformers.get(format)
    if (!transformer) transformers.set(format, (transformer = transformerOf(format, encryption)))
    return transformer
  }
}

function transformerOf(format: KindFormat, encryption: TransformerOf | undefined): ReturnType<TransformerOf> {
  return {
    encrypt(value, key) {
      const formatted = format.write(value)
      return encryption?.(key)?.encrypt(formatted, key) ?? formatted
    },
    decrypt(stored, key) {
      const encrypted = encryption?.(key)
      if (!encrypted) return format.read(stored)
      return after(encrypted.decrypt(stored, key), ({ value, stale }) => {
        const read = format.read(value)
        return stale && !read.stale ? { value: read.value, stale } : read
      })
    },
  }
}

/** Returns a function that finds the format of a key; undefined for keys of no built-in kind. */
function formatsByKey({
  definitions,
  served,
  mediaType,
}: StorageFormatOptions): (key: string) => KindFormat | undefined {
  const stored = new Map(
    definitions.flatMap((definition): [string, ResourceDefinition][] =>
      definition.storedAs || definition.virtual ? [] : [[definition.storagePath ?? definition.plural, definition]],
    ),
  )
  const formats = new Map<string, KindFormat>()
  const make = (definition: ResourceDefinition): KindFormat => {
    const others = definitions.filter(({ storedAs }) => storedAs?.resource === resourceKey(definition))
    const type = jsonGroups.has(definition.group) ? 'application/json' : mediaType
    return new KindFormat(served(definition), others.map(served), type)
  }
  return (key) => {
    const path = pathOf(key, stored)
    let format = formats.get(path)
    const definition = format ? undefined : stored.get(path)
    if (definition) formats.set(path, (format = make(definition)))
    return format
  }
}

/** The part of a key between the root and the namespace or name: one or two segments. */
function pathOf(key: string, stored: ReadonlyMap<string, unknown>): string {
  const first = key.indexOf('/', root.length)
  if (first < 0) return ''
  const word = key.slice(root.length, first)
  if (stored.has(word)) return word
  const second = key.indexOf('/', first + 1)
  return second < 0 ? '' : key.slice(root.length, second)
}
