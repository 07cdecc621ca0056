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

export type { FaultEffect, FaultRule } from './fault.ts'
export type { FaultState } from './faults.ts'
export type { WatchEnd } from './live-watches.ts'
export type { LoggedRequest } from './request-log.ts'
export { isComponent, type RequestMatch, testControlPath, testKitAgent } from './request-match.ts'
export type { RestoreResult, SnapshotInfo } from './snapshots.ts'

/** The filters and endpoints of the control. */
export interface TestControl {
  readonly logged: ReturnType<typeof logged>
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
  return {
    logged: logged(log, bodies),
    faulty: faulty({ faults, watches, log, bodies }),
    endpoints: testControlEndpoints({ log, faults, watches, snapshots }),
  }
}
