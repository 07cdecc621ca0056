/** The running program that connects the network of a namespace. */
import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { Log } from '../../lib/log/log.ts'
import { textOf } from '../host/processes.ts'
import { type NetworkProgram, networkArguments } from './network-program.ts'

const waitMs = 5000
const pollMs = 10

/** Resolves, with a function that ends the program, when the namespace of a process has a route. */
export async function startNetwork(program: NetworkProgram, pid: number, log: Log): Promise<() => void> {
  const child = spawn(program, networkArguments(program, pid), {
    // Signals of the terminal do not end it before the pods.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  ;(child.stderr as Readable).setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-1000)
  })
  const deadline = Date.now() + waitMs
  while (child.exitCode === null && !hasRoute(pid) && Date.now() < deadline) await delay(pollMs)
  if (!hasRoute(pid)) {
    child.kill('SIGKILL')
    throw new ExplainedError(`${program} does not connect the network of pods: ${errors.trim() || 'no route appears'}`)
  }
  child.once('exit', (code) => log(`${program} has ended (${code}): pods reach no other machine`, 'error'))
  return () => {
    child.removeAllListeners('exit')
    child.kill('SIGKILL')
  }
}

/** True if there is a default route. */
const hasRoute = (pid: number): boolean =>
  textOf(`/proc/${pid}/net/route`)
    .split('\n')
    .some((line) => line.split('\t')[1] === '00000000')
