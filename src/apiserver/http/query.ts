/** Splits a request target into path and query without building a URL object. */

const none = new URLSearchParams()

/** `/api/v1/pods?limit=1` → path and decoded query. Requests without a query share one empty object. */
export function splitTarget(target: string): { path: string; query: URLSearchParams; rawQuery: string } {
  const mark = target.indexOf('?')
  if (mark < 0) return { path: target, query: none, rawQuery: '' }
  const rawQuery = target.slice(mark + 1)
  return { path: target.slice(0, mark), query: new URLSearchParams(rawQuery), rawQuery }
}
