/**
 * Names at the served registry: the paths of the store's images, whatever their registry is. Pushed images belong to
 * `localhost`.
 */
import { type Digest, isDigest } from '../formats/digest.ts'
import type { ImageStore } from '../store/image-store.ts'

const pushedTo = 'localhost'

/** The complete name of an image that is pushed; `reference` is a tag or a digest. */
export const pushedName = (repository: string, reference: string): string =>
  `${pushedTo}/${repository}${isDigest(reference) ? '@' : ':'}${reference}`

export interface Asked {
  readonly repository: string
  readonly reference: string
  /** The registry that this one stands for, as clients of mirrors state it. */
  readonly registry: string | undefined
}

/** Returns the document that a tag or digest stands for. Pushed images come first. */
export function findTarget(store: ImageStore, { repository, reference, registry }: Asked): Digest | undefined {
  if (isDigest(reference)) return store.blobs.has(reference) ? reference : undefined
  const suffix = `/${repository}:${reference}`
  const names = store.names().filter(({ name }) => name.slice(name.indexOf('/')) === suffix)
  const isFrom = (host: string) => names.find(({ name }) => name.startsWith(`${host}/`))
  const found = registry === undefined ? (isFrom(pushedTo) ?? names[0]) : isFrom(registry)
  return found?.target
}

/** The tags of a repository, sorted. */
export function tagsOf(store: ImageStore, repository: string): string[] {
  const tags = store.names().flatMap(({ name }) => {
    const [, path, tag] = /^[^/]+\/(.+):([^:@]+)$/.exec(name) ?? []
    return path === repository && tag !== undefined && !name.includes('@') ? [tag] : []
  })
  return [...new Set(tags)].sort()
}
