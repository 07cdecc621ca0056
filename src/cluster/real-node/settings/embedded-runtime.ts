/** The container runtime of a real node that has no other one. */
import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { defaultImageRoot } from '../../../runtime/images/image-root.ts'
import type { RegistrySettings } from '../../../runtime/images/index.ts'

/**
 * The folders and names of an embedded runtime, as plain data. All but the images belong to one cluster, so that a
 * machine can have real nodes of several clusters.
 */
export interface EmbeddedRuntime {
  /** The URL of its socket. */
  readonly endpoint: string
  /** The folder of records, which survives a reboot. */
  readonly root: string
  /** The folder of what a reboot removes. */
  readonly state: string
  readonly imageRoot: string
  /** The address of a Docker engine that runs the containers, in place of the folders above. */
  readonly docker: string | undefined
  /** Distinguishes its containers from those of other clusters on the engine. */
  readonly name: string
  /** Other programs whose images are used. */
  readonly imageSources: readonly string[]
  /** Mirrors, and registries without TLS. */
  readonly registries: RegistrySettings
  /** The bridge of its pods. */
  readonly bridge: string
  /** The cgroup of its pods. */
  readonly cgroup: string
}

/** The names of the bridges of all clusters begin so. */
export const bridgePrefix = 't8s-'

/** Where CNI plug-ins and their configurations are. */
export const pluginFolders = { configFolder: '/etc/cni/net.d', pluginFolders: ['/opt/cni/bin', '/usr/lib/cni'] }

/** Distinguishes a node whose files are in `folder` from others on this machine: 12 hexadecimal digits. */
export const instanceOf = (folder: string): string =>
  createHash('sha256').update(resolve(folder)).digest('hex').slice(0, 12)

/**
 * The runtime of a node whose files are in `folder`. Sockets have short paths, so its own is not in the folder. Images
 * are shared with `t8s image`.
 */
export function embeddedRuntime(
  folder: string,
  {
    docker,
    imageSources = [],
    registries = {},
  }: Partial<Pick<EmbeddedRuntime, 'docker' | 'imageSources' | 'registries'>> = {},
): EmbeddedRuntime {
  const name = instanceOf(folder)
  const state = join('/run/typernetes', name)
  return {
    endpoint: `unix://${join(state, 'runtime.sock')}`,
    root: join(folder, 'runtime'),
    state,
    imageRoot: process.env.T8S_IMAGE_ROOT || defaultImageRoot(),
    docker,
    name,
    imageSources,
    registries,
    // Names of interfaces have at most 15 bytes.
    bridge: `${bridgePrefix}${name.slice(0, 8)}`,
    cgroup: `/t8s-${name}`,
  }
}
