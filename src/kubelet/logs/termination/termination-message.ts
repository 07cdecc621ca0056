/** The message of a container that has ended: from its file, or from the end of its log. */
import { constants, open } from 'node:fs/promises'
import type { ContainerStatus } from '#protobuf/cri-runtime_pb.js'
import { messageOf } from '../../../lib/message-of.ts'
import type { LogOptions } from '../../../node/server/log-options.ts'
import { terminationMessageOf } from '../../cri/labels.ts'
import { readLog } from '../read-log.ts'

/** The limits of a file, and of a log's end. In bytes and lines. */
const maxFileBytes = 4096
const maxLogBytes = 2048
const maxLogLines = 80

const tail: LogOptions = {
  follow: false,
  previous: false,
  timestamps: false,
  sinceMs: undefined,
  tailLines: maxLogLines,
  limitBytes: undefined,
  stream: 'All',
}

/** Resolves with '' if there is none. Never rejects: an unreadable file is the message, as upstream. */
export async function terminationMessage(status: ContainerStatus, logRoots: readonly string[]): Promise<string> {
  const { path, policy } = terminationMessageOf(status.annotations)
  // A container that could not even be started has no log.
  const usesLog = policy === 'FallbackToLogsOnError' && status.exitCode !== 0 && status.reason !== 'ContainerCannotRun'
  const mount = path ? status.mounts.find(({ containerPath }) => containerPath === path) : undefined
  const message = mount ? await fileMessage(mount.hostPath) : ''
  return message || !usesLog ? message : logMessage(status.logPath, logRoots)
}

async function fileMessage(path: string): Promise<string> {
  try {
    return (await lastBytes(path, maxFileBytes)).toString()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    return `Error on reading termination log ${path}: ${messageOf(error)}`
  }
}

async function lastBytes(path: string, count: number): Promise<Buffer> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const entry = await handle.stat()
    if (!entry.isFile()) throw new Error('not a file')
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(count), 0, count, Math.max(0, entry.size - count))
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

async function logMessage(path: string, roots: readonly string[]): Promise<string> {
  const source = { path, roots, isRunning: async () => false, log: () => {} }
  let text: Buffer = Buffer.alloc(0)
  try {
    for await (const piece of readLog(source, tail, new AbortController().signal))
      text = Buffer.concat([text, piece]).subarray(-maxLogBytes)
    return text.toString()
  } catch (error) {
    return `Error on reading termination message from logs: ${messageOf(error)}`
  }
}
