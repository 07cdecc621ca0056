/** Namespaces of sandboxes: each is held by a mount on a file, so that no process has to. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mountCalls } from '../../lib/linux/mount-calls.ts'
import { createHeldNamespaces, type NamespaceKind, setHostName } from '../../lib/linux/new-namespaces.ts'
import { succeed } from '../host/run-program.ts'
import { createOwnedNamespaces, type UserMappings } from './user-namespace.ts'

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
/** MS_NOSUID, MS_NODEV and MS_NOEXEC. */
const shmFlags = 2 | 4 | 8

/** Creates the namespaces; no interface of the network is up. Rejects if the kernel refuses one, or a sysctl. */
export async function createNamespaces(
  folder: string,
  wanted: WantedNamespaces,
  { hostname, sysctls }: NamespaceSettings,
): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  const files = namespaceFiles(folder)
  const { users } = wanted
  const held = new Map<NamespaceKind, string>()
  if (wanted.network) held.set('net', files.network)
  if (wanted.ipc) held.set('ipc', files.ipc)
  if (wanted.uts) held.set('uts', files.uts)
  for (const file of [...held.values(), ...(users ? [files.user] : [])]) writeFileSync(file, '')
  const host = wanted.uts ? hostname : ''
  if (users) await createForUsers(files.user, held, users, host, sysctls)
  else if (held.size > 0)
    createHeldNamespaces(held, () => {
      if (host) setHostName(host)
      for (const [name, value] of Object.entries(sysctls)) writeSysctl(sysctlPath(name), value)
    })
  if (wanted.ipc) {
    mkdirSync(files.shm)
    const owner = users ? `,uid=${users.uids.hostId},gid=${users.gids.hostId}` : ''
    mountCalls().mount('shm', files.shm, 'tmpfs', shmFlags, `${shmOptions}${owner}`)
  }
}

function writeSysctl(path: string, value: string): void {
  try {
    writeFileSync(`/proc/sys/${path}`, value)
  } catch (error) {
    throw new Error(`open /proc/sys/${path}: cannot be written`, { cause: error })
  }
}

/** Arguments: the host name or '', then paths and values of sysctls. Root of a user namespace cannot write the file. */
const settings = `
set -e
if [ -n "$1" ]; then { printf %s "$1" >/proc/sys/kernel/hostname; } 2>/dev/null || hostname "$1"; fi
shift
while [ $# -gt 0 ]; do
  printf %s "$2" >"/proc/sys/$1" || { echo "open /proc/sys/$1: cannot be written" >&2; exit 1; }
  shift 2
done
`

/** Root of the machine sets host name and sysctls, as the pod may not. Processes with threads cannot join the users. */
async function createForUsers(
  file: string,
  held: ReadonlyMap<NamespaceKind, string>,
  users: UserMappings,
  hostname: string,
  sysctls: Readonly<Record<string, string>>,
): Promise<void> {
  await createOwnedNamespaces(new Map([['user', file], ...held]), users)
  if (held.size === 0) return
  const flags = [...held].map(([kind, path]) => `--${kind}=${path}`)
  const values = Object.entries(sysctls).flatMap(([name, value]) => [sysctlPath(name), value])
  await succeed('nsenter', [...flags, '/bin/sh', '-c', settings, 'sandbox', hostname, ...values])
}

/** Dots separate the parts of a name, unless it has slashes. */
function sysctlPath(name: string): string {
  const path = name.includes('/') ? name : name.replaceAll('.', '/')
  if (path.split('/').includes('..')) throw new Error(`invalid sysctl ${JSON.stringify(name)}`)
  return path
}

/** Frees the namespaces. Does nothing for those that are free. */
export function removeNamespaces(folder: string): void {
  for (const file of Object.values(namespaceFiles(folder))) mountCalls().unmount(file)
}
