/**
 * Makes the mounts of a container in its mount namespace, and changes to its root file system. `cgroups` are those of
 * v1: without them, the container has the hierarchy of v2.
 */
import { statSync } from 'node:fs'
import { relative } from 'node:path'
import type { OciMount, OciSpec } from '../../../spec/oci-spec.ts'
import { resolveInRoot } from '../../../spec/root-files.ts'
import type { ProgramWriter } from '../program/program-writer.ts'
import { mountDevices, openDevices } from './device-files.ts'
import { hidePaths, openMasks, protectPaths } from './hidden-paths.ts'
import { currentFolder, mountFlags } from './kernel-constants.ts'
import { mountCallOf, propagationOf, treeAttributesOf } from './mount-options.ts'
import { makeFile, makeFolders } from './mount-points.ts'
import { attributeBytes, moveTree, openTree, setAttributes } from './mount-trees.ts'

/** A folder of cgroups v1 that a container sees below `/sys/fs/cgroup`. */
export interface VisibleCgroup {
  /** Such as `memory`. */
  readonly name: string
  /** Other names of the same hierarchy. */
  readonly links: readonly string[]
  /** On the host. */
  readonly folder: string
}

/** A source that is opened on the host and mounted in the container. */
interface OpenedTree {
  readonly file: number
  readonly isFolder: boolean
}

const detach = 2

export function setUpRoot(writer: ProgramWriter, spec: OciSpec, cgroups: readonly VisibleCgroup[]): void {
  const { root, linux, mounts, process } = spec
  const trees = new Map(mounts.filter(isBind).map((mount) => [mount, openSource(writer, mount)]))
  const shown = mounts.some(({ type }) => type === 'cgroup') ? cgroups : []
  const shownTrees = shown.map((one) => openCgroup(writer, one))
  const masks = openMasks(writer, linux.maskedPaths.length)
  const terminal = process.terminal ? openTerminal(writer) : undefined
  const hasDevices = mounts.some(({ destination, type }) => destination === '/dev' && type === 'tmpfs')
  const devices = hasDevices ? openDevices(writer, linux.devices) : []
  const removeOld = changeRoot(writer, root.path)
  writer.call('umask', [0])
  for (const mount of mounts) {
    const target = targetOf(root.path, mount.destination)
    const tree = trees.get(mount)
    if (tree) mountTree(writer, mount, target, tree)
    else if (mount.type === 'cgroup') mountCgroups(writer, mount, target, shown, shownTrees)
    else mountFileSystem(writer, mount, target)
  }
  removeOld()
  if (hasDevices) mountDevices(writer, devices, terminal)
  hidePaths(writer, linux.maskedPaths, masks)
  protectPaths(writer, linux.readonlyPaths)
  if (root.readonly)
    writer.call('mount_setattr', [currentFolder, '/', 0, writer.data(attributeBytes(mountFlags.readOnly, 0)), 32], {
      message: 'cannot make the root file system read-only',
    })
  if (linux.rootfsPropagation)
    writer.call('mount', [0, '/', 0, propagationOf(linux.rootfsPropagation), 0], {
      message: `cannot make the root file system ${linux.rootfsPropagation}`,
    })
  writer.call('umask', [0o022])
}

const isBind = ({ type, options }: OciMount): boolean =>
  type === 'bind' || options.includes('bind') || options.includes('rbind')

const errorOf = ({ source, destination }: OciMount): string =>
  `error mounting ${JSON.stringify(source)} to rootfs at ${JSON.stringify(destination)}`

/** Before mounts of the host become slaves, so that the copy of a shared mount is shared with the host. */
function openSource(writer: ProgramWriter, mount: OciMount): OpenedTree {
  const message = errorOf(mount)
  const attributes = treeAttributesOf(mount.options)
  const file = openTree(writer, mount.source, { isRecursive: attributes.isRecursive, message })
  setAttributes(writer, file, attributes, { message })
  return { file, isFolder: statSync(mount.source).isDirectory() }
}

function openCgroup(writer: ProgramWriter, { folder }: VisibleCgroup): number {
  return openTree(writer, folder, { message: `cannot show cgroup ${folder}` })
}

/** The path of the terminal is that of the keeper's file. */
function openTerminal(writer: ProgramWriter): number {
  const path = writer.data(Buffer.alloc(64))
  writer.call('readlinkat', [currentFolder, '/proc/self/fd/0', path, 63])
  return openTree(writer, path, { message: 'cannot open the terminal' })
}

/**
 * No mount here reaches the host. Absolute paths are those of the container; the returned function removes the host's,
 * since a user namespace mounts proc and sysfs only while it has others.
 */
function changeRoot(writer: ProgramWriter, path: string): () => void {
  const message = `cannot change to the root file system ${path}`
  const { bind, recursive: all, private: isPrivate, slave } = mountFlags
  writer.call('mount', [0, '/', 0, slave | all, 0], { message })
  writer.call('mount', [path, path, 0, bind | all, 0], { message })
  writer.call('mount', [0, path, 0, isPrivate | all, 0], { message })
  writer.call('chdir', [path], { message })
  writer.call('pivot_root', ['.', '.'], { message })
  return () => {
    writer.call('umount2', ['.', detach], { message })
    writer.call('chdir', ['/'], { message })
  }
}

/** Links of the image are followed inside of the root. */
const targetOf = (root: string, destination: string): string => `/${relative(root, resolveInRoot(root, destination))}`

function mountTree(writer: ProgramWriter, mount: OciMount, target: string, { file, isFolder }: OpenedTree): void {
  if (isFolder) makeFolders(writer, target)
  else makeFile(writer, target)
  moveTree(writer, file, target, { message: errorOf(mount) })
}

function mountFileSystem(writer: ProgramWriter, mount: OciMount, target: string): void {
  const { flags, data } = mountCallOf(mount.options)
  makeFolders(writer, target)
  writer.call('mount', [mount.source, target, mount.type, flags, data], { message: errorOf(mount) })
}

function mountCgroups(
  writer: ProgramWriter,
  mount: OciMount,
  target: string,
  cgroups: readonly VisibleCgroup[],
  files: readonly number[],
): void {
  const message = errorOf(mount)
  const { flags } = mountCallOf(mount.options)
  const { readOnly } = mountFlags
  if (cgroups.length === 0) {
    mountFileSystem(writer, { ...mount, type: 'cgroup2' }, target)
    return
  }
  mountFileSystem(writer, { ...mount, type: 'tmpfs', options: ['nosuid', 'noexec', 'nodev', 'mode=755'] }, target)
  cgroups.forEach(({ name, links }, index) => {
    const file = files[index]!
    const attributes = {
      attributes: flags & 15,
      isRecursiveReadOnly: false,
      propagation: 0,
      isPropagationRecursive: false,
    }
    setAttributes(writer, file, attributes, { message })
    makeFolders(writer, `${target}/${name}`)
    moveTree(writer, file, `${target}/${name}`, { message })
    for (const link of links) writer.call('symlinkat', [name, currentFolder, `${target}/${link}`], { message })
  })
  if (flags & readOnly)
    writer.call('mount_setattr', [currentFolder, target, 0, writer.data(attributeBytes(readOnly, 0)), 32], { message })
}
