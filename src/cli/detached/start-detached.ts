/** Starts `t8s up` as a process of its own, which outlives this one and its terminal. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, fchmodSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { ExplainedError } from '../../lib/explained-error.ts'
import { bootId, startTimeOf } from '../../lib/process/start-time.ts'
import { type ClusterRecord, ClusterRecords, isRunning } from './records.ts'

export interface DetachedStart {
  readonly name: string
  /** The arguments of `t8s`. */
  readonly args: readonly string[]
  readonly dataDirectory: string
  readonly environment: NodeJS.ProcessEnv
  /** Aborts the start. */
  readonly signal: AbortSignal
}

/** A cluster with damaged or much data takes long; none takes longer. In ms. */
const deadlineMs = 300_000
const pollMs = 20

/**
 * Resolves with the record of the cluster when it serves. Rejects with an ExplainedError if a cluster with the name
 * runs, and with the output of the process if it does not start; no process remains.
 */
export async function startDetached({
  name,
  args,
  dataDirectory,
  environment,
  signal,
}: DetachedStart): Promise<ClusterRecord> {
  const records = new ClusterRecords(environment)
  const present = records.read(name)
  if (present && isRunning(present))
    throw new ExplainedError(
      `the cluster ${name} runs already (${present.url}): stop it with t8s down --name ${name}, or start another ` +
        'one with --name',
    )
  const logFile = records.logFile(name)
  const child = spawnWithLog(args, environment, logFile)
  try {
    await ready(child, logFile, signal)
    const output = readFileSync(logFile, 'utf8')
    const record = {
      name,
      pid: child.pid!,
      startTime: startTimeOf(child.pid!) ?? '',
      bootId: bootId(),
      url: /^serving on (\S+)$/m.exec(output)?.[1] ?? '',
      kubeconfig: /^kubeconfig written to (.+)$/m.exec(output)?.[1] ?? '',
      dataDirectory,
    }
    records.write(record)
    child.unref()
    return record
  } catch (error) {
    child.kill('SIGTERM')
    throw error
  }
}

/** The process has no terminal, and its output is in the file, which only its owner can read. */
function spawnWithLog(args: readonly string[], env: NodeJS.ProcessEnv, logFile: string): ChildProcess {
  const log = openSync(logFile, 'w', 0o600)
  try {
    fchmodSync(log, 0o600)
    // As the launcher started this process, with its flags of V8.
    return spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...args], {
      env,
      detached: true,
      stdio: ['ignore', log, log],
    })
  } finally {
    closeSync(log)
  }
}

async function ready(child: ChildProcess, logFile: string, signal: AbortSignal): Promise<void> {
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => {})
  const fail = (reason: string): void => reject(new ExplainedError(`${reason}\n${endOf(logFile)}`.trimEnd()))
  child.once('error', (error) => fail(`cannot start the cluster: ${error.message}`))
  child.once('exit', (code, ending) => fail(`the cluster did not start (it ended with ${code ?? ending}):`))
  const over = new AbortController()
  const until = Date.now() + deadlineMs
  const isReady = async (): Promise<void> => {
    while (!/^Ctrl-C stops it$/m.test(readFileSync(logFile, 'utf8'))) {
      if (Date.now() > until) throw new ExplainedError(`the cluster did not start within 5 minutes: see ${logFile}`)
      await sleep(pollMs, undefined, { signal: AbortSignal.any([signal, over.signal]) })
    }
  }
  try {
    await Promise.race([failed, isReady()])
  } catch (error) {
    if (signal.aborted) throw new ExplainedError('interrupted: no cluster was started', { cause: error })
    throw error
  } finally {
    over.abort()
  }
}

/** The last lines, which say why. */
const endOf = (logFile: string): string => readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-5).join('\n')
