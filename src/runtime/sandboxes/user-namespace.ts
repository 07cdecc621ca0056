/** User namespaces of pods (KEP-127): users of a pod are other users on the machine. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { PodSandboxConfig } from '#protobuf/cri-runtime_pb.js'
import { type IDMapping, NamespaceMode } from '#protobuf/cri-values_pb.js'
import { RpcError } from '../../lib/grpc/grpc-error.ts'
import type { NamespaceKind } from '../../lib/linux/new-namespaces.ts'
import { succeed } from '../host/run-program.ts'

/** A range of IDs that begins with 0 in the container. */
export interface MappedRange {
  readonly hostId: number
  readonly length: number
}

export interface UserMappings {
  readonly uids: MappedRange
  readonly gids: MappedRange
}

/** The users of a pod; undefined for those of the machine. Throws InvalidArgument for others than one range from 0. */
export function userMappingsOf(config: PodSandboxConfig): UserMappings | undefined {
  const options = config.linux?.securityContext?.namespaceOptions?.usernsOptions
  if (!options || options.mode === NamespaceMode.NODE) return undefined
  if (options.mode !== NamespaceMode.POD)
    throw new RpcError('InvalidArgument', 'the user namespace of a pod must have the mode POD or NODE')
  return { uids: rangeOf(options.uids, 'UID'), gids: rangeOf(options.gids, 'GID') }
}

function rangeOf(mappings: readonly IDMapping[], kind: string): MappedRange {
  const [mapping] = mappings
  if (!mapping || mappings.length > 1)
    throw new RpcError('InvalidArgument', `a user namespace needs one ${kind} mapping, not ${mappings.length}`)
  const { hostId, containerId, length } = mapping
  if (containerId !== 0 || length === 0)
    throw new RpcError('InvalidArgument', `the ${kind} mapping of a user namespace must have the container's ID 0`)
  return { hostId, length }
}

const binds = 'pid=$1; shift; while [ $# -gt 0 ]; do mount --bind "/proc/$pid/ns/$1" "$2" || exit 1; shift 2; done'

/**
 * Creates a user namespace and others that it owns, and mounts them on existing files. `namespaces` has the files by
 * the names in `/proc/PID/ns`.
 */
export async function createOwnedNamespaces(
  namespaces: ReadonlyMap<'user' | NamespaceKind, string>,
  { uids, gids }: UserMappings,
): Promise<void> {
  const flags = [...namespaces.keys()].map((kind) => `--${kind}`)
  const child = spawn('unshare', [...flags, '/bin/sh', '-c', 'echo ready; read line'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  try {
    const [chunk] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
    if (!(chunk instanceof Buffer)) throw new Error('unshare: the kernel does not allow a user namespace')
    writeFileSync(`/proc/${child.pid}/uid_map`, `0 ${uids.hostId} ${uids.length}\n`)
    writeFileSync(`/proc/${child.pid}/gid_map`, `0 ${gids.hostId} ${gids.length}\n`)
    const files = [...namespaces].flat()
    await succeed('/bin/sh', ['-c', binds, 'bind', String(child.pid), ...files])
  } finally {
    child.stdin.end()
  }
}
