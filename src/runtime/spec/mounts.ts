/** Mounts of containers: those of every container, those of the pod, and those that the kubelet names. */
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { type IDMapping, type Mount, MountPropagation } from '#protobuf/cri-values_pb.js'
import { hasOtherUsers } from '../../lib/linux/user-namespace.ts'
import type { OciIdMapping, OciMount } from './oci-spec.ts'

/** Files and folders of a sandbox that its containers share. */
export interface SandboxPaths {
  readonly hostname: string
  readonly hosts: string
  readonly resolvConf: string
  readonly shm: string
}

export interface MountOptions {
  readonly isPrivileged: boolean
  readonly isRootReadOnly: boolean
  /** False with the host's user IDs: then sysfs is that of the network namespace. */
  readonly cgroupVersion: 1 | 2
}

export interface ContainerMounts {
  readonly mounts: readonly OciMount[]
  /** The propagation of the root, if a mount needs one. */
  readonly rootPropagation: string | undefined
}

const kernelMounts = ({ isPrivileged }: MountOptions): OciMount[] => {
  const access = isPrivileged ? 'rw' : 'ro'
  const terminals = hasOtherUsers() ? ['gid=5'] : []
  return [
    mount('/proc', 'proc', 'proc', 'nosuid', 'noexec', 'nodev'),
    mount('/dev', 'tmpfs', 'tmpfs', 'nosuid', 'strictatime', 'mode=755', 'size=65536k'),
    mount(
      '/dev/pts',
      'devpts',
      'devpts',
      'nosuid',
      'noexec',
      'newinstance',
      'ptmxmode=0666',
      'mode=0620',
      ...terminals,
    ),
    mount('/dev/mqueue', 'mqueue', 'mqueue', 'nosuid', 'noexec', 'nodev'),
    mount('/sys', 'sysfs', 'sysfs', 'nosuid', 'noexec', 'nodev', access),
    mount('/sys/fs/cgroup', 'cgroup', 'cgroup', 'nosuid', 'noexec', 'nodev', 'relatime', access),
  ]
}

const mount = (destination: string, type: string, source: string, ...options: string[]): OciMount => ({
  destination,
  type,
  source,
  options,
})

const bind = (destination: string, source: string, ...options: string[]): OciMount =>
  mount(destination, 'bind', source, 'rbind', ...options)

/** Throws an Error if a mount is not possible. */
export function mountsOf(requested: readonly Mount[], sandbox: SandboxPaths, options: MountOptions): ContainerMounts {
  const own = [...kernelMounts(options), ...sandboxMounts(sandbox, options)]
  const sorted = [...requested].sort((a, b) => depthOf(a.containerPath) - depthOf(b.containerPath))
  const named = new Set(sorted.map(({ containerPath }) => normalPath(containerPath)))
  const table = readFileSync('/proc/self/mountinfo', 'utf8')
  return {
    mounts: [
      ...own.filter(({ destination }) => !named.has(destination)),
      ...sorted.map((one) => hostMount(one, table)),
    ],
    rootPropagation: rootPropagation(requested),
  }
}

function sandboxMounts({ hostname, hosts, resolvConf, shm }: SandboxPaths, { isRootReadOnly }: MountOptions) {
  const access = isRootReadOnly ? 'ro' : 'rw'
  return [
    bind('/dev/shm', shm, 'rw', 'nosuid', 'nodev', 'noexec'),
    bind('/etc/hostname', hostname, 'rprivate', access),
    bind('/etc/hosts', hosts, 'rprivate', access),
    bind('/etc/resolv.conf', resolvConf, 'rprivate', access),
  ]
}

export const depthOf = (path: string): number => normalPath(path).split('/').length

/** Without repeated slashes and one at the end. */
export const normalPath = (path: string): string => `/${path.split('/').filter(Boolean).join('/')}`

function hostMount(requested: Mount, table: string): OciMount {
  const { containerPath, hostPath, readonly, recursiveReadOnly, propagation } = requested
  if (!existsSync(hostPath) && !lstatSync(hostPath, { throwIfNoEntry: false })) mkdirSync(hostPath, { recursive: true })
  const source = realpathSync(hostPath)
  checkRecursiveReadOnly(requested)
  if (propagation === MountPropagation.PROPAGATION_BIDIRECTIONAL) checkShared(source, table)
  if (propagation === MountPropagation.PROPAGATION_HOST_TO_CONTAINER) checkSlave(source, table)
  const mounted = bind(
    normalPath(containerPath),
    source,
    propagationOption(propagation),
    readonly ? (recursiveReadOnly ? 'rro' : 'ro') : 'rw',
  )
  if (requested.uidMappings.length === 0) return mounted
  const [uidMappings, gidMappings] = [requested.uidMappings, requested.gidMappings].map(ociMappings)
  return { ...mounted, uidMappings: uidMappings!, gidMappings: gidMappings! }
}

const ociMappings = (mappings: readonly IDMapping[]): OciIdMapping[] =>
  mappings.map(({ containerId, hostId, length }) => ({ containerID: containerId, hostID: hostId, size: length }))

function propagationOption(propagation: MountPropagation): string {
  if (propagation === MountPropagation.PROPAGATION_BIDIRECTIONAL) return 'rshared'
  return propagation === MountPropagation.PROPAGATION_HOST_TO_CONTAINER ? 'rslave' : 'rprivate'
}

function checkRecursiveReadOnly({ recursiveReadOnly, readonly, propagation }: Mount): void {
  if (!recursiveReadOnly) return
  if (!readonly) throw new Error('recursive_read_only conflicts with readonly == false')
  if (propagation !== MountPropagation.PROPAGATION_PRIVATE)
    throw new Error(
      `recursive_read_only conflicts with propagation ${propagationOption(propagation)}: it must be rprivate`,
    )
}

/** A container's mounts reach the host only through a shared mount. */
function checkShared(source: string, table: string): void {
  const { point, tags } = mountOf(source, table)
  if (!tags.includes('shared:'))
    throw new Error(
      `path ${JSON.stringify(source)} is mounted on ${JSON.stringify(point)} but it is not a shared mount`,
    )
}

function checkSlave(source: string, table: string): void {
  const { point, tags } = mountOf(source, table)
  if (!tags.includes('shared:') && !tags.includes('master:'))
    throw new Error(
      `path ${JSON.stringify(source)} is mounted on ${JSON.stringify(point)} but it is not a shared or slave mount`,
    )
}

/** The mount that a path is on, with its fields of propagation. */
function mountOf(path: string, table: string): { readonly point: string; readonly tags: string } {
  const mounts = table
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [before = ''] = line.split(' - ')
      const [, , , , point = '', , ...tags] = before.split(' ')
      return { point: point.replaceAll('\\040', ' '), tags: tags.join(' ') }
    })
  for (let folder = path; ; folder = dirname(folder)) {
    const found = mounts.findLast(({ point }) => point === folder)
    if (found) return found
    if (folder === '/') throw new Error(`failed to get mount info of ${path}`)
  }
}

function rootPropagation(requested: readonly Mount[]): string | undefined {
  const used = requested.map(({ propagation }) => propagation)
  if (used.includes(MountPropagation.PROPAGATION_BIDIRECTIONAL)) return 'rshared'
  if (used.includes(MountPropagation.PROPAGATION_HOST_TO_CONTAINER)) return 'rslave'
  return undefined
}
