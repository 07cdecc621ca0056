/** A filter sees a request before all later filters of the chain, and its response after them. */
import { settle } from '../../lib/flow/settle.ts'
import type { Handler, Request, Response } from '../http/exchange.ts'

/**
 * A filter that controls whether and when the rest of the chain is called. Returns no promise if it waits for nothing.
 */
export type WrappingFilter = (request: Request, next: Handler) => ReturnType<Handler>

/** A filter that only observes, which costs no call of its own: adjacent ones share one. */
export interface ObservingFilter {
  /** May throw: the rest of the chain is not called then, nor `answered` of this filter. */
  begin?(request: Request): void
  /** Returns the response that the filters before it see. */
  answered?(request: Request, response: Response): Response
  /** Called instead of `answered` if a later filter has thrown: returns the response for the error, or throws. */
  failed?(request: Request, error: unknown): Response
}

export type Filter = WrappingFilter | ObservingFilter

/**
 * Puts filters before a handler; the first is the outermost. They make no difference between thrown errors and
 * rejections.
 * @example compose([panicRecovery(log), authentication(authenticators)], director)
 */
export function compose(filters: readonly Filter[], handler: Handler): Handler {
  let next = handler
  for (let i = filters.length - 1; i >= 0; ) {
    const filter = filters[i]!
    if (typeof filter === 'function') {
      const behind = next
      next = (request) => filter(request, behind)
      i--
      continue
    }
    const together: ObservingFilter[] = []
    for (; i >= 0; i--) {
      const beside = filters[i]!
      if (typeof beside === 'function') break
      together.unshift(beside)
    }
    next = combineObservers(together, next)
  }
  return next
}

/** Combines adjacent observers: one call for all of them, and one promise if there is something to wait for. */
function combineObservers(filters: readonly ObservingFilter[], next: Handler): Handler {
  // Looked up once, as filters have different shapes.
  const begin = filters.map((filter) => filter.begin?.bind(filter))
  const answered = filters.map((filter) => filter.answered?.bind(filter))
  /** Calls the filters that had begun, from the inside out. */
  const passBack = (request: Request, from: number, response: Response | undefined, error: unknown): Response => {
    let answer = response
    let fault = error
    for (let i = from; i >= 0; i--) {
      try {
        if (answer) answer = answered[i]?.(request, answer) ?? answer
        else answer = filters[i]!.failed?.(request, fault)
      } catch (thrown) {
        answer = undefined
        fault = thrown
      }
    }
    if (answer) return answer
    throw fault
  }
  const innermost = filters.length - 1
  return (request) => {
    let begun = -1
    return settle(
      () => {
        for (; begun < innermost; begun++) begin[begun + 1]?.(request)
        return next(request)
      },
      (response) => passBack(request, innermost, response, undefined),
      (error) => passBack(request, begun, undefined, error),
    )
  }
}
