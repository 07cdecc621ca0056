/** The layout of a data directory (`--data-dir`). */
import { accessSync, constants } from 'node:fs'
import { join, resolve } from 'node:path'
import { ExplainedError, reasonOf } from '../lib/explained-error.ts'
import { makeDirectory } from '../lib/files/make-directory.ts'

export interface DataDirectory {
  readonly path: string
  /** The store's directory; snapshots are taken from it. */
  readonly store: string
  readonly pki: string
  /** The administrator's kubeconfig. */
  readonly kubeconfig: string
  /** Directories of volumes; missing until the cluster uses them. */
  readonly volumes: string
  /** The files of the real node's kubelet; missing in clusters without one. */
  readonly node: string
}

/** Returns the paths of a data directory, without touching the disk. */
export function dataDirectoryPaths(directory: string): DataDirectory {
  const path = resolve(directory)
  return {
    path,
    store: join(path, 'store'),
    pki: join(path, 'pki'),
    kubeconfig: join(path, 'kubeconfig'),
    volumes: join(path, 'volumes'),
    node: join(path, 'node'),
  }
}

/** Creates the directory if it is missing. Throws an ExplainedError if it cannot be written. */
export function dataDirectory(directory: string): DataDirectory {
  const paths = dataDirectoryPaths(directory)
  try {
    makeDirectory(paths.path, 0o700)
    accessSync(paths.path, constants.W_OK)
  } catch (error) {
    throw new ExplainedError(
      `cannot store data in ${paths.path}: ${reasonOf(error)}; choose another directory with --data-dir or fix ` +
        'its permissions',
      {
        cause: error,
      },
    )
  }
  return paths
}
