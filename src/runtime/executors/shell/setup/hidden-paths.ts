/** Paths that a container cannot read, or not write. */
import type { ProgramWriter } from '../program/program-writer.ts'
import { currentFolder, folderFlag, mountFlags, openFlags } from './kernel-constants.ts'
import { moveTree, openTree, readOnlyTree, setAttributes } from './mount-trees.ts'

/** Copies of the host's null device, one for each path. */
export const openMasks = (writer: ProgramWriter, count: number): readonly number[] =>
  Array.from({ length: count }, () => openTree(writer, '/dev/null', { message: 'cannot open /dev/null' }))

/** Files become the null device, folders become empty. Missing paths are ignored. */
export function hidePaths(writer: ProgramWriter, paths: readonly string[], masks: readonly number[]): void {
  paths.forEach((path, index) => {
    const message = `cannot mask path ${path}`
    const [folder, end] = [`folder ${index}`, `masked ${index}`]
    const flags = folderFlag | openFlags.nonBlocking
    const file = writer.open('openat', [currentFolder, path, flags], { ignored: 'all', onPositive: folder })
    moveTree(writer, masks[index]!, path, { message, ignored: ['ENOENT', 'ENOTDIR'] })
    writer.jump(end)
    writer.label(folder)
    writer.close(file)
    writer.call('mount', ['tmpfs', path, 'tmpfs', mountFlags.readOnly, 'nr_blocks=1,nr_inodes=1'], { message })
    writer.label(end)
  })
}

export function protectPaths(writer: ProgramWriter, paths: readonly string[]): void {
  for (const path of paths) {
    const message = `cannot make path ${path} read-only`
    const tree = openTree(writer, path, { isRecursive: true, isOptional: true, message })
    setAttributes(writer, tree, readOnlyTree, { isOptional: true, message })
    moveTree(writer, tree, path, { message, ignored: ['EBADF', 'ENOENT'] })
  }
}
