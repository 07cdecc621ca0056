/** Facts of this machine that need a program, a connection or the disk. */
import { execFile } from 'node:child_process'
import { existsSync, statfsSync } from 'node:fs'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { errorCode, reasonOf } from '../../lib/explained-error.ts'
import type { PortUse } from './machine.ts'

/** The time for a program or server to answer, in ms. */
const answerMs = 5000

/** The output of `kubectl version`; undefined without kubectl. */
export function kubectlVersion(): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  execFile('kubectl', ['version', '--client', '-o', 'json'], { timeout: answerMs }, (error, stdout) =>
    resolve(errorCode(error) === 'ENOENT' ? undefined : stdout),
  )
  return promise
}

/** Finds out what uses a port of the loopback address. Rejects if that is not allowed. */
export async function portUse(port: number): Promise<PortUse> {
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>()
  const server = createServer().once('error', reject).listen(port, '127.0.0.1', resolve)
  try {
    await listening
    return 'free'
  } catch (error) {
    if (errorCode(error) !== 'EADDRINUSE') throw error
    return /"gitVersion":\s*"[^"]*\+t8s\./.test(await versionAt(port)) ? 't8s' : 'other'
  } finally {
    server.close()
  }
}

/** The version document of an API server, whose authority is unknown; anything else for other servers. */
function versionAt(port: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const sent = request(
    { host: '127.0.0.1', port, path: '/version', rejectUnauthorized: false, timeout: answerMs },
    (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
        if (text.length > 10_000) response.destroy()
      })
      response.on('close', () => resolve(text))
    },
  )
  sent.on('timeout', () => sent.destroy()).on('error', (error) => resolve(reasonOf(error)))
  sent.end()
  return promise
}

/** The free space in bytes of the disk that a folder is on, or will be. */
export function freeBytes(folder: string): number {
  if (!existsSync(folder)) return freeBytes(dirname(folder))
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
