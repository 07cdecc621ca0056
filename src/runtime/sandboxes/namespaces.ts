/** Namespaces of sandboxes: each is held by a mount on a file, so that no process has to. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram, succeed } from '../host/run-program.ts'
import { createOwnedNamespaces, type HeldNamespace, type UserMappings } from './user-namespace.ts'

/** The namespaces that a sandbox has of its own. */
export interface WantedNamespaces {
  readonly network: boolean
  readonly ipc: boolean
  readonly uts: boolean
  /** Undefined for the machine's users. */
  readonly users: UserMappings | undefined
}

export interface NamespaceSettings {
  /** Set in the UTS namespace. */
  readonly hostname: string
  /** By dotted names. */
  readonly sysctls: Readonly<Record<string, string>>
}

/** The files that hold the namespaces of the sandbox in a folder. */
export const namespaceFiles = (folder: string) =>
  ({
    network: join(folder, 'net'),
    ipc: join(folder, 'ipc'),
    uts: join(folder, 'uts'),
    user: join(folder, 'user'),
    shm: join(folder, 'shm'),
  }) as const

const shmOptions = 'mode=1777,size=65536k'

/** Arguments: the host name or '', then paths and values of sysctls. */
const settings = `
set -e
if [ -n "$1" ]; then printf %s "$1" >/proc/sys/kernel/hostname; fi
shift
while [ $# -gt 0 ]; do
  printf %s "$2" >"/proc/sys/$1" || { echo "open /proc/sys/$1: cannot be written" >&2; exit 1; }
  shift 2
done
`

/** Creates the namespaces; no interface of the network is up. Rejects if the kernel refuses one, or a sysctl. */
export async function createNamespaces(
  folder: string,
  wanted: WantedNamespaces,
  { hostname, sysctls }: NamespaceSettings,
): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  const files = namespaceFiles(folder)
  const { users } = wanted
  const held: readonly HeldNamespace[] = [
    ...(users ? [{ name: 'user', file: files.user } as const] : []),
    ...(wanted.network ? [{ name: 'net', file: files.network } as const] : []),
    ...(wanted.ipc ? [{ name: 'ipc', file: files.ipc } as const] : []),
    ...(wanted.uts ? [{ name: 'uts', file: files.uts } as const] : []),
  ]
  for (const { file } of held) writeFileSync(file, '')
  if (users) await createOwnedNamespaces(held, users)
  // Root of the machine sets them, as the pod may not.
  const flags = held.flatMap(({ name, file }) => (name === 'user' ? [] : [`--${name}=${file}`]))
  const values = Object.entries(sysctls).flatMap(([name, value]) => [sysctlPath(name), value])
  const script = ['/bin/sh', '-c', settings, 'sandbox', wanted.uts ? hostname : '', ...values]
  if (flags.length > 0) await succeed(users ? 'nsenter' : 'unshare', [...flags, ...script])
  if (wanted.ipc) {
    mkdirSync(files.shm)
    const owner = users ? `,uid=${users.uids.hostId},gid=${users.gids.hostId}` : ''
    await succeed('mount', ['-t', 'tmpfs', '-o', `nosuid,nodev,noexec,${shmOptions}${owner}`, 'shm', files.shm])
  }
}

/** Dots separate the parts of a name, unless it has slashes. */
function sysctlPath(name: string): string {
  const path = name.includes('/') ? name : name.replaceAll('.', '/')
  if (path.split('/').includes('..')) throw new Error(`invalid sysctl ${JSON.stringify(name)}`)
  return path
}

/** Frees the namespaces. Does nothing for those that are free. */
export async function removeNamespaces(folder: string): Promise<void> {
  const files = Object.values(namespaceFiles(folder)).filter((file) => existsSync(file))
  // Files that are not mounted are reported, and need nothing.
  if (files.length > 0) await runProgram('umount', ['--lazy', ...files])
}
