/** hostPath: a file or folder of the node, also as a persistent volume. */
import { constants, mkdir, open, stat } from 'node:fs/promises'
import { undefinedIfMissing } from '../../files/missing.ts'
import { checkNoBacksteps } from '../../files/path-rules.ts'
import type { VolumePlugin, VolumeSpec } from '../../volume-plugin.ts'
import { type FileKind, fileKind } from './file-kind.ts'

interface HostPath {
  readonly path: string
  readonly type?: string
}

const hostPathOf = ({ volume, persistentVolume }: VolumeSpec): HostPath | undefined =>
  volume?.hostPath ?? persistentVolume?.spec?.hostPath

export const hostPathPlugin: VolumePlugin = {
  name: 'kubernetes.io/host-path',
  isRefreshed: false,
  hasMountOptions: false,
  supports: (spec) => hostPathOf(spec) !== undefined,
  async setUp({ spec }) {
    const { path, type = '' } = hostPathOf(spec) ?? { path: '' }
    checkNoBacksteps(path, (message) => `invalid HostPath \`${path}\`: ${message}`)
    await prepare(path, type)
    return { path, isReadOnly: spec.isReadOnly, isRelabeled: false }
  },
  // The path is the node's: there is no folder.
  async tearDown() {},
}

/** The kinds of files by type, with their words in messages. */
const wantedKinds: Readonly<Record<string, readonly [kind: FileKind, word: string]>> = {
  DirectoryOrCreate: ['Directory', 'directory'],
  Directory: ['Directory', 'directory'],
  FileOrCreate: ['File', 'file'],
  File: ['File', 'file'],
  Socket: ['Socket', 'socket file'],
  CharDevice: ['CharDevice', 'character device'],
  BlockDevice: ['BlockDevice', 'block device'],
}

async function prepare(path: string, type: string): Promise<void> {
  if (type === '') return
  const wanted = wantedKinds[type]
  if (!wanted) throw new Error(`${type} is an invalid volume type`)
  const present = await stat(path).catch(undefinedIfMissing)
  if (!present && type === 'DirectoryOrCreate') await mkdir(path, { recursive: true, mode: 0o755 })
  else if (!present && type === 'FileOrCreate') await createFile(path)
  else if (!present || fileKind(present) !== wanted[0])
    throw new Error(`hostPath type check failed: ${path} is not a ${wanted[1]}`)
}

/** Parent folders are not made. */
async function createFile(path: string): Promise<void> {
  const handle = await open(path, constants.O_CREAT | constants.O_RDONLY, 0o644)
  await handle.close()
}
