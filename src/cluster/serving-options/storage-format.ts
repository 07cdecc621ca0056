/** The flag of the encoding of stored objects, `--storage-media-type`. */

import type { FlagValues } from '../../apiserver/serving-flags/index.ts'
import { type StorageMediaType, storageMediaTypes } from '../../apiserver/storage-format/index.ts'

const typeOf = (flags: FlagValues): string => flags.text('storage-media-type') || 'application/json'

/** Returns upstream's error for an unknown media type; empty if there is none. */
export function storageFormatErrors(flags: FlagValues): string[] {
  const type = typeOf(flags)
  if (storageMediaTypes.some((known) => known === type)) return []
  return [
    `--storage-media-type ${JSON.stringify(type)} invalid, allowed values: ${storageMediaTypes.toSorted().join(', ')}`,
  ]
}

export const storageMediaType = (flags: FlagValues): StorageMediaType =>
  storageMediaTypes.find((known) => known === typeOf(flags)) ?? 'application/json'
