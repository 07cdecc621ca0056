/** Files and folders that mounts of a container need, in its root file system. */
import type { ProgramWriter } from '../program/program-writer.ts'
import { currentFolder, openFlags } from './kernel-constants.ts'

/** Errors show when something is mounted there. */
export function makeFolders(writer: ProgramWriter, path: string): void {
  const parts = path.split('/').filter(Boolean)
  for (let count = 1; count <= parts.length; count++)
    writer.call('mkdirat', [currentFolder, `/${parts.slice(0, count).join('/')}`, 0o755], { ignored: 'all' })
}

export function makeFile(writer: ProgramWriter, path: string): void {
  makeFolders(writer, path.slice(0, path.lastIndexOf('/')))
  const flags = openFlags.create | openFlags.nonBlocking | openFlags.noTerminal
  writer.close(writer.open('openat', [currentFolder, path, flags, 0o644], { ignored: 'all' }))
}
