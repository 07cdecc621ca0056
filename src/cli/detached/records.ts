/**
 * Records of detached clusters: a file for each name in the state directory of the user (XDG Base Directory). A record
 * remains when its cluster has stopped, so that it can be started again.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../../lib/explained-error.ts'
import { replaceFile } from '../../lib/files/atomic-file.ts'
import { makeDirectory } from '../../lib/files/make-directory.ts'
import { bootId, startTimeOf } from '../../lib/process/start-time.ts'

export interface ClusterRecord {
  readonly name: string
  readonly pid: number
  /** With `bootId`, distinguishes the process from a later one with the same pid. */
  readonly startTime: string
  readonly bootId: string
  readonly url: string
  readonly kubeconfig: string
  readonly dataDirectory: string
}

/** $XDG_STATE_HOME/typernetes. As the specification says, a relative path is ignored. */
export function stateDirectory(environment: NodeJS.ProcessEnv): string {
  const given = environment.XDG_STATE_HOME ?? ''
  const parent = given.startsWith('/') ? given : join(environment.HOME || homedir(), '.local', 'state')
  return join(parent, 'typernetes')
}

export class ClusterRecords {
  readonly #folder: string

  constructor(environment: NodeJS.ProcessEnv) {
    this.#folder = join(stateDirectory(environment), 'clusters')
  }

  /** The file for the output of the cluster's process. Creates its folder. */
  logFile(name: string): string {
    makeDirectory(this.#folder, 0o700)
    return join(this.#folder, `${name}.log`)
  }

  write(record: ClusterRecord): void {
    makeDirectory(this.#folder, 0o700)
    replaceFile(this.#file(record.name), `${JSON.stringify(record, undefined, 2)}\n`, 0o600)
  }

  /** Undefined without a record, or with one that a failure of the machine has cut. */
  read(name: string): ClusterRecord | undefined {
    try {
      const value: unknown = JSON.parse(readFileSync(this.#file(name), 'utf8'))
      return isRecord(value) && value.name === name ? value : undefined
    } catch (error) {
      if (error instanceof SyntaxError || errorCode(error) === 'ENOENT') return undefined
      throw error
    }
  }

  /** All records, sorted by name. */
  list(): ClusterRecord[] {
    return filesIn(this.#folder)
      .flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? [])
      .sort()
      .flatMap((name) => this.read(name) ?? [])
  }

  /** Deletes the record and the log. */
  delete(name: string): void {
    for (const file of [this.#file(name), this.logFile(name)]) rmSync(file, { force: true })
  }

  #file(name: string): string {
    return join(this.#folder, `${name}.json`)
  }
}

/** True if the process of the record still runs. */
export const isRunning = (record: ClusterRecord): boolean =>
  record.bootId === bootId() && startTimeOf(record.pid) === record.startTime

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}

const texts = ['name', 'startTime', 'bootId', 'url', 'kubeconfig', 'dataDirectory'] as const

function isRecord(value: unknown): value is ClusterRecord {
  if (typeof value !== 'object' || value === null) return false
  const fields: Readonly<Record<string, unknown>> = { ...value }
  return Number.isSafeInteger(fields.pid) && texts.every((name) => typeof fields[name] === 'string')
}
