/** A filter sees a request before, and its answer after, everything that stands behind it in the chain. */
import { settle } from '../../lib/flow/settle.ts'
import type { Handler, Request, Response } from '../http/exchange.ts'

/**
 * A filter that has a say in whether and when the rest of the chain is asked. Who waits for nothing gives no promise.
 */
export type Around = (request: Request, next: Handler) => ReturnType<Handler>

/** A filter that only looks, which costs no call of its own: those that stand side by side in the chain share one. */
export interface Beside {
  /** May throw: then what stands behind it is not asked, and it is not told of an answer itself. */
  begin?(request: Request): void
  /** Gives the answer that those before it see. */
  answered?(request: Request, response: Response): Response
  /** Told in place of `answered` of what was thrown behind it: gives the answer that it becomes, or throws. */
  failed?(request: Request, error: unknown): Response
}

export type Filter = Around | Beside

/**
 * Puts filters before a handler; the first is outermost. What is thrown at once and what is rejected is the same to
 * them.
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
    const together: Beside[] = []
    for (; i >= 0; i--) {
      const beside = filters[i]!
      if (typeof beside === 'function') break
      together.unshift(beside)
    }
    next = besides(together, next)
  }
  return next
}

/** One call, and where something has to be waited for one promise, for all of them. */
function besides(filters: readonly Beside[], next: Handler): Handler {
  // Looked up once: filters have all kinds of shapes.
  const begin = filters.map((filter) => filter.begin?.bind(filter))
  const answered = filters.map((filter) => filter.answered?.bind(filter))
  /** From the inside out, those that had begun. */
  const told = (request: Request, from: number, response: Response | undefined, error: unknown): Response => {
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
      (response) => told(request, innermost, response, undefined),
      (error) => told(request, begun, undefined, error),
    )
  }
}
