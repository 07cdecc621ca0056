/** The container runtime of a real node that has no other one. */
import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { defaultImageRoot } from '../../runtime/images/image-root.ts'

/** The folders of an embedded runtime, as plain data. */
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
}

/**
 * The runtime of a node whose files are in `folder`. Sockets have short paths, so its own is not in the folder, and
 * clusters with different folders have different runtimes. Images are shared with `t8s image`.
 */
export function embeddedRuntime(
  folder: string,
  { docker, imageSources }: Pick<EmbeddedRuntime, 'docker' | 'imageSources'>,
): EmbeddedRuntime {
  const name = createHash('sha256').update(resolve(folder)).digest('hex').slice(0, 12)
  const state = join('/run/typernetes', name)
  return {
    endpoint: `unix://${join(state, 'runtime.sock')}`,
    root: join(folder, 'runtime'),
    state,
    imageRoot: process.env.T8S_IMAGE_ROOT || defaultImageRoot(),
    docker,
    name,
    imageSources,
  }
}
