/**
 * Files that are reached from an open folder, name by name, as with openat(2): nobody can redirect the way by replacing
 * a folder with a symlink meanwhile. `/proc/self/fd/N` stands for the open folder itself.
 */
import { constants, type FileHandle, open } from 'node:fs/promises'

/** O_PATH of open(2), which Node does not name: a handle that neither reads nor triggers devices and pipes. */
const pathOnly = 0o10_000_000

const noFollow = constants.O_NOFOLLOW

/** The path of an open file in this process. It leads to that file even if the file has been renamed. */
export const handlePath = (handle: FileHandle): string => `/proc/self/fd/${handle.fd}`

/** The path of an open file for other processes. */
export const sharedHandlePath = (handle: FileHandle): string => `/proc/${process.pid}/fd/${handle.fd}`

/** Opens a file without following it if it is a symlink: then the handle is the symlink's. */
export const openPath = (path: string): Promise<FileHandle> => open(path, pathOnly | noFollow)

/** Opens an entry of an open folder. `name` is a single name. */
export const openEntry = (folder: FileHandle, name: string): Promise<FileHandle> =>
  openPath(`${handlePath(folder)}/${name}`)
