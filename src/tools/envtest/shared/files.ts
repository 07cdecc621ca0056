/**
 * The protocol between launchers and the shared process: named pipes in a directory of the user, since a shell can open
 * those without other programs. `launcher.sh` is the other side and must agree with this file.
 *
 *     requests    a launcher writes to this pipe after it has written a request
 *     server      pid of the shared process, and its descriptor of `requests`
 *     starting    pid of the launcher that starts the shared process
 *     PID.args    the request of launcher PID: program, directory, arguments, `end`, each terminated by NUL
 *     PID.up      launcher → shared process: a line `stop`; end of file is the end of the launcher
 *     PID.down    shared process → launcher: lines with a prefix: h (served), o, e (for stdout, stderr), n (no-op),
 *                 k (signal to end with), x (exit code)
 */
import { closeSync, constants, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../../../lib/explained-error.ts'
import type { ProgramName } from '../launcher-script.ts'

export interface LauncherRequest {
  readonly program: ProgramName
  readonly cwd: string
  readonly args: readonly string[]
  /** Descriptors of its two pipes. */
  readonly up: number
  readonly down: number
}

export const requestsPath = (directory: string): string => join(directory, 'requests')
export const startingPath = (directory: string): string => join(directory, 'starting')
export const serverPath = (directory: string): string => join(directory, 'server')

/** Takes all complete requests of living launchers; removes those of dead ones. */
export function takeRequests(directory: string): LauncherRequest[] {
  const ids = readdirSync(directory).flatMap((name) => (name.endsWith('.args') ? [name.slice(0, -'.args'.length)] : []))
  return ids.flatMap((id) => take(directory, id) ?? [])
}

function take(directory: string, id: string): LauncherRequest | undefined {
  const path = (name: string): string => join(directory, `${id}.${name}`)
  const fields = readFileSync(path('args'), 'utf8').split('\0')
  // Still incomplete: the launcher writes to `requests` when it is complete.
  if (fields.length < 4 || fields.at(-2) !== 'end' || fields.at(-1) !== '') return undefined
  let down: number | undefined
  try {
    down = openSync(path('down'), constants.O_WRONLY | constants.O_NONBLOCK)
    const up = openSync(path('up'), constants.O_RDONLY | constants.O_NONBLOCK)
    const [program, cwd, ...args] = fields.slice(0, -2)
    return { program: program === 'etcd' ? 'etcd' : 'kube-apiserver', cwd: cwd!, args, up, down }
  } catch (error) {
    if (down !== undefined) closeSync(down)
    // ENXIO: the launcher has ended.
    if (errorCode(error) !== 'ENXIO' && errorCode(error) !== 'ENOENT') throw error
    return undefined
  } finally {
    for (const name of ['args', 'up', 'down']) rmSync(path(name), { force: true })
  }
}
