/** Namespaces of sandboxes: each is held by a mount on a file, so that no process has to. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram, succeed } from '../host/run-program.ts'

/** The namespaces that a sandbox has of its own. */
export interface WantedNamespaces {
  readonly network: boolean
  readonly ipc: boolean
  readonly uts: boolean
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
  const flags = [
    ...(wanted.network ? [`--net=${files.network}`] : []),
    ...(wanted.ipc ? [`--ipc=${files.ipc}`] : []),
    ...(wanted.uts ? [`--uts=${files.uts}`] : []),
  ]
  for (const flag of flags) writeFileSync(flag.slice(flag.indexOf('=') + 1), '')
  const values = Object.entries(sysctls).flatMap(([name, value]) => [sysctlPath(name), value])
  const script = ['/bin/sh', '-c', settings, 'sandbox', wanted.uts ? hostname : '', ...values]
  if (flags.length > 0) await succeed('unshare', [...flags, ...script])
  if (wanted.ipc) {
    mkdirSync(files.shm)
    await succeed('mount', ['-t', 'tmpfs', '-o', `nosuid,nodev,noexec,${shmOptions}`, 'shm', files.shm])
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
