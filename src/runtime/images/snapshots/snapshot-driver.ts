/** Ways to put layers on top of each other, by what this machine can do. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isInUserNamespace } from '../../../lib/linux/user-namespace.ts'
import type { LayerFormat } from '../layers/layer-writer.ts'
import type { StorePaths } from '../store/store-paths.ts'
import { mountAt, unmountAt } from './linux-mounts.ts'
import type { RootMount } from './snapshots.ts'

/**
 * `overlay` for root; `user-overlay` for root of a user namespace; `fuse-overlayfs` where the kernel refuses; `copy`
 * without any of them.
 */
export type DriverName = 'overlay' | 'user-overlay' | 'fuse-overlayfs' | 'copy'

export interface DriverFolders {
  /** The folders of the layers, the lowest first. */
  readonly layers: readonly string[]
  /** The folder for changes; absent if the root file system is read-only. */
  readonly upper?: string
  readonly work: string
  /** The complete copy of the driver `copy`. */
  readonly copy: string
  /** An empty folder. */
  readonly empty: string
}

/** The format in which a driver needs layers. */
export const formatOf = (driver: DriverName): LayerFormat => (driver === 'fuse-overlayfs' ? 'overlay' : driver)

/** Returns the mount of a root file system. */
export function rootMount(driver: DriverName, { layers, upper, work, copy, empty }: DriverFolders): RootMount {
  if (driver === 'copy') return { type: 'bind', source: copy, options: upper ? ['bind'] : ['bind', 'ro'] }
  const lower = layers.length === 0 ? [empty] : [...layers].reverse()
  // Overlays without a folder for changes need two layers.
  if (!upper && lower.length === 1) return { type: 'bind', source: lower[0]!, options: ['bind', 'ro'] }
  const folders = [`lowerdir=${lower.map(escaped).join(':')}`]
  if (upper) folders.push(`upperdir=${escaped(upper)}`, `workdir=${escaped(work)}`)
  if (driver === 'fuse-overlayfs') return { type: 'fuse.fuse-overlayfs', source: 'overlay', options: folders }
  const options = [
    ...(hasIndex() ? ['index=off'] : []),
    ...(driver === 'user-overlay' ? ['userxattr'] : disabledFeatures()),
    ...folders,
  ]
  return { type: 'overlay', source: 'overlay', options: upper ? options : ['ro', ...options] }
}

const escaped = (path: string): string => path.replace(/[\\:,]/g, '\\$&')

/** With an index, a folder for changes could not be mounted again after its layers were unpacked once more. */
const hasIndex = (): boolean => parameterOf('index') !== ''

/** With them, the folder for changes has files without content, and folders without files: it would be no layer. */
const disabledFeatures = (): string[] =>
  ['redirect_dir', 'metacopy'].filter((name) => parameterOf(name) === 'Y').map((name) => `${name}=off`)

function parameterOf(name: string): string {
  const file = `/sys/module/overlay/parameters/${name}`
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
}

/** Tries the drivers in the store's folder and returns the best one that works. */
export async function chooseDriver(paths: StorePaths): Promise<DriverName> {
  const candidates: readonly DriverName[] = isInUserNamespace()
    ? ['user-overlay', 'fuse-overlayfs']
    : ['overlay', 'user-overlay', 'fuse-overlayfs']
  for (const driver of candidates) if (await works(driver, paths)) return driver
  return 'copy'
}

async function works(driver: DriverName, { root }: StorePaths): Promise<boolean> {
  mkdirSync(root, { recursive: true, mode: 0o700 })
  const folder = mkdtempSync(join(root, 'probe-'))
  const path = (name: string): string => {
    mkdirSync(join(folder, name), { recursive: true })
    return join(folder, name)
  }
  try {
    const folders = {
      layers: [path('lower')],
      upper: path('upper'),
      work: path('work'),
      copy: '',
      empty: path('empty'),
    }
    await mountAt(rootMount(driver, folders), path('merged'))
    return true
  } catch {
    return false
  } finally {
    unmountAt(join(folder, 'merged'))
    rmSync(folder, { recursive: true, force: true })
  }
}
