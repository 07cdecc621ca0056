/** Errors of the store for errors of etcd. */
import { CompactedError, FutureRevisionError, RequestTooLargeError, StoreFailedError } from '../store.ts'
import { EtcdError } from './client/etcd-error.ts'

export const noSpaceMessage = 'etcdserver: mvcc: database space exceeded'
const corruptMessage = 'etcdserver: corrupt cluster'
export const leaseNotFoundMessage = 'etcdserver: requested lease not found'
const compactedMessage = 'etcdserver: mvcc: required revision has been compacted'
const futureMessage = 'etcdserver: mvcc: required revision is a future revision'
const tooLargeMessages = /etcdserver: request is too large|received message larger than max/

/** The remedy for the alarm NOSPACE. */
export const noSpaceProblem =
  'the database of etcd is full (alarm NOSPACE), so that it rejects writes: delete what is not needed, run ' +
  '`etcdctl defrag` for each member, or raise --quota-backend-bytes, then run `etcdctl alarm disarm`'

/** The remedy for the alarm CORRUPT. */
export const corruptProblem =
  'a member of etcd has found that its data differ from the others (alarm CORRUPT): replace it, then run ' +
  '`etcdctl alarm disarm`'

/** The problem of an alarm because of which etcd has rejected a request; undefined for other errors. */
export const alarmIn = (error: unknown): string | undefined =>
  error instanceof StoreFailedError
    ? [noSpaceProblem, corruptProblem].find((known) => known === error.message)
    : undefined

export interface Revisions {
  current(): Promise<number>
  /** Returns the revision to which etcd has been compacted, which is after `revision`. */
  compactedAfter(revision: number): Promise<number>
}

/** True if etcd has compacted the revision of a request. */
export const isCompacted = (error: unknown): boolean => error instanceof EtcdError && error.message === compactedMessage

/** True if the revision of a request does not exist yet. */
export const isFuture = (error: unknown): boolean => error instanceof EtcdError && error.message === futureMessage

/** Returns the error for a read at `revision` that failed. */
export async function readError(error: unknown, revision: number, revisions: Revisions): Promise<unknown> {
  if (isCompacted(error)) return new CompactedError(revision, await revisions.compactedAfter(revision))
  if (isFuture(error)) return new FutureRevisionError(revision, await revisions.current())
  return failure(error)
}

/** Returns the error for a request that etcd has not executed. */
export function failure(error: unknown): unknown {
  if (!(error instanceof EtcdError)) return error
  if (tooLargeMessages.test(error.message)) return new RequestTooLargeError()
  if (error.message === noSpaceMessage) return new StoreFailedError(noSpaceProblem, { cause: error })
  if (error.message === corruptMessage) return new StoreFailedError(corruptProblem, { cause: error })
  return new StoreFailedError(error.message, { cause: error })
}
