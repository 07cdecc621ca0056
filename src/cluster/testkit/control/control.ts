/** Controls the server of a test cluster: faults, ends of watches, the log of requests, snapshots. By HTTP. */
import {
  type FaultRule,
  type FaultState,
  isComponent,
  type LoggedRequest,
  type RequestMatch,
  type RestoreResult,
  type SnapshotInfo,
  type TracedTest,
  type TraceInfo,
  testControlPath,
  type WatchEnd,
} from '../../../apiserver/test-control/index.ts'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'

/** A fault that is in effect. */
export interface Fault {
  /** Resolves with the number of requests that it has hit. */
  hits(): Promise<number>
  /** Ends it. */
  remove(): Promise<void>
}

/**
 * Selects requests of the log: those that have every given value. Without `user` or `userAgent`, those of controllers,
 * scheduler and nodes are left out.
 */
export type RequestFilter = Partial<Omit<LoggedRequest, 'userAgent' | 'path'>> & {
  /** The beginning of the user agent. */
  readonly userAgent?: string
  /** The beginning of the path. */
  readonly path?: string
  /** True to read the bodies of the requests, too. Default: false. */
  readonly bodies?: boolean
}

/** A state of the cluster, for `restore`. */
export interface Snapshot {
  readonly name: string
  /** Number of objects. */
  readonly objects: number
}

const path = (...parts: readonly (string | number)[]): string => [testControlPath, ...parts].join('/')

export class Control {
  readonly #client: RestClient

  /** The client of an administrator. */
  constructor(client: RestClient) {
    this.#client = client
  }

  /** Adds a fault. Rejects with a StatusError 400 for a rule without sense. */
  async fault(rule: FaultRule): Promise<Fault> {
    const { id } = await this.#client.request<FaultState>('POST', path('faults'), { body: rule })
    return {
      hits: async () => (await this.#client.read<FaultState>(path('faults', id))).hits,
      remove: () => this.#delete(path('faults', id)),
    }
  }

  clearFaults(): Promise<void> {
    return this.#delete(path('faults'))
  }

  /** Ends running watches, and resolves with their number. */
  async endWatches(match: RequestMatch, end: WatchEnd): Promise<number> {
    const { ended } = await this.#client.request<{ readonly ended: number }>('DELETE', path('watches'), {
      body: { ...match, end },
    })
    return ended
  }

  /** Rejects with an ExplainedError if the log has dropped requests that may match. */
  async requests({ bodies = false, ...filter }: RequestFilter): Promise<readonly LoggedRequest[]> {
    const { requests, dropped } = await this.#client.read<{
      readonly requests: readonly LoggedRequest[]
      readonly dropped: number
    }>(`${path('requests')}?bodies=${bodies}`)
    if (dropped > 0)
      throw new ExplainedError(
        `The log has dropped ${dropped} old requests: call clearRequests() or reset() before the code under test.`,
      )
    return requests.filter((request) => isSelected(request, filter))
  }

  clearRequests(): Promise<void> {
    return this.#delete(path('requests'))
  }

  snapshot(): Promise<Snapshot> {
    return this.#client.request<SnapshotInfo>('POST', path('snapshots'))
  }

  /** Resolves with the number of objects that changed. */
  async restore({ name }: Pick<Snapshot, 'name'>): Promise<number> {
    return (await this.#client.request<RestoreResult>('POST', path('snapshots', name, 'restore'))).changes
  }

  removeSnapshot({ name }: Pick<Snapshot, 'name'>): Promise<void> {
    return this.#delete(path('snapshots', name))
  }

  /** Begins a trace, and resolves with its name. */
  async beginTrace(): Promise<string> {
    return (await this.#client.request<TraceInfo>('POST', path('traces'))).name
  }

  /** Resolves with the HTML of a trace that is being recorded. */
  async tracePage(name: string, test: TracedTest): Promise<string> {
    const options = { body: test, repeatable: true }
    return (await this.#client.request<{ readonly page: string }>('POST', path('traces', name, 'page'), options)).page
  }

  removeTrace(name: string): Promise<void> {
    return this.#delete(path('traces', name))
  }

  async #delete(target: string): Promise<void> {
    await this.#client.request('DELETE', target)
  }
}

function isSelected(request: LoggedRequest, filter: Omit<RequestFilter, 'bodies'>): boolean {
  const { userAgent = '', path: start = '', ...exact } = filter
  if (filter.user === undefined && filter.userAgent === undefined && isComponent(request.user)) return false
  const values: Readonly<Record<string, unknown>> = { ...request }
  return (
    request.userAgent.startsWith(userAgent) &&
    request.path.startsWith(start) &&
    Object.entries(exact).every(([name, value]) => value === undefined || values[name] === value)
  )
}
