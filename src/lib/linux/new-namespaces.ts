/** Creates namespaces without a process. Namespaces belong to threads: only synchronous calls see the new ones. */
import { closeSync, openSync } from 'node:fs'
import { cLibrary } from './c-library.ts'
import { bindMount, mountCalls } from './mount-calls.ts'
import { newNetwork, systemCalls } from './system-calls.ts'

/** The kinds by their names in `/proc/PID/ns`, with the flags of unshare(2). */
const flags = { net: newNetwork, ipc: 0x0800_0000, uts: 0x0400_0000 } as const

export type NamespaceKind = keyof typeof flags

let unshare: ((flags: number) => number) | undefined

/**
 * Creates a namespace of each kind, runs a synchronous function in them, and mounts each on an existing file, which
 * holds it. Needs root.
 * @throws a `SystemCallError`, or what the function throws; nothing is mounted then.
 */
export function createHeldNamespaces(files: ReadonlyMap<NamespaceKind, string>, run: () => void): void {
  const { setNamespace } = systemCalls()
  const { check, declare } = cLibrary()
  unshare ??= declare<[flags: number]>('int unshare(int flags)')
  const kinds = [...files.keys()]
  const own = kinds.map((kind) => [kind, openSync(`/proc/thread-self/ns/${kind}`, 'r')] as const)
  try {
    check('unshare', unshare(kinds.reduce((sum, kind) => sum | flags[kind], 0)))
    try {
      run()
      hold(files)
    } finally {
      for (const [kind, file] of own) setNamespace(file, flags[kind])
    }
  } finally {
    for (const [, file] of own) closeSync(file)
  }
}

let sethostname: ((name: string, length: number) => number) | undefined

/** Sets the host name in the UTS namespace of this thread. Its file in `/proc` belongs to root of the machine. */
export function setHostName(name: string): void {
  const { check, declare } = cLibrary()
  sethostname ??= declare<[name: string, length: number]>('int sethostname(const char *name, size_t length)')
  check('sethostname', sethostname(name, Buffer.byteLength(name)))
}

function hold(files: ReadonlyMap<NamespaceKind, string>): void {
  const { mount, unmount } = mountCalls()
  try {
    for (const [kind, file] of files) mount(`/proc/thread-self/ns/${kind}`, file, 'none', bindMount, '')
  } catch (error) {
    for (const file of files.values()) unmount(file)
    throw error
  }
}
