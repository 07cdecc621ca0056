/** CRI's calls for images. */
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { ImageSchema, ImageService } from '#protobuf/cri-images_pb.js'
import { RpcError } from '../../lib/grpc/grpc-error.ts'
import type { ServiceHandlers } from '../../lib/grpc/socket-server.ts'
import {
  canMapUsers,
  ImageError,
  type ImagePuller,
  type ImageSources,
  type ImageStore,
  type Snapshots,
  type StoredImage,
} from '../images/index.ts'
import type { ContainerImages } from '../images-interface.ts'
import { imageUser } from './image-user.ts'
import { loginOf } from './registry-login.ts'

export interface ImageParts {
  readonly store: ImageStore
  readonly puller: ImagePuller
  readonly snapshots: Snapshots
  /** Other programs whose images are used, too. */
  readonly sources?: ImageSources
}

const nsPerMs = 1_000_000n

export const imageCalls = ({ store, puller, sources }: ImageParts): ServiceHandlers<typeof ImageService> => ({
  listImages({ filter }) {
    const reference = filter?.image?.image ?? ''
    const found = reference === '' ? store.list() : [store.find(reference)].filter((image) => image !== undefined)
    return { images: found.map(imageMessage) }
  },

  async imageStatus({ image, verbose }, signal) {
    await sources?.update(image?.image ?? '', signal)
    const found = store.find(image?.image ?? '')
    if (!found) return {}
    return {
      image: imageMessage(found),
      ...(verbose && { info: { info: JSON.stringify({ imageSpec: { config: found.config.defaults } }) } }),
    }
  },

  async pullImage({ image, auth }, signal) {
    const found = await sources?.update(image?.image ?? '', signal)
    if (found) return { imageRef: found.id }
    const login = loginOf(auth)
    const pulled = await puller
      .pull(image?.image ?? '', { signal, ...(login && { login }) })
      .catch((error) => Promise.reject(withKnownCode(error)))
    return { imageRef: pulled.id }
  },

  async removeImage({ image }) {
    await store.remove(image?.image ?? '')
    return {}
  },

  async imageFsInfo() {
    const { bytes, inodes } = await store.usage()
    const usage = {
      timestamp: BigInt(Date.now()) * nsPerMs,
      fsId: { mountpoint: store.paths.root },
      usedBytes: { value: BigInt(bytes) },
      inodesUsed: { value: BigInt(inodes) },
    }
    return { imageFilesystems: [usage], containerFilesystems: [usage] }
  },
})

/** As containerd, whose error for a registry that does not answer has no code: kubelets show its message alone. */
const withKnownCode = (error: unknown): unknown =>
  error instanceof ImageError && error.code === 'Unavailable'
    ? new RpcError('Unknown', error.message, { cause: error })
    : error

function imageMessage({
  id,
  tags,
  digests,
  size,
  isPinned,
  config,
}: StoredImage): MessageInitShape<typeof ImageSchema> {
  return {
    id,
    repoTags: [...tags],
    repoDigests: [...digests],
    size: BigInt(size),
    pinned: isPinned,
    ...imageUser(config.defaults.User),
  }
}

/** The images of containers, from a store. */
export const containerImages = ({ store, snapshots }: ImageParts): ContainerImages => ({
  canMapUsers: canMapUsers(snapshots.driver),

  async find(reference) {
    const image = store.find(reference)
    if (!image) return undefined
    const { Entrypoint, Cmd, Env, User, WorkingDir, StopSignal } = image.config.defaults
    return {
      id: image.id,
      reference: image.digests[0] ?? image.id,
      defaults: {
        entrypoint: Entrypoint,
        cmd: Cmd,
        env: Env,
        user: User,
        workingDir: WorkingDir,
        stopSignal: StopSignal,
      },
    }
  },

  async prepareRoot(containerId, imageId, options) {
    await snapshots.prepare(containerId, store.get(imageId), options)
    return snapshots.mount(containerId, options?.users)
  },

  removeRoot: (containerId) => snapshots.remove(containerId),

  packChanges: (containerId, file) => snapshots.packChanges(containerId, file),

  async writableUsage(containerId) {
    return { ...(await snapshots.usage(containerId)), mountpoint: store.paths.snapshots }
  },
})
