/** The folder of sockets between a process in user namespaces and the process outside. */

/** The environment variable with its path. */
export const socketFolderVariable = 'T8S_ROOTLESS'

/** Undefined for processes that are not in such namespaces. */
export const socketFolder = (env = process.env): string | undefined => env[socketFolderVariable] || undefined
