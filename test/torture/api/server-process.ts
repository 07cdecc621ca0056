/** The server under torture: `./t8s up` as a child process on a data directory that survives it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bareFlags } from '../../support/bare-server.ts'

const launcher = join(import.meta.dirname, '../../../t8s')

export const token = 'torture'

export interface ServerProcess {
  readonly url: string
  readonly pid: number
  readonly exited: Promise<void>
  /** Sends SIGKILL to this process only; resolves when it has exited. */
  kill(): Promise<void>
  stop(): Promise<void>
}

/** Builds the program if it is out of date, so that no start has to. */
export const build = (): unknown => execFileSync(launcher, ['version'], { stdio: 'ignore' })

export const logFile = (directory: string): string => join(directory, 'server.log')

/** Starts a server and resolves when it is ready. Rejects with its output if it exits before. */
export async function startServer(directory: string, flags: readonly string[] = []): Promise<ServerProcess> {
  const tokens = join(directory, 'tokens.csv')
  writeFileSync(tokens, `${token},torture,1,"system:masters"\n`, { mode: 0o600 })
  const child = spawn(
    launcher,
    [
      'up',
      '--data-dir',
      join(directory, 'data'),
      '--secure-port',
      '0',
      '--token-auth-file',
      tokens,
      ...bareFlags,
      ...flags,
    ],
    {
      env: { ...process.env, CI: 'true' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  // The server must not outlive the torture.
  const orphaned = (): unknown => child.kill('SIGKILL')
  process.once('exit', orphaned)
  const exited = new Promise<void>((resolve) =>
    child.on('close', () => {
      process.off('exit', orphaned)
      resolve()
    }),
  )
  const url = await servingUrl(child, logFile(directory))
  const end = (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    return exited
  }
  return { url, pid: child.pid!, exited, kill: () => end('SIGKILL'), stop: () => end('SIGTERM') }
}

function servingUrl(child: ChildProcess, log: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => {
        appendFileSync(log, text)
        output = (output + text).slice(-5000)
        const url = /^serving on (\S+)$/m.exec(output)?.[1]
        if (url) resolve(url)
      })
    child.on('error', reject)
    child.on('close', (code, signal) => reject(new Error(`t8s up ended with ${code ?? signal}:\n${output}`)))
  })
}
