/** Digests of content (OCI image specification). Only SHA-256 is supported, which all registries use. */
import { createHash } from 'node:crypto'
import { corruptContent } from '../image-error.ts'

/** Such as `sha256:` and 64 hexadecimal digits. */
export type Digest = string

const pattern = /^sha256:[a-f0-9]{64}$/

export const isDigest = (text: string): boolean => pattern.test(text)

/** Returns the text if it is a digest; throws an ImageError otherwise. */
export function decodeDigest(text: unknown, name: string): Digest {
  if (typeof text !== 'string' || !isDigest(text))
    throw corruptContent(`${name} is not a SHA-256 digest: ${JSON.stringify(text)}`)
  return text
}

export const digestOf = (bytes: Uint8Array | string): Digest =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** The hexadecimal part, which names files. */
export const hexOf = (digest: Digest): string => digest.slice(digest.indexOf(':') + 1)

/**
 * The identity of each layer together with all layers below it, from the digests of the layers' archives (OCI image
 * specification, *Layer ChainID*).
 */
export function chainIds(diffIds: readonly Digest[]): Digest[] {
  const chains: Digest[] = []
  for (const diffId of diffIds) {
    const parent = chains.at(-1)
    chains.push(parent === undefined ? diffId : digestOf(`${parent} ${diffId}`))
  }
  return chains
}
