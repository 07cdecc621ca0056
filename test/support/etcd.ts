/** Members of etcd in a temporary folder, on sockets of their own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
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
  readonly folder: string
  readonly #sockets: readonly string[]
  readonly #args: readonly string[]
  #child: ChildProcess | undefined

  constructor(folder: string, index: number, scheme: string, args: readonly string[]) {
    this.folder = folder
    this.#sockets = [clientAddress(index), peerAddress(index)].map((name) => join(folder, name))
    this.#args = args
    this.url = `${scheme}://${join(folder, clientAddress(index))}`
  }

  start(): void {
    // A killed member leaves them.
    for (const socket of this.#sockets) rmSync(socket, { force: true })
    const log = openSync(join(this.folder, 'log'), 'a')
    this.#child = spawn('etcd', this.#args, { cwd: this.folder, stdio: ['ignore', log, log] })
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
  const all = Array.from(
    { length: members },
    (_, i) => new EtcdMember(folder, i, scheme, [...memberFlags(i, scheme, members), ...flags]),
  )
  t.after(async () => {
    await Promise.all(all.map((member) => member.kill()))
    rmSync(folder, { recursive: true, force: true })
  })
  for (const member of all) member.start()
  return all
}

const memberFlags = (index: number, scheme: string, members: number): string[] => [
  `--name=m${index}`,
  `--data-dir=data${index}`,
  `--listen-client-urls=${scheme}://${clientAddress(index)}`,
  `--advertise-client-urls=${scheme}://${clientAddress(index)}`,
  `--listen-peer-urls=${peerUrl(index)}`,
  `--initial-advertise-peer-urls=${peerUrl(index)}`,
  `--initial-cluster=${Array.from({ length: members }, (_, i) => `m${i}=${peerUrl(i)}`).join(',')}`,
  ...quickElections,
  ...testFlags,
]

/** Runs etcdctl for a member; returns its output. */
export const etcdctl = (url: string, ...args: readonly string[]): string =>
  execFileSync('etcdctl', ['--endpoints', url, ...args], {
    env: { ...process.env, ETCDCTL_API: '3' },
    encoding: 'utf8',
    stdio: 'pipe',
  })

/** Adds a learner to a cluster of one member, which serves. It ends with the test at the latest. */
export function startLearner(t: Lifetime, { url, folder }: EtcdMember): EtcdMember {
  etcdctl(url, 'member', 'add', 'm1', '--learner', `--peer-urls=${peerUrl(1)}`)
  const learner = new EtcdMember(folder, 1, 'unix', [...memberFlags(1, 'unix', 2), '--initial-cluster-state=existing'])
  t.after(() => learner.kill())
  learner.start()
  return learner
}
