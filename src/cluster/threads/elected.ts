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
  /** Rejects if the component has failed: it is started again then. */
  readonly ended?: Promise<unknown>
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
  // The first term needs no line.
  let logged = identity
  const events = new EventRecorder(client, component, log)
  const elector = new LeaderElector({
    ...lease,
    client,
    identity,
    events,
    onNewLeader(leader) {
      if (leader === '' || leader === logged) return
      logged = leader
      if (leader === identity) log(`${component} is run by this process: it has the lease ${name}`)
      else log(`${component} is run by ${leader}, which holds the lease ${name}`)
      if (leader !== identity) resolve()
    },
    log,
  })

  async function term(signal: AbortSignal): Promise<void> {
    const running = await start()
    void running.synced.then(resolve)
    await runTerm(running, signal, stopping.signal)
  }

  async function terms(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const end = await elector.run(term, stopping.signal)
        if (end !== 'lost') continue
        if (logged === identity) logged = ''
        log(`${component} stopped: it lost the lease ${name}`)
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

/** Stops the component at the end of its term. Rejects if it has failed. */
async function runTerm(running: LeadingComponent, signal: AbortSignal, stopping: AbortSignal): Promise<void> {
  const aborted = new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }))
  try {
    if (!signal.aborted) await (running.ended ? Promise.race([aborted, running.ended]) : aborted)
  } finally {
    await running.stop(signal.aborted && !stopping.aborted)
  }
}
