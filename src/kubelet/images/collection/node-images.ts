/** The images in a node's status, which the scheduler reads. A pure function. */
import type { Image } from '#protobuf/cri-images_pb.js'
import type { Node } from '../../../client/kinds.ts'

/** `nodeStatusMaxImages`; -1 means all. */
export const defaultMaxImages = 50

const maxNames = 5

type NodeImage = NonNullable<NonNullable<Node['status']>['images']>[number]

/** The largest images first; of each its digests and then its tags. */
export function nodeImages(images: readonly Image[], maxImages = defaultMaxImages): NodeImage[] {
  return [...images]
    .sort((a, b) => (a.size === b.size ? (a.id < b.id ? 1 : -1) : a.size < b.size ? 1 : -1))
    .slice(0, maxImages < 0 ? images.length : maxImages)
    .map(({ repoDigests, repoTags, size }) => ({
      names: [...[...repoDigests].sort(), ...[...repoTags].sort()].slice(0, maxNames),
      sizeBytes: Number(size),
    }))
}
