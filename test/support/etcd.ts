/** Members of etcd in a temporary folder, on sockets of their own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Lifetime } from './reachable-cluster.ts'

/** Why tests with etcd cannot run; false if they can. */
export const withoutEtcd: string | false =
  !(process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'etcd'))) &&
  'etcd is not installed (Debian: etcd-server)'

export interface EtcdOptions {
  /** Default: 1. */
  readonly members?: number
  /** The scheme of the clients' socket. Default: unix. */
  readonly scheme?: 'unix' | 'unixs'
  /** More flags of each member. */
  readonly flags?: readonly string[]
}

/** The store's tests write thousands of keys in one transaction. */
const testFlags = ['--max-txn-ops=10000', '--unsafe-no-fsync', '--logger=zap', '--log-level=error']
/** Elections that take a fraction of a second. */
const quickElections = ['--heartbeat-interval=50', '--election-timeout=500']

export class EtcdMember {
  readonly url: string
  readonly #folder: string
  readonly #sockets: readonly string[]
  readonly #args: readonly string[]
  #child: ChildProcess | undefined

  constructor(folder: string, index: number, scheme: string, args: readonly string[]) {
    this.#folder = folder
    this.#sockets = [clientAddress(index), peerAddress(index)].map((name) => join(folder, name))
    this.#args = args
    this.url = `${scheme}://${join(folder, clientAddress(index))}`
  }

  start(): void {
    // A killed member leaves them.
    for (const socket of this.#sockets) rmSync(socket, { force: true })
    const log = openSync(join(this.#folder, 'log'), 'a')
    this.#child = spawn('etcd', this.#args, { cwd: this.#folder, stdio: ['ignore', log, log] })
    closeSync(log)
  }

  /** Sends a signal: SIGSTOP and SIGCONT pause and continue it. */
  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name)
  }

  /** Kills the member. Resolves when it has ended. */
  async kill(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
}

const clientAddress = (index: number): string => `localhost:${index}1`
const peerAddress = (index: number): string => `localhost:${index}2`
const peerUrl = (index: number): string => `unix://${peerAddress(index)}`

/** Starts a cluster. Its members end with the test at the latest. */
export function startEtcd(
  t: Lifetime,
  { members = 1, scheme = 'unix', flags = [] }: EtcdOptions = {},
): readonly EtcdMember[] {
  const folder = mkdtempSync(join(tmpdir(), 't8s-etcd-'))
  const cluster = Array.from({ length: members }, (_, i) => `m${i}=${peerUrl(i)}`).join(',')
  const all = Array.from({ length: members }, (_, i) => {
    const client = `${scheme}://${clientAddress(i)}`
    return new EtcdMember(folder, i, scheme, [
      `--name=m${i}`,
      `--data-dir=data${i}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peerUrl(i)}`,
      `--initial-advertise-peer-urls=${peerUrl(i)}`,
      `--initial-cluster=${cluster}`,
      ...quickElections,
      ...testFlags,
      ...flags,
    ])
  })
  t.after(async () => {
    await Promise.all(all.map((member) => member.kill()))
    rmSync(folder, { recursive: true, force: true })
  })
  for (const member of all) member.start()
  return all
}
