/** Bind mounts by file numbers: a copy of a tree of mounts is opened, changed, and mounted later. */
import type { ProgramWriter } from '../program/program-writer.ts'
import { currentFolder, emptyPath, mountFlags, moveMountFlags, openTreeClone, recursive } from './kernel-constants.ts'
import type { TreeAttributes } from './mount-options.ts'

const closeOnExec = 0x8_0000

/** Opens a copy of a tree. Missing ones are ignored if it is optional. */
export function openTree(
  writer: ProgramWriter,
  path: string | number,
  { isRecursive = false, isOptional = false, message = '' },
): number {
  return writer.open('open_tree', [currentFolder, path, openTreeClone | closeOnExec | (isRecursive ? recursive : 0)], {
    message,
    ...(isOptional && { ignored: ['ENOENT', 'ENOTDIR', 'EACCES'] }),
  })
}

/** Changes attributes of a copy, such as `mountFlags.readOnly`. */
export function setAttributes(
  writer: ProgramWriter,
  tree: number,
  { attributes, isRecursiveReadOnly, propagation, isPropagationRecursive }: Omit<TreeAttributes, 'isRecursive'>,
  { isOptional = false, message = '' },
): void {
  const options = { message, ...(isOptional && { ignored: ['EBADF'] as const }) }
  const change = (set: number, type: number, isRecursive: boolean): void => {
    const flags = emptyPath | (isRecursive ? recursive : 0)
    writer.call('mount_setattr', [tree, '', flags, writer.data(attributeBytes(set, type)), 32], options)
  }
  if (attributes !== 0) change(attributes, 0, isRecursiveReadOnly)
  if (propagation !== 0) change(0, propagation, isPropagationRecursive)
}

/** A `mount_attr`: attributes to set and to clear, and the propagation. */
export function attributeBytes(set: number, propagation: number): Buffer {
  const bytes = Buffer.alloc(32)
  bytes.writeBigUInt64LE(BigInt(set), 0)
  bytes.writeBigUInt64LE(BigInt(propagation), 16)
  return bytes
}

/** Mounts a copy, and closes it. */
export function moveTree(
  writer: ProgramWriter,
  tree: number,
  target: string,
  options: Parameters<ProgramWriter['call']>[2],
): void {
  const flags = moveMountFlags.fromEmptyPath | moveMountFlags.followLinks
  writer.call('move_mount', [tree, '', currentFolder, target, flags], options)
  writer.close(tree)
}

export const readOnlyTree = {
  attributes: mountFlags.readOnly,
  isRecursiveReadOnly: false,
  propagation: 0,
  isPropagationRecursive: false,
} as const
