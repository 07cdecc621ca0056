/** Image volumes (KEP-4639): the files of an image, read-only, at a path of a container. */
import { lstatSync } from 'node:fs'
import type { ContainerConfig } from '#protobuf/cri-runtime_pb.js'
import type { Mount } from '#protobuf/cri-values_pb.js'
import { RpcError } from '../../lib/grpc/grpc-error.ts'
import type { ContainerImages, RootUsers } from '../images-interface.ts'
import { resolveInRoot } from '../spec/root-files.ts'

export interface ImageVolumes {
  /** As the client has sent it, with the IDs of the images that were found. */
  readonly stated: ContainerConfig
  /** With a path of the host in place of each image. */
  readonly mounted: ContainerConfig
}

const volumeId = (containerId: string, number: number): string => `${containerId}.volume-${number}`

/**
 * Prepares the image volumes of a container; `add` gets the ID of each root file system before it is prepared. Rejects
 * with an RpcError if an image or path is missing, or if a volume is to be written.
 */
export async function prepareImageVolumes(
  images: ContainerImages,
  containerId: string,
  config: ContainerConfig,
  users: RootUsers | undefined,
  add: (id: string) => void,
): Promise<ImageVolumes> {
  const stated: Mount[] = []
  const mounted: Mount[] = []
  for (const [number, mount] of config.mounts.entries()) {
    if (!mount.image?.image) {
      stated.push(mount)
      mounted.push(mount)
      continue
    }
    const id = volumeId(containerId, number)
    add(id)
    const { imageRef, hostPath } = await prepareVolume(images, id, mount, users)
    stated.push({ ...mount, image: { ...mount.image, imageRef } })
    const { image: _, ...others } = mount
    mounted.push({ ...others, hostPath })
  }
  return { stated: { ...config, mounts: stated }, mounted: { ...config, mounts: mounted } }
}

async function prepareVolume(images: ContainerImages, id: string, mount: Mount, users: RootUsers | undefined) {
  const { containerPath, image, imageSubPath, readonly } = mount
  const reference = image?.image ?? ''
  if (!readonly) throw new RpcError('InvalidArgument', `image volume at ${containerPath} must be read-only`)
  const found = await images.find(reference)
  if (!found)
    throw new RpcError('NotFound', `image volume at ${containerPath}: image ${JSON.stringify(reference)} not found`)
  const root = await images.prepareRoot(id, found.id, { isReadOnly: true, users })
  const hostPath = resolveInRoot(root, imageSubPath)
  if (!lstatSync(hostPath, { throwIfNoEntry: false }))
    throw new RpcError(
      'NotFound',
      `image volume at ${containerPath}: ${JSON.stringify(imageSubPath)} is not in ${JSON.stringify(reference)}`,
    )
  return { imageRef: found.id, hostPath }
}
