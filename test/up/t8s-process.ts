/** Runs `./t8s` in tests as a user does: starts it, waits for lines of its output, and kills it afterwards. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Lifetime } from '../support/reachable-cluster.ts'

export const repository = join(import.meta.dirname, '../..')
const launcher = join(repository, 't8s')

/** Creates a folder that is deleted after the test. */
export function temporaryFolder(t: Lifetime): string {
  const folder = mkdtempSync(join(tmpdir(), 't8s-up-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Running {
  readonly process: ChildProcess
  /** All output to stdout and stderr so far. */
  readonly output: () => string
  readonly url: string
  readonly kubeconfig: string
  readonly exited: Promise<Exit>
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** The program. Default: the launcher of this repository. */
  readonly program?: string
  /** A command that takes longer is killed. In ms. Default: 60,000. */
  readonly timeout?: number
}

/**
 * Starts `t8s up …`, without nodes unless flags ask for some, and resolves when it is ready; rejects with its output if
 * it exits before.
 */
export function up(t: Lifetime, args: readonly string[], options: RunOptions = {}): Promise<Running> {
  const nodes = args.some((arg) => /^--nodes|^--node-type/.test(arg)) ? [] : ['--nodes=0']
  return serve(t, ['up', ...nodes, ...args], options)
}

/** The same for any command that serves a cluster until Ctrl-C. */
export async function serve(
  t: Lifetime,
  args: readonly string[],
  { cwd = repository, env = {}, program = launcher }: RunOptions = {},
): Promise<Running> {
  // Some libraries use colours if CI is set; the variable must not differ between machines.
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, CI: 'true', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (/^Ctrl-C stops it$/m.test(output)) resolve()
    })
  }
  const { promise: exited, resolve: exit } = Promise.withResolvers<Exit>()
  child.on('error', reject)
  child.on('close', (code, signal) => {
    exit({ code, signal })
    reject(new Error(`t8s ${args[0]} ended with ${code ?? signal}:\n${output}`))
  })
  await ready
  return {
    process: child,
    output: () => output,
    url: found(output, /^serving on (\S+)$/m),
    kubeconfig: found(output, /^kubeconfig written to (.+)$/m),
    exited,
  }
}

/** Runs a t8s command to its end. */
export function t8s(
  args: readonly string[],
  { cwd = repository, env = {}, program = launcher, timeout = 60_000 }: RunOptions = {},
): { readonly code: number | null; readonly stdout: string; readonly stderr: string } {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    timeout,
    killSignal: 'SIGKILL',
  })
  return { code: status, stdout, stderr }
}

/** Stops a running server. */
export function stop(running: Running, signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
  running.process.kill(signal)
  return running.exited
}

export interface KubectlResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs kubectl with the kubeconfig that `t8s up` wrote. */
export function kubectl(kubeconfig: string, ...args: readonly string[]): KubectlResult {
  const { status, stdout, stderr } = spawnSync('kubectl', args, {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { code: status, stdout, stderr }
}

/** Creates a ConfigMap whose key `a` is `b`; throws on failure. */
export function createConfigMap(kubeconfig: string, name: string): void {
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } })
  const { status, stderr } = spawnSync('kubectl', ['create', '-f', '-'], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    input,
    encoding: 'utf8',
    timeout: 60_000,
  })
  if (status !== 0) throw new Error(`kubectl create ended with ${status}: ${stderr}`)
}

/** Reason to skip tests that need kubectl, or false. */
export const withoutKubectl: string | false = spawnSync('kubectl', ['version', '--client']).error
  ? 'kubectl is not installed'
  : false

function found(text: string, pattern: RegExp): string {
  const value = pattern.exec(text)?.[1]
  if (value === undefined) throw new Error(`no ${pattern} in:\n${text}`)
  return value
}
