/**
 * Mount points inside a volume: a container that mounts a volume at `/etc` and another one at `/etc/keys` needs a
 * folder `keys` in the first. Runtimes cannot make it in a read-only volume, so it is made with the content.
 */
import { mkdir } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import type { Container } from '../../pod-types.ts'

/** The paths, relative to the volume, at which containers mount other volumes. */
export function nestedMountPoints(volume: string, containers: readonly Container[]): string[] {
  return containers.flatMap(({ volumeMounts = [] }) => {
    const all = volumeMounts.map(({ mountPath }) => cleanPath(mountPath)).sort()
    const own = volumeMounts.filter(({ name }) => name === volume).map(({ mountPath }) => cleanPath(mountPath))
    return own.flatMap((point) => nestedIn(point, all))
  })
}

function nestedIn(point: string, sortedPoints: readonly string[]): string[] {
  if (point.startsWith('../')) throw new Error(`invalid container mount point ${point}`)
  const found: string[] = []
  let last: string | undefined
  for (const other of sortedPoints) {
    if (!other.startsWith(`${point}/`)) continue
    // A mount point inside the last one is in that volume.
    if (last !== undefined && other.startsWith(`${last}/`)) continue
    last = other
    found.push(other.slice(point.length + 1))
  }
  return found
}

export async function makeNestedMountPoints(
  folder: string,
  volume: string,
  containers: readonly Container[],
): Promise<void> {
  for (const path of nestedMountPoints(volume, containers)) await mkdir(join(folder, path), { recursive: true })
}

const cleanPath = (path: string): string => normalize(path).replace(/(.)\/$/, '$1')
