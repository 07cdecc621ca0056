/** Splits a request target into path and query without building a URL object. */

const none = new URLSearchParams()

/** `/api/v1/pods?limit=1` → path and decoded query. Requests without a query share one empty object. */
export function splitTarget(target: string): { path: string; query: URLSearchParams } {
  const mark = target.indexOf('?')
  if (mark < 0) return { path: target, query: none }
  return { path: target.slice(0, mark), query: new URLSearchParams(target.slice(mark + 1)) }
}
