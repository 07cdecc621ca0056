/** The time that requests wait in queues and for webhooks: metrics subtract it from the server's own time. */

const waited = new WeakMap<object, number>()

/** Adds to the waiting time of a request. */
export function addWaitedMs(request: object, ms: number): void {
  waited.set(request, waitedMs(request) + ms)
}

/** The waiting time of a request so far, in ms. */
export const waitedMs = (request: object): number => waited.get(request) ?? 0
