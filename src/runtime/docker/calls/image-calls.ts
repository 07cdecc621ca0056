/** CRI's calls for images, which are those of the engine. */
import { statfsSync } from 'node:fs'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { ImageSchema, ImageService } from '#protobuf/cri-images_pb.js'
import { type DockerEngine, isMissing } from '../../../lib/docker-engine/index.ts'
import type { ServiceHandlers } from '../../../lib/grpc/socket-server.ts'
import { completeName } from '../../../node/images/image-name.ts'
import { imageUser } from '../../cri/image-user.ts'
import { callError, type DockerParts } from '../docker-parts.ts'
import type { ImageInspection, ImageSummary } from '../engine-types.ts'
import { pauseImage } from '../images/pause-image.ts'
import { pullImage } from '../images/pull-image.ts'

type ImageCallParts = Pick<DockerParts, 'engine' | 'info'>

export function imageCalls({ engine, info }: ImageCallParts): ServiceHandlers<typeof ImageService> {
  const find = async (reference: string): Promise<ImageInspection | undefined> => {
    if (reference === '') return undefined
    try {
      return await engine.json<ImageInspection>({ path: `/images/${encodeURI(reference)}/json` })
    } catch (error) {
      if (isMissing(error)) return undefined
      throw callError(`cannot find the image ${reference}`, error)
    }
  }
  let removals: Promise<void> = Promise.resolve()
  return {
    async listImages({ filter }) {
      const reference = filter?.image?.image ?? ''
      if (reference === '')
        return { images: (await engine.json<ImageSummary[]>({ path: '/images/json' })).map(imageMessage) }
      const found = await find(reference)
      return { images: found ? [imageMessage(found)] : [] }
    },

    async imageStatus({ image, verbose }) {
      const found = await find(image?.image ?? '')
      if (!found) return {}
      return {
        image: { ...imageMessage(found), ...imageUser(found.Config?.User ?? '') },
        ...(verbose && { info: { info: JSON.stringify({ imageSpec: { config: found.Config } }) } }),
      }
    },

    async pullImage({ image, auth }, signal) {
      const name = image?.image ?? ''
      await pullImage(engine, name, auth, signal)
      return { imageRef: (await find(name))?.Id ?? name }
    },

    async removeImage({ image }) {
      // An engine fails if it gets requests to remove the same image at the same time.
      const removal = removals.then(async () => remove(engine, await find(image?.image ?? '')))
      removals = removal.catch(() => {})
      await removal
      return {}
    },

    async imageFsInfo() {
      const { LayersSize = 0 } = await engine.json<{ readonly LayersSize?: number }>({
        path: '/system/df',
        query: { type: 'image' },
      })
      const usage = {
        timestamp: BigInt(Date.now()) * 1_000_000n,
        fsId: { mountpoint: info.DockerRootDir },
        usedBytes: { value: BigInt(LayersSize) },
        ...inodesIn(info.DockerRootDir),
      }
      return { imageFilesystems: [usage], containerFilesystems: [usage] }
    },
  }
}

/** Removes all names: the engine refuses to remove an image of several names by its ID. */
async function remove(engine: DockerEngine, image: ImageInspection | undefined): Promise<void> {
  if (!image) return
  for (const name of [...(image.RepoTags ?? []), ...(image.RepoDigests ?? []), image.Id])
    await engine.json({ method: 'DELETE', path: `/images/${encodeURI(name)}` }).catch((error) => {
      if (!isMissing(error)) throw callError(`failed to remove image ${name}`, error)
    })
}

/** Those of the whole file system; none if it is that of another machine. */
function inodesIn(folder: string): { inodesUsed?: { value: bigint } } {
  try {
    const { files, ffree } = statfsSync(folder)
    return { inodesUsed: { value: BigInt(files - ffree) } }
  } catch {
    return {}
  }
}

/** The engine shortens the names of its own registry. */
function imageMessage({ Id, RepoTags, RepoDigests, Size }: ImageSummary): MessageInitShape<typeof ImageSchema> {
  const named = (names: readonly string[] | null | undefined): string[] =>
    (names ?? []).filter((name) => !name.includes('<none>')).map(completeName)
  const repoTags = named(RepoTags)
  return {
    id: Id,
    repoTags,
    repoDigests: named(RepoDigests),
    size: BigInt(Size),
    pinned: repoTags.includes(pauseImage),
  }
}
