/**
 * The lease holders during an overload: nodes and a leader that renew their leases. A separate process with a higher
 * priority than the other clients, so that it measures the server's time, not the generator's. Takes its options as
 * JSON in the first argument.
 */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { newTally, percentile, type Tally } from './tally.ts'

export interface Lease {
  readonly name: string
  readonly user: string
  readonly namespace: string
}

export interface Renewals {
  readonly url: string
  readonly seconds: number
  readonly leases: readonly Lease[]
}

export interface Sent {
  readonly method: string
  readonly path: string
  readonly user: string
  readonly body?: object
}

const leaseEveryMs = 20
const aboveOthers = -5

/** Resolves to the response body, if any. */
export async function send(
  url: string,
  agent: Agent,
  { method, path, user, body }: Sent,
  tally: Tally,
): Promise<string> {
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

/** Acquires a lease and renews it repeatedly. */
async function renew({ url, seconds }: Renewals, { name, user, namespace }: Lease, tally: Tally): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
  const until = performance.now() + seconds * 1000
  let resourceVersion: string | undefined
  while (performance.now() < until) {
    const spec = { holderIdentity: user, renewTime: new Date().toISOString().replace('Z', '000Z') }
    const body = { metadata: { name, resourceVersion }, spec }
    const text = await send(
      url,
      agent,
      resourceVersion ? { method: 'PUT', path: `${path}/${name}`, user, body } : { method: 'POST', path, user, body },
      tally,
    )
    resourceVersion = /"resourceVersion":"(\d+)"/.exec(text)?.[1] ?? resourceVersion
    await delay(leaseEveryMs)
  }
  agent.destroy()
}

if (process.argv[1] === import.meta.filename) {
  try {
    setPriority(aboveOthers)
  } catch {
    // Without the privilege, the numbers include noise of the machine.
  }
  const renewals = JSON.parse(process.argv[2] ?? '') as Renewals
  const tally = newTally()
  await Promise.all(renewals.leases.map((lease) => renew(renewals, lease, tally)))
  process.send?.({ ...tally, times: [percentile(tally.times, 0.5), percentile(tally.times, 0.99)] }, () =>
    process.disconnect(),
  )
}
