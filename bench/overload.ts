/**
 * Three times as many requests as the server takes, on two priority levels: 200 clients that never rest, and beside them nodes and a
 * leader that renew their leases. Shows what the crowd gets, and how long those who keep the cluster alive wait. Run with a file that
 * tells what to do, it is the crowd, in a process of its own.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { print } from './report.ts'
import { residentMegabytes, startServer, stopServer, token } from './server.ts'

const clients = 200
/** A third of the clients. */
const limits = { reads: 44, writes: 22 }
const leaseEveryMs = 20
const targetMs = 100

interface Crowd {
  readonly url: string
  readonly seconds: number
}

/** What came of requests. */
interface Tally {
  /** By status; 0 where there was no answer. */
  readonly answers: Record<number, number>
  /** Of those that were served, ms. */
  readonly times: number[]
  /** Refusals that do not say when to come again. */
  mute: number
  firstFailure?: string
}

const newTally = (): Tally => ({ answers: {}, times: [], mute: 0 })

interface Sent {
  readonly method: string
  readonly path: string
  readonly user: string
  readonly body?: object
}

/** Resolves with the answer's body, if there is one. */
async function send(url: string, agent: Agent, { method, path, user, body }: Sent, tally: Tally): Promise<string> {
  const started = performance.now()
  const headers = { authorization: `Bearer ${user}`, 'content-type': 'application/json' }
  const sent = request(new URL(path, url), { method, agent, rejectUnauthorized: false, headers })
  let status = 0
  let text = ''
  try {
    sent.end(body && JSON.stringify(body))
    const [response]: IncomingMessage[] = await once(sent, 'response')
    text = Buffer.concat(await response!.toArray()).toString()
    status = response!.statusCode ?? 0
    if (status < 300) tally.times.push(performance.now() - started)
    if (status === 429 && !response!.headers['retry-after']) tally.mute++
  } catch (error) {
    text = String(error)
  }
  tally.answers[status] = (tally.answers[status] ?? 0) + 1
  if (status !== 429 && (status === 0 || status >= 400)) tally.firstFailure ??= `${method} ${path}: ${status} ${text}`
  return text
}

/** Each client sends its next request when the one before is answered, whatever the answer says. */
async function crowd({ url, seconds }: Crowd): Promise<Tally> {
  const tally = newTally()
  const until = performance.now() + seconds * 1000
  const client = async (number: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let i = 0; performance.now() < until; i++) {
      const metadata = { name: `o-${number}-${i}` }
      const path = '/api/v1/namespaces/default/configmaps'
      const user = `crowd-${number}`
      const sent: Sent =
        i % 4 === 3 ? { method: 'GET', path: `${path}?limit=100`, user } : { method: 'POST', path, user, body: { metadata, data: { text: 'x'.repeat(500) } } }
      await send(url, agent, sent, tally)
    }
    agent.destroy()
  }
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return tally
}

interface Lease {
  readonly name: string
  readonly user: string
  readonly namespace: string
}

const leases: readonly Lease[] = [
  { name: 'node-0', user: 'node-0', namespace: 'kube-node-lease' },
  { name: 'node-1', user: 'node-1', namespace: 'kube-node-lease' },
  { name: 'kube-scheduler', user: 'scheduler', namespace: 'kube-system' },
]

/** Takes a lease, and renews it again and again. */
async function renew(url: string, { name, user, namespace }: Lease, seconds: number, tally: Tally): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
  const until = performance.now() + seconds * 1000
  let resourceVersion: string | undefined
  while (performance.now() < until) {
    const spec = { holderIdentity: user, renewTime: new Date().toISOString().replace('Z', '000Z') }
    const body = { metadata: { name, resourceVersion }, spec }
    const text = await send(url, agent, resourceVersion ? { method: 'PUT', path: `${path}/${name}`, user, body } : { method: 'POST', path, user, body }, tally)
    resourceVersion = /"resourceVersion":"(\d+)"/.exec(text)?.[1] ?? resourceVersion
    await delay(leaseEveryMs)
  }
  agent.destroy()
}

const flowcontrol = '/apis/flowcontrol.apiserver.k8s.io/v1'

/** The crowd's level: few seats, and short queues; and the crowd's rights. */
async function makeLevel(url: string): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  const made = newTally()
  const queuing = { queues: 16, handSize: 2, queueLengthLimit: 5 }
  const limited = { nominalConcurrencyShares: 20, lendablePercent: 0, limitResponse: { type: 'Queue', queuing } }
  const resourceRules = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }]
  const spec = {
    matchingPrecedence: 1000,
    priorityLevelConfiguration: { name: 'crowd' },
    distinguisherMethod: { type: 'ByUser' },
    rules: [{ subjects: [{ kind: 'Group', group: { name: 'crowd' } }], resourceRules }],
  }
  const level = { metadata: { name: 'crowd' }, spec: { type: 'Limited', limited } }
  await send(url, agent, { method: 'POST', path: `${flowcontrol}/prioritylevelconfigurations`, user: token, body: level }, made)
  await send(url, agent, { method: 'POST', path: `${flowcontrol}/flowschemas`, user: token, body: { metadata: { name: 'crowd' }, spec } }, made)
  const binding = {
    metadata: { name: 'crowd' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'crowd' }],
  }
  await send(url, agent, { method: 'POST', path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', user: token, body: binding }, made)
  agent.destroy()
  if (made.firstFailure) throw new Error(made.firstFailure)
}

function writeUsers(tokenFile: string): void {
  const crowdUsers = Array.from({ length: clients }, (_, number) => `crowd-${number},crowd-${number},c${number},"crowd"`)
  const nodes = leases.filter(({ namespace }) => namespace === 'kube-node-lease').map(({ user }) => `${user},system:node:${user},${user},"system:nodes"`)
  writeFileSync(tokenFile, [`${token},bench,1,"system:masters"`, 'scheduler,system:kube-scheduler,s', ...nodes, ...crowdUsers, ''].join('\n'))
}

const percentile = (times: readonly number[], part: number): number =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0

function row(name: string, { answers, times, mute }: Tally, seconds: number): string[] {
  const sum = (of: (status: number) => boolean): number => Object.entries(answers).reduce((all, [status, count]) => all + (of(Number(status)) ? count : 0), 0)
  const rate = (count: number): string => String(Math.round(count / seconds))
  const refused = answers[429] ?? 0
  return [
    name,
    rate(sum((status) => status >= 200 && status < 300)),
    rate(refused),
    String(refused === 0 ? '' : refused - mute),
    String(sum((status) => status === 0 || (status >= 300 && status !== 429))),
    percentile(times, 0.5).toFixed(1),
    percentile(times, 0.99).toFixed(1),
  ]
}

export async function overload(directory: string, tokenFile: string, seconds: number): Promise<void> {
  writeUsers(tokenFile)
  const server = await startServer(directory, tokenFile, [`--max-requests-inflight=${limits.reads}`, `--max-mutating-requests-inflight=${limits.writes}`])
  try {
    await makeLevel(server.url)
    const others = fork(import.meta.filename, [JSON.stringify({ url: server.url, seconds } satisfies Crowd)])
    const system = newTally()
    const [[told]] = (await Promise.all([once(others, 'message'), ...leases.map((lease) => renew(server.url, lease, seconds, system))])) as [
      [Tally],
      ...unknown[],
    ]
    console.log(
      `${clients} clients, ${limits.reads + limits.writes} requests in flight, ${seconds} s; resident memory after it ${Math.round(residentMegabytes(server))} MB`,
    )
    print([
      ['', 'served/s', 'refused/s', 'told when to come again', 'failed', 'p50 ms', 'p99 ms'],
      row('the crowd', told, seconds),
      row(`leases (p99 ≤ ${targetMs} ms)`, system, seconds),
    ])
    for (const { firstFailure } of [told, system]) if (firstFailure) console.log(firstFailure)
    if (server.process.exitCode !== null) console.log(`the server has ended with ${server.process.exitCode}`)
  } finally {
    await stopServer(server)
  }
}

if (process.argv[1] === import.meta.filename) {
  const tally = await crowd(JSON.parse(process.argv[2] ?? '') as Crowd)
  process.send?.(tally, () => process.disconnect())
}
