/** Device nodes of CDI in the form of the OCI specification. */
import { lstatSync, type Stats } from 'node:fs'
import { numbersOf } from '../devices.ts'
import type { OciDevice, OciDeviceRule, OciProcess } from '../oci-spec.ts'
import type { DeviceNode } from './files/cdi-spec.ts'

export interface InjectedNode {
  readonly device: OciDevice
  /** Undefined for nodes that cgroups do not limit. */
  readonly rule: OciDeviceRule | undefined
}

const defaultMode = 0o666

/**
 * The node in a container. Its type and numbers are those of the host's node, if the spec file has none; its owner is
 * the user of the container. Throws an Error if the host's node is needed and missing, or of another type.
 */
export function injectedNode(node: DeviceNode, { uid, gid }: OciProcess['user']): InjectedNode {
  const { path } = node
  const hostPath = node.hostPath || path
  // An unbuffered character device is one for the kernel.
  const stated = node.type === 'u' ? 'c' : node.type
  const isComplete = stated === 'p' || (stated !== '' && node.major !== 0)
  const host = hostNode(hostPath, isComplete)
  const type = stated || host!.type
  if (!isComplete && type !== host!.type)
    throw new Error(`CDI device ("${path}", "${hostPath}"), host type mismatch (${type}, ${host!.type})`)
  const { major, minor } = node.major !== 0 || type === 'p' ? node : host!
  const fileMode = node.fileMode ?? host?.fileMode ?? defaultMode
  const device = { path, type, major, minor, fileMode, uid: node.uid ?? uid, gid: node.gid ?? gid }
  const isLimited = type !== 'p' && node.permissions !== 'none'
  const access = node.permissions || 'rwm'
  return { device, rule: isLimited ? { allow: true, access, type, major, minor } : undefined }
}

type HostNode = Pick<OciDevice, 'type' | 'major' | 'minor' | 'fileMode'>

function hostNode(path: string, isOptional: boolean): HostNode | undefined {
  try {
    const stat = lstatSync(path)
    const type = typeOf(stat)
    if (!type) throw new Error('not a device node')
    return { type, ...numbersOf(BigInt(stat.rdev)), fileMode: stat.mode & 0o7777 }
  } catch (error) {
    if (isOptional) return undefined
    throw new Error(`failed to stat CDI host device ${JSON.stringify(path)}: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

function typeOf(stat: Stats): string | undefined {
  if (stat.isCharacterDevice()) return 'c'
  if (stat.isBlockDevice()) return 'b'
  return stat.isFIFO() ? 'p' : undefined
}
