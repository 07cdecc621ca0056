/** The images that every test may use; all are in the runtime from the start. */
import { join } from 'node:path'
import { busyboxLayer, type ImageConfig, writeImage } from '../oci-image.ts'

export const images = {
  pause: 'registry.test/pause:3.10',
  busybox: 'registry.test/busybox:1',
  /** The same programs with another image id, for updates of templates. */
  newBusybox: 'registry.test/busybox:2',
} as const

const configs: Readonly<Record<keyof typeof images, ImageConfig>> = {
  pause: { Entrypoint: ['/bin/sleep', '2147483647'] },
  busybox: { Cmd: ['sh'] },
  newBusybox: { Cmd: ['sh'], Env: ['VERSION=2'] },
}

/** Writes their archives into a folder, and returns the files. */
export function writeTestImages(folder: string): string[] {
  const layers = [busyboxLayer()]
  return (Object.keys(images) as (keyof typeof images)[]).map((name) => {
    const file = join(folder, `${name}.tar`)
    writeImage(file, [images[name]], layers, configs[name])
    return file
  })
}
