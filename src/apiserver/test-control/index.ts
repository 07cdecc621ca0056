/**
 * Lets tests control a server: they read its requests, order faults, and restore snapshots. Loaded only if
 * `ApiServerOptions.testControl` is set.
 */
import type { Handler, Request, Response } from '../http/exchange.ts'
import { testControlEndpoints } from './endpoints.ts'
import { Faults } from './faults.ts'
import { faulty, logged } from './filters.ts'
import { LiveWatches } from './live-watches.ts'
import { RecordedBodies } from './recorded-bodies.ts'
import { RequestLog } from './request-log.ts'
import { type SnapshotOptions, Snapshots } from './snapshots.ts'
import { RequestRecorder } from './traces/request-recorder.ts'
import { Traces } from './traces/traces.ts'
import { VersionRecorder } from './traces/version-recorder.ts'

export type { FaultEffect, FaultRule } from './fault.ts'
export type { FaultState } from './faults.ts'
export type { WatchEnd } from './live-watches.ts'
export type { LoggedRequest } from './request-log.ts'
export { isComponent, type RequestMatch, testControlPath, testKitAgent } from './request-match.ts'
export type { RestoreResult, SnapshotInfo } from './snapshots.ts'
export type { TracedTest } from './traces/trace-data.ts'
export type { TraceInfo } from './traces/traces.ts'

/** The filters and endpoints of the control. */
export interface TestControl {
  readonly logged: ReturnType<typeof logged>
  /** Comes before impersonation. */
  readonly authenticated: { begin(request: Request): void }
  readonly faulty: (request: Request, next: Handler) => ReturnType<Handler>
  /** Answers the paths of the control; undefined for other paths. */
  readonly endpoints: (request: Request) => Promise<Response> | undefined
}

/** `now` is the time in ms since 1970. */
export function testControl(options: SnapshotOptions, now: () => number): TestControl {
  const bodies = new RecordedBodies()
  const log = new RequestLog(bodies, now)
  const faults = new Faults()
  const watches = new LiveWatches()
  const snapshots = new Snapshots(options)
  const requests = new RequestRecorder({ bodies, faultOf: (request) => log.faultOf(request), now })
  const { stores } = options
  const traces = new Traces({ stores, requests, versions: new VersionRecorder(stores, now), now })
  return {
    logged: logged(log, bodies, requests),
    authenticated: { begin: (request) => requests.authenticated(request) },
    faulty: faulty({ faults, watches, log, bodies }),
    endpoints: testControlEndpoints({ log, faults, watches, snapshots, traces }),
  }
}
