/** A filter sees a request before, and its answer after, everything that stands behind it in the chain. */
import type { Handler, Request, Response } from '../http/exchange.ts'

export type Filter = (request: Request, next: Handler) => Promise<Response>

/**
 * Puts filters before a handler; the first is outermost. Filters that are not `async` may throw at once.
 * @example compose([panicRecovery(log), authentication(authenticators)], director)
 */
export const compose = (filters: readonly Filter[], handler: Handler): Handler =>
  filters.reduceRight<Handler>((next, filter) => (request) => filter(request, next), handler)
