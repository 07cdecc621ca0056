/** Images of a runtime under test: Debian's busybox, in a store, with users and groups. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { containerImages, imageCalls } from '../../../src/runtime/cri/image-calls.ts'
import {
  exportArchive,
  ImagePuller,
  ImageStore,
  importArchive,
  LayeredSnapshots,
} from '../../../src/runtime/images/index.ts'
import { busyboxLayer, layerOf, writeFiles, writeImage } from '../../kubelet/support/oci-image.ts'

/** The group `extra` (50) has the user `www-data` (33) as a member. */
const usersLayer = () =>
  layerOf((folder) =>
    writeFiles(folder, {
      'etc/group': 'root:x:0:\nwww-data:x:33:\nextra:x:50:www-data\n',
      'usr/share/message': 'from the image\n',
    }),
  )

const busybox = 'docker.io/library/busybox:latest'

async function openStore(folder: string): Promise<ImageStore> {
  const isNew = !existsSync(folder)
  const store = new ImageStore(folder)
  if (isNew) {
    const archive = join(folder, 'busybox.tar')
    writeImage(archive, [busybox], [busyboxLayer(), usersLayer()], { Cmd: ['sh'] })
    await importArchive(store, archive)
  }
  return store
}

/** The archive of the image for `docker load`. `folder` is for the files of the store. */
export async function dockerArchive(folder: string): Promise<Buffer> {
  const archive = new PassThrough()
  const content = buffer(archive)
  await exportArchive(await openStore(folder), [busybox], archive)
  archive.end()
  return content
}

/** Opens the store in a folder. A new one gets `busybox`. */
export async function storedImages(folder: string) {
  const store = await openStore(folder)
  const parts = { store, puller: new ImagePuller({ store }), snapshots: await LayeredSnapshots.open({ store }) }
  return { images: containerImages(parts), imageCalls: imageCalls(parts) }
}
