/**
 * The way to a machine through a program (ProxyCommand of ssh_config(5)): what it writes and reads is the connection.
 */
import { spawn } from 'node:child_process'
import { Duplex } from 'node:stream'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'

export interface ProxyProgram {
  readonly way: Duplex
  /** Resolves when the program has ended, with a sentence that says what it complained of. */
  readonly ended: Promise<ExplainedError>
}

const maxComplaint = 1000

/**
 * Runs the command in a shell, as ssh does, and hangs up on it when nothing more is sent. `alias` is the machine, for
 * sentences.
 */
export function proxyProgram(command: string, alias: string): ProxyProgram {
  const child = spawn('/bin/sh', ['-c', `exec ${command}`], { stdio: 'pipe' })
  const way = Duplex.from({ readable: child.stdout, writable: child.stdin })
  const hangUp = (): void => void child.kill('SIGHUP')
  // What goes wrong is told by `ended`.
  way
    .on('error', () => {})
    .on('finish', hangUp)
    .on('close', hangUp)
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-maxComplaint)
  })
  const { promise: ended, resolve } = Promise.withResolvers<ExplainedError>()
  const end = (how: string): void => {
    resolve(new ExplainedError(`the ProxyCommand of ${alias} (${command}) ${how}: see whether ssh ${alias} works`))
    way.destroy()
  }
  child.on('error', (error) => end(`cannot be run: ${reasonOf(error)}`))
  child.on('close', (code, signal) =>
    end(`ended with ${[code ?? signal, complaint.trim().split('\n').at(-1)].filter((part) => part !== '').join(': ')}`),
  )
  return { way, ended }
}
