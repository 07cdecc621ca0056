/**
 * Overload with three times as many requests as the server admits, on two priority levels: 200 clients without pauses,
 * and nodes and a leader that renew their leases. Shows the throughput of the clients and the latency of the leases.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { print } from '../report.ts'
import { token, users } from '../server/rights.ts'
import { residentMegabytes, startServer, stopServer } from '../server/server.ts'
import type { Crowd } from './crowd.ts'
import { type Lease, type Renewals, send } from './leases.ts'
import { newTally, type Tally } from './tally.ts'

const clients = 200
/** A third of the clients. */
const limits = { reads: 44, writes: 22 }
const targetMs = 100

const leases: readonly Lease[] = [
  { name: 'node-0', user: 'node-0', namespace: 'kube-node-lease' },
  { name: 'node-1', user: 'node-1', namespace: 'kube-node-lease' },
  { name: 'kube-scheduler', user: 'scheduler', namespace: 'kube-system' },
]

const flowcontrol = '/apis/flowcontrol.apiserver.k8s.io/v1'

/** Creates a priority level with few seats and short queues for the clients, and grants them rights. */
async function makeLevel(url: string): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  const results = newTally()
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
  await send(
    url,
    agent,
    { method: 'POST', path: `${flowcontrol}/prioritylevelconfigurations`, user: token, body: level },
    results,
  )
  await send(
    url,
    agent,
    { method: 'POST', path: `${flowcontrol}/flowschemas`, user: token, body: { metadata: { name: 'crowd' }, spec } },
    results,
  )
  const binding = {
    metadata: { name: 'crowd' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'crowd' }],
  }
  await send(
    url,
    agent,
    { method: 'POST', path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', user: token, body: binding },
    results,
  )
  agent.destroy()
  if (results.firstFailure) throw new Error(results.firstFailure)
}

function writeUsers(tokenFile: string): void {
  const crowdUsers = Array.from(
    { length: clients },
    (_, number) => `crowd-${number},crowd-${number},c${number},"crowd"`,
  )
  const nodes = leases
    .filter(({ namespace }) => namespace === 'kube-node-lease')
    .map(({ user }) => `${user},system:node:${user},${user},"system:nodes"`)
  writeFileSync(tokenFile, [...users, 'scheduler,system:kube-scheduler,s', ...nodes, ...crowdUsers, ''].join('\n'))
}

/** Returns the tally of a process, with the p50 and p99 of its times. */
async function tallyOf(process: ChildProcess): Promise<Tally> {
  const [tally] = (await once(process, 'message')) as [Tally]
  return tally
}

function row(name: string, { answers, times, mute }: Tally, seconds: number): string[] {
  const sum = (of: (status: number) => boolean): number =>
    Object.entries(answers).reduce((all, [status, count]) => all + (of(Number(status)) ? count : 0), 0)
  const rate = (count: number): string => String(Math.round(count / seconds))
  const rejected = answers[429] ?? 0
  return [
    name,
    rate(sum((status) => status >= 200 && status < 300)),
    rate(rejected),
    String(rejected === 0 ? '' : rejected - mute),
    String(sum((status) => status === 0 || (status >= 300 && status !== 429))),
    ...times.map((ms) => ms.toFixed(1)),
  ]
}

export async function overload(directory: string, tokenFile: string, seconds: number): Promise<void> {
  writeUsers(tokenFile)
  const server = await startServer(directory, tokenFile, [
    `--max-requests-inflight=${limits.reads}`,
    `--max-mutating-requests-inflight=${limits.writes}`,
  ])
  try {
    await makeLevel(server.url)
    const { url } = server
    const others = fork(join(import.meta.dirname, 'crowd.ts'), [
      JSON.stringify({ port: Number(new URL(url).port), seconds, clients } satisfies Crowd),
    ])
    const renewing = fork(join(import.meta.dirname, 'leases.ts'), [
      JSON.stringify({ url, seconds, leases } satisfies Renewals),
    ])
    const [crowd, system] = await Promise.all([tallyOf(others), tallyOf(renewing)])
    console.log(
      `${clients} clients, ${limits.reads + limits.writes} requests in flight, ${seconds} s; resident memory ` +
        `after it ${Math.round(residentMegabytes(server))} MB`,
    )
    print([
      ['', 'served/s', 'rejected/s', 'with Retry-After', 'failed', 'p50 ms', 'p99 ms'],
      row('clients', crowd, seconds),
      row(`leases (p99 ≤ ${targetMs} ms)`, system, seconds),
    ])
    for (const { firstFailure } of [crowd, system]) if (firstFailure) console.log(firstFailure)
    if (server.process.exitCode !== null) console.log(`the server has ended with ${server.process.exitCode}`)
  } finally {
    await stopServer(server)
  }
}
