/**
 * Starts programs that outlive this process. Node copies its page tables for each child (`fork`), which takes
 * milliseconds in a large process; `posix_spawn` does not.
 */

import { cLibrary } from '../../lib/linux/c-library.ts'
import type { CommandLine } from '../executors/executor.ts'

/** POSIX_SPAWN_SETSID: the program gets a session of its own, without the terminal of this process. */
const ownSession = 0x80
/** O_RDWR. */
const readWrite = 2
/** WNOHANG. */
const withoutWaiting = 1
/** More than the opaque structs have in any C library. */
const structBytes = 512
/** A child that has ended remains as a zombie until its exit code is read. In ms. */
const reapMs = 1_000

const load = () => {
  const { declare } = cLibrary()
  return {
    spawn: declare<[Int32Array, string, Buffer, Buffer, (string | null)[], (string | null)[]]>(
      'int posix_spawn(int *pid, char *path, void *actions, void *attributes, const char **args, const char **env)',
    ),
    initActions: declare<[Buffer]>('int posix_spawn_file_actions_init(void *actions)'),
    addOpen: declare<[Buffer, number, string, number, number]>(
      'int posix_spawn_file_actions_addopen(void *actions, int file, const char *path, int flags, unsigned int mode)',
    ),
    destroyActions: declare<[Buffer]>('int posix_spawn_file_actions_destroy(void *actions)'),
    initAttributes: declare<[Buffer]>('int posix_spawnattr_init(void *attributes)'),
    setFlags: declare<[Buffer, number]>('int posix_spawnattr_setflags(void *attributes, short flags)'),
    waitpid: declare<[number, null, number]>('int waitpid(int pid, void *status, int options)'),
  }
}

let loaded: ReturnType<typeof load> | undefined
const children = new Set<number>()
let reaper: NodeJS.Timeout | undefined

/**
 * Starts a program by its path, without standard streams, in a session of its own. Returns its number. Its exit code is
 * not known. Throws an Error if it cannot be started.
 */
export function spawnDetached([path, ...args]: CommandLine): number {
  loaded ??= load()
  const { spawn, initActions, addOpen, destroyActions, initAttributes, setFlags } = loaded
  const pid = new Int32Array(1)
  const [actions, attributes] = [Buffer.alloc(structBytes), Buffer.alloc(structBytes)]
  const environment = Object.entries(process.env).map(([name, value]) => `${name}=${value}`)
  initActions(actions)
  initAttributes(attributes)
  try {
    for (const file of [0, 1, 2]) addOpen(actions, file, '/dev/null', readWrite, 0)
    setFlags(attributes, ownSession)
    const failure = spawn(pid, path, actions, attributes, [path, ...args, null], [...environment, null])
    if (failure !== 0) throw new Error(`cannot start ${path}: error ${failure}`)
  } finally {
    destroyActions(actions)
  }
  children.add(pid[0]!)
  reaper ??= setInterval(reap, reapMs).unref()
  return pid[0]!
}

/** Reads the exit codes of children that have ended. */
function reap(): void {
  // Zero: it still runs. Negative: somebody else has read it.
  for (const pid of children) if (loaded!.waitpid(pid, null, withoutWaiting) !== 0) children.delete(pid)
  if (children.size > 0) return
  clearInterval(reaper)
  reaper = undefined
}
