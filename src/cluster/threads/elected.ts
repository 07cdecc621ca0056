/**
 * Runs a component while this process holds its lease, for clusters whose etcd other processes share. A lost lease
 * stops the component, and the process waits for the lease again.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type LeaderElectionOptions, LeaderElector } from '../../client/election/leader-election.ts'
import { EventRecorder } from '../../client/events/event-recorder.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { messageOf } from '../../lib/message-of.ts'

export interface ElectedOptions
  extends Pick<LeaderElectionOptions, 'namespace' | 'name' | 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'> {
  /** Reads and writes the lease. The caller closes its connection. */
  readonly client: RestClient
  /** The component in messages and events, such as `kube-scheduler`. */
  readonly component: string
  /** Starts the component; called for each term. */
  readonly start: () => LeadingComponent | Promise<LeadingComponent>
  readonly log: (line: string) => void
}

export interface LeadingComponent {
  /** Resolves when its informers have synced. */
  readonly synced: Promise<void>
  /** Resolves when running work is done. If the lease is lost, another process may lead: it must not write any more. */
  stop(isLost: boolean): Promise<void>
}

export interface ElectedComponent {
  /** Resolves when the component has synced, or when another process runs it. */
  readonly synced: Promise<void>
  readonly isLeader: boolean
  /** Stops the component and releases the lease. */
  stop(): Promise<void>
}

/** Time in ms before a failed term is followed by another. */
const retryMs = 1_000

export function runElected({ client, component, start, log, ...lease }: ElectedOptions): ElectedComponent {
  const stopping = new AbortController()
  const { promise: synced, resolve } = Promise.withResolvers<void>()
  const identity = `${hostname()}_${randomUUID()}`
  const name = `${lease.namespace}/${lease.name}`
  let wasFollower = false
  const events = new EventRecorder(client, component, log)
  const elector = new LeaderElector({
    ...lease,
    client,
    identity,
    events,
    onNewLeader(leader) {
      if (leader === '') return
      if (leader !== identity) log(`${component} is run by ${leader}, which holds the lease ${name}`)
      else if (wasFollower) log(`${component} is run by this process: it has the lease ${name}`)
      wasFollower = leader !== identity
      if (wasFollower) resolve()
    },
    log,
  })

  async function term(signal: AbortSignal): Promise<void> {
    const running = await start()
    void running.synced.then(resolve)
    if (!signal.aborted) await new Promise((aborted) => signal.addEventListener('abort', aborted, { once: true }))
    await running.stop(!stopping.signal.aborted)
  }

  async function terms(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const end = await elector.run(term, stopping.signal)
        if (end === 'lost') log(`${component} stopped: it lost the lease ${name}`)
      } catch (error) {
        log(`${component} failed, and is started again: ${messageOf(error)}`)
        await delay(retryMs, undefined, { signal: stopping.signal }).catch(() => {})
      }
    }
  }

  const ended = terms()
  return {
    synced,
    get isLeader() {
      return elector.isLeader
    },
    async stop() {
      stopping.abort()
      await ended
      resolve()
      events.stop()
    },
  }
}
