/** The file of a sandbox's network namespace, as this process can open it. */
import { readlinkSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { socketServer } from '../../../lib/linux/socket-server.ts'

/** NSFS_MAGIC of linux/magic.h: the file system of namespaces. */
const namespaceFileSystem = 0x6e736673

interface SandboxInfo {
  /** A process of the sandbox, in the process namespace of the runtime. */
  readonly pid?: number
  readonly runtimeSpec?: {
    readonly linux?: { readonly namespaces?: readonly { readonly type: string; readonly path?: string }[] }
  }
}

/**
 * Returns the file for the details of a sandbox, as runtimes give them (`crictl inspectp`); undefined if they have none
 * that is a namespace here. The mounts of a runtime may differ from those of this process, as in a machine of
 * `t8s up --machines`.
 */
export function namespaceFile(endpoint: string, details: Readonly<Record<string, string>>): string | undefined {
  const { pid, runtimeSpec } = JSON.parse(details.info ?? '{}') as SandboxInfo
  // A link to an absolute path would lead out of the mounts of the runtime.
  const path = runtimeSpec?.linux?.namespaces
    ?.find(({ type }) => type === 'network')
    ?.path?.replace(/^\/var\/run\//, '/run/')
  const runtime = socketServer(endpoint.replace('unix://', ''))
  const candidates = [
    ...(path && runtime ? [join(`/proc/${runtime}/root`, path)] : []),
    ...(path ? [path] : []),
    ...(pid && (runtime === undefined || sharesProcesses(runtime)) ? [`/proc/${pid}/ns/net`] : []),
  ]
  return candidates.find(isNamespace)
}

function sharesProcesses(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`) === readlinkSync('/proc/self/ns/pid')
  } catch {
    return false
  }
}

function isNamespace(path: string): boolean {
  try {
    return statfsSync(path).type === namespaceFileSystem
  } catch {
    return false
  }
}
