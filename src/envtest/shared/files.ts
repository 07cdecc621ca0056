/**
 * How launchers and the shared process meet: in a directory of the user's, by named pipes, because a shell can open
 * those and needs nothing else. `launcher-script.ts` is the other side; what stands here must agree with it.
 *
 *     requests    rung by a launcher that has laid down a request
 *     server      pid of the shared process, and its descriptor of `requests`
 *     starting    pid of the launcher that is about to start the shared process
 *     PID.args    what the launcher PID asks for: program, directory, arguments, `end`, each closed by NUL
 *     PID.up      launcher → shared process: a line `stop`; its end is the launcher's end
 *     PID.down    shared process → launcher: lines that begin with h (it is served), o, e (for its stdout, stderr), k (signal to die by), x (exit code)
 */
import { closeSync, constants, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../../lib/explained-error.ts'
import type { ProgramName } from '../launcher-script.ts'

export interface LauncherRequest {
  readonly program: ProgramName
  readonly cwd: string
  readonly args: readonly string[]
  /** Descriptors of its two pipes. */
  readonly up: number
  readonly down: number
}

export const bellPath = (directory: string): string => join(directory, 'requests')
export const startingPath = (directory: string): string => join(directory, 'starting')
export const serverPath = (directory: string): string => join(directory, 'server')

/** Takes all requests that lie there, whole ones of launchers that live; those of the dead are removed. */
export function takeRequests(directory: string): LauncherRequest[] {
  const ids = readdirSync(directory).flatMap((name) => (name.endsWith('.args') ? [name.slice(0, -'.args'.length)] : []))
  return ids.flatMap((id) => take(directory, id) ?? [])
}

function take(directory: string, id: string): LauncherRequest | undefined {
  const path = (name: string): string => join(directory, `${id}.${name}`)
  const fields = readFileSync(path('args'), 'utf8').split('\0')
  // It is still being written: its launcher rings when it is whole.
  if (fields.length < 4 || fields.at(-2) !== 'end' || fields.at(-1) !== '') return undefined
  let down: number | undefined
  try {
    down = openSync(path('down'), constants.O_WRONLY | constants.O_NONBLOCK)
    const up = openSync(path('up'), constants.O_RDONLY | constants.O_NONBLOCK)
    const [program, cwd, ...args] = fields.slice(0, -2)
    return { program: program === 'etcd' ? 'etcd' : 'kube-apiserver', cwd: cwd!, args, up, down }
  } catch (error) {
    if (down !== undefined) closeSync(down)
    // ENXIO: nobody reads the pipe any more.
    if (errorCode(error) !== 'ENXIO' && errorCode(error) !== 'ENOENT') throw error
    return undefined
  } finally {
    for (const name of ['args', 'up', 'down']) rmSync(path(name), { force: true })
  }
}
